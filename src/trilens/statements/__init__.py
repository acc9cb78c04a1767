"""Statements about triples of objects: the value that everything else takes."""

from trilens.statements.combine import concatenate
from trilens.statements.objects import Objects
from trilens.statements.selection import Selection, keep_passed, passed_tests, select
from trilens.statements.summary import RaterSummary, Summary
from trilens.statements.value import KINDS, Kind, Statements, StatementsLike, as_statements

__all__ = [
    "KINDS",
    "Kind",
    "Objects",
    "RaterSummary",
    "Selection",
    "Statements",
    "StatementsLike",
    "Summary",
    "as_statements",
    "concatenate",
    "keep_passed",
    "passed_tests",
    "select",
]
