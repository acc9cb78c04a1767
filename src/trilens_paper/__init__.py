"""The paper's figures and tables: experiments as data, one resumable runner, computed verdicts.

`trilens_paper.registry` has them all; this file stays empty, so that `trilens --help`, which lists
`reproduce` too, is quick.
"""
