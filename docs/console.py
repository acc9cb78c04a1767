"""The commands that the pages show, and what they print.

In a block of a page that is marked ``console``, the lines after ``$ trilens ...`` are what the
command prints, on both streams. ``python docs/console.py`` writes them again; the tests compare.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from trilens.cli import trilens

DOCS = Path(__file__).parent
#: Pages whose commands work on the files of `trilens demo`.
PAGES = ("tutorial.md", "../README.md")
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^\$ trilens (.*?)(?: \| head -(\d+))?$")


def printed(words: str) -> list[str]:
    """What a command prints, without the progress that only a terminal shows."""
    import shlex

    result = CliRunner().invoke(trilens, shlex.split(words))
    if result.exit_code:
        raise RuntimeError(f"trilens {words}: {result.output}")
    return result.output.splitlines()


def rewritten(text: str, run: Callable[[str], list[str]] = printed) -> str:
    """The page with what its commands print; a block that shows no output stays as it is."""

    def block(match: re.Match[str]) -> str:
        lines = match[1].splitlines()
        command = _COMMAND.match(lines[0])
        if command is None or len(lines) == 1:
            return match[0]
        out = run(command[1])[: int(command[2]) if command[2] else None]
        return "\n".join(["```console", lines[0], *out, "```"])

    return _BLOCK.sub(block, text)


def make_demo(folder: Path) -> None:
    """The files of `trilens demo`, without its report."""
    from trilens.cli.demo import write_study
    from trilens.simulate import study

    write_study(study(), folder)


if __name__ == "__main__":
    import os
    import tempfile

    os.chdir(tempfile.mkdtemp())
    make_demo(Path("demo"))
    for name in sys.argv[1:] or PAGES:
        page = DOCS / name
        page.write_text(rewritten(page.read_text(encoding="utf-8")), encoding="utf-8")
