"""YAML that remembers on which line each value stood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

#: Where a value stands in the file: keys and positions from the top.
Path: TypeAlias = tuple[str | int, ...]

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
class YamlLines:
    """Plain values, the line of each, and what is wrong with the file itself."""

    value: Any
    lines: dict[Path, int]
    problems: tuple[Problem, ...]

    def get(self, *path: str | int) -> Any:
        """The value at a path; None where there is none."""
        value = self.value
        for key in path:
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return None
        return value

    def line(self, *path: str | int) -> int | None:
        """The line of a value, or of the nearest one around it that is there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def read_yaml(text: str, file: str) -> YamlLines:
    """Parse YAML; what cannot be read is a problem with its line and no value.

    >>> found = read_yaml("a: 1\\nb: [2, 3]", "x.yaml")
    >>> found.value, found.line("b", 1)
    ({'a': 1, 'b': [2, 3]}, 2)
    >>> print(*read_yaml("a: [1\\nb: 2", "x.yaml").problems)
    x.yaml, line 2: not valid YAML: expected ',' or ']', but got ':'
    """
    try:
        loader = yaml.SafeLoader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        what = f"the character U+{ord(text[error.position]):04X} is not allowed"
        return YamlLines(None, {}, (Problem(file, line, f"not valid YAML: {what}"),))
    builder = _Builder(loader, file)
    value = None
    try:
        root = loader.get_single_node()
        value = None if root is None else builder.build(root, (), ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        builder.wrong(mark, f"not valid YAML: {error.problem or error.context}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        builder.wrong(None, f"not valid YAML: {first}")
    finally:
        loader.dispose()
    return YamlLines(value, builder.lines, tuple(builder.problems))


class _Builder:
    """Makes plain values of nodes, and notes their lines."""

    def __init__(self, loader: yaml.SafeLoader, file: str) -> None:
        self.loader = loader
        self.file = file
        self.lines: dict[Path, int] = {}
        self.problems: list[Problem] = []

    def wrong(self, mark: Any, text: str) -> None:
        self.problems.append(Problem(self.file, None if mark is None else mark.line + 1, text))

    def build(self, node: yaml.Node, path: Path, within: tuple[int, ...]) -> Any:
        self.lines[path] = node.start_mark.line + 1
        if id(node) in within:
            self.wrong(node.start_mark, "a value must not contain itself")
            return None
        within = (*within, id(node))
        if len(within) > _DEEPEST:
            self.wrong(node.start_mark, f"nested more than {_DEEPEST} levels deep")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, within)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, i), within) for i, item in enumerate(node.value)]
        return self.loader.construct_object(node, deep=True)

    def _mapping(self, node: yaml.MappingNode, path: Path, within: tuple[int, ...]) -> Any:
        built: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.wrong(key_node.start_mark, "a key must be plain text")
                continue
            key = str(key_node.value)
            if key in built:
                self.wrong(key_node.start_mark, f"the key {key!r} appears twice")
                continue
            built[key] = self.build(value_node, (*path, key), within)
            self.lines[(*path, key)] = key_node.start_mark.line + 1
        return built
