"""`python -m trilens` is the command line."""

from trilens.cli import main

main()
