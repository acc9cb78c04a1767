"""``study.yaml`` as plain values, the line of each, and what is wrong with them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

FILE = "study.yaml"

#: Where a value stands: keys, and places in lists.
Where: TypeAlias = tuple[str | int, ...]

#: Values that are the text as it is written: 0123 is a code, not the number 83.
_VERBATIM = {("completion", "code"), ("completion", "failed"), ("links", "secret")}
_NULL = "tag:yaml.org,2002:null"

#: A file that is nested more deeply, or that contains itself, is no study.
_DEEPEST = 20


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a study folder.

    >>> str(Problem("study.yaml", 3, "title is missing"))
    'study.yaml, line 3: title is missing'
    """

    file: str
    line: int | None
    text: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.text}"


@dataclass(frozen=True)
class StudyText:
    """The values of the file, and on which line each of them stands."""

    values: dict[str, Any]
    lines: dict[Where, int]

    def wrong(self, text: str, *path: str | int) -> Problem:
        """A problem with the value at a path, or with the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return Problem(FILE, self.lines.get(path), text)


def read_text(text: str) -> tuple[StudyText | None, list[Problem]]:
    """Parse the file; what cannot be read is a problem with its line.

    >>> found, _ = read_text("a: 1\\nb: [2, 3]")
    >>> found.values, found.lines["b", 1]
    ({'a': 1, 'b': [2, 3]}, 2)
    >>> print(*read_text("a: [1\\nb: 2")[1])
    study.yaml, line 2: not valid YAML: expected ',' or ']', but got ':'
    """
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        lines: dict[Where, int] = {}
        twice = [] if root is None else _note_lines(root, (), lines)
        values = None if root is None else loader.construct_document(root)
    except yaml.reader.ReaderError as error:
        what = f"the character U+{ord(text[error.position]):04X} is not allowed"
        line = text.count("\n", 0, error.position) + 1
        return None, [Problem(FILE, line, f"not valid YAML: {what}")]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = None if mark is None else mark.line + 1
        said = str(error.problem or error.context)
        if "'}'" in said or said.startswith("mapping values"):
            said += "; put quotes around the text if it has ? or : in it"
        return None, [Problem(FILE, at, f"not valid YAML: {said}")]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        return None, [Problem(FILE, None, f"not valid YAML: {first}")]
    if twice or not isinstance(values, dict):
        return None, twice or [Problem(FILE, 1, "expected `key: value` lines")]
    return StudyText(_with_text_keys(values), lines), []


def _note_lines(node: yaml.Node, path: Where, lines: dict[Where, int]) -> list[Problem]:
    """Note the line of every value; keys that appear twice are problems.

    Values that are text, whatever they look like, are marked as such.
    """
    if len(path) > _DEEPEST:
        raise ValueError(f"nested more than {_DEEPEST} levels deep")
    lines.setdefault(path, node.start_mark.line + 1)
    if path in _VERBATIM and isinstance(node, yaml.ScalarNode) and node.tag != _NULL:
        node.tag = "tag:yaml.org,2002:str"
    problems = []
    if isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            problems += _note_lines(item, (*path, i), lines)
    elif isinstance(node, yaml.MappingNode):
        for key_node, value in node.value:
            here = (*path, str(key_node.value))
            line = key_node.start_mark.line + 1
            if here in lines:
                text = f"the key {here[-1]!r} appears twice"
                problems.append(Problem(FILE, line, text))
            lines[here] = line
            problems += _note_lines(value, here, lines)
    return problems


def _with_text_keys(value: Any) -> Any:
    """The same with keys as they are written: a condition may be called 1."""
    if isinstance(value, dict):
        return {str(key): _with_text_keys(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_text_keys(inner) for inner in value]
    return value


def problems_of(
    error: ValidationError, text: StudyText, known: Mapping[str, Sequence[str]]
) -> list[Problem]:
    """What the models found wrong, in words, with lines.

    Of the ``known`` keys, each with its sections, one may have been meant.
    """
    found = []
    for one in error.errors(include_url=False):
        path = _in_file(one["loc"], text.values)
        found.append(text.wrong(_in_words(one, path, known), *path))
    return list(dict.fromkeys(found))


def _in_file(loc: Sequence[str | int], value: Any) -> Where:
    """Where an error stands in the file: the models' own tags are left out."""
    path: list[str | int] = []
    for i, part in enumerate(loc):
        if isinstance(value, dict) and part in value:
            value = value[str(part)]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        elif i < len(loc) - 1:
            continue
        path.append(part)
    return tuple(path)


_WORDS = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be a line of text",
    "string_pattern_mismatch": "must be a word of letters, digits and _",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a section of `key: value` lines",
    "model_type": "must be a section of `key: value` lines",
    "model_attributes_type": "must be a section of `key: value` lines",
}


def _in_words(error: ErrorDetails, path: Where, known: Mapping[str, Sequence[str]]) -> str:
    kind, given, context = error["type"], error["input"], error.get("ctx", {})
    name = label(path)
    if kind == "missing" or given is None:
        return f"{name} is missing"
    if kind == "extra_forbidden":
        if path[-1] in known:
            sections = " or ".join(f"{name}:" for name in known[str(path[-1])])
            return f"unknown key {path[-1]!r} here; it belongs under {sections or 'no section'}"
        near = difflib.get_close_matches(str(path[-1]), known, 1)
        return f"unknown key {path[-1]!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    if kind == "union_tag_not_found":
        return f"{label((*path, 'type'))} is missing"
    if kind == "union_tag_invalid":
        tags = context["expected_tags"]
        return f"{label((*path, 'type'))} must be one of {tags}, not {context['tag']!r}"
    if kind in ("greater_than_equal", "less_than_equal"):
        limit = context.get("ge", context.get("le"))
        text = f"must be at {'least' if 'ge' in context else 'most'} {limit:,}"
    elif kind == "literal_error":
        text = f"must be {context['expected']}"
    elif kind == "string_too_short" or (kind == "too_short" and isinstance(given, str)):
        return f"{name} must have at least {context['min_length']} characters"
    elif kind.startswith("date"):
        text = "must be a date such as 2027-12-31"
    elif kind in _WORDS:
        text = _WORDS[kind]
    else:
        return f"{name} {error['msg']}" if name else error["msg"]
    plain = isinstance(given, (str, int, float)) and kind != "string_type"
    return f"{name} {text}, not {given!r}" if plain else f"{name} {text}"


def label(path: Where) -> str:
    """How a path is called in messages; entries of lists are counted from 1.

    >>> label(("rounds", "length")), label(("blocks", 0, "tests", "triples", 1))
    ('rounds.length', 'blocks 1: tests.triples 2')
    """
    said = ""
    for part in path:
        if isinstance(part, int):
            said += f" {part + 1}:"
        else:
            said += part if not said else f" {part}" if said.endswith(":") else f".{part}"
    return said.removesuffix(":")
