"""YAML that remembers on which line each value stood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

#: Where a value stands in the file: keys and positions from the top.
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a study folder.

    >>> str(Problem("study.yaml", 3, "no title"))
    'study.yaml, line 3: no title'
    """

    file: str
    line: int | None
    text: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.text}"


@dataclass(frozen=True)
class Marked:
    """Plain values, the line of each, and what the reading itself found wrong."""

    value: Any
    lines: dict[Path, int]
    problems: tuple[Problem, ...]

    def line(self, *path: str | int) -> int | None:
        """The line of a value, or of the nearest one around it that is there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def read_marked(text: str, file: str) -> Marked:
    """Parse YAML; what cannot be read is a problem with its line and no value.

    >>> marked = read_marked("a: 1\\nb: [2, 3]", "x.yaml")
    >>> marked.value, marked.line("b", 1)
    ({'a': 1, 'b': [2, 3]}, 2)
    >>> print(*read_marked("a: [1\\nb: 2", "x.yaml").problems)
    x.yaml, line 2: not valid YAML: expected ',' or ']', but got ':'
    """
    try:
        loader = yaml.SafeLoader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        what = f"the character U+{ord(text[error.position]):04X} is not allowed"
        return Marked(None, {}, (Problem(file, line, f"not valid YAML: {what}"),))
    lines: dict[Path, int] = {}
    problems: list[Problem] = []

    def build(node: yaml.Node, path: Path, within: tuple[int, ...]) -> Any:
        lines[path] = node.start_mark.line + 1
        if id(node) in within:
            problems.append(Problem(file, lines[path], "a value that contains itself"))
            return None
        within = (*within, id(node))
        if len(within) > 20:
            problems.append(Problem(file, lines[path], "nested too deeply"))
            return None
        if isinstance(node, yaml.MappingNode):
            built: dict[Any, Any] = {}
            for key_node, value_node in node.value:
                key = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else None
                line = key_node.start_mark.line + 1
                if key is None:
                    problems.append(Problem(file, line, "a key must be plain text"))
                elif key in built:
                    problems.append(Problem(file, line, f"the key {key!r} stands here twice"))
                else:
                    built[key] = build(value_node, (*path, key), within)
                    lines[(*path, key)] = line
            return built
        if isinstance(node, yaml.SequenceNode):
            return [build(item, (*path, i), within) for i, item in enumerate(node.value)]
        return loader.construct_object(node, deep=True)

    value = None
    try:
        root = loader.get_single_node()
        value = None if root is None else build(root, (), ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = None if mark is None else mark.line + 1
        problems.append(Problem(file, where, f"not valid YAML: {error.problem or error.context}"))
        value = None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        problems.append(Problem(file, None, f"not valid YAML: {first}"))
        value = None
    finally:
        loader.dispose()
    return Marked(value, lines, tuple(problems))
