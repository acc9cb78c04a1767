"""What the code writes on the pages: tables of formats and settings, the API, formulas as MathML.

A Sphinx extension. What it prints comes from the tables that trilens itself works with, so a new
column, ending or public name appears by itself, and one without a description stops the build.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import trilens
from trilens.files.source import ENDINGS, READ_ONLY
from trilens.kinds import columns
from trilens.statements.layout import PRESETS
from trilens.statements.roles import CHOSEN_STEMS, NAMES, SHOWN_STEMS
from trilens.statements.rules import RULES

ROLES = {
    "central": "the most central of the three",
    "odd": "the odd one out",
    "other_1": "another object of the three",
    "other_2": "the remaining object",
    "anchor": "the object that the two others are compared with",
    "near": "the one nearer to the anchor",
    "far": "the one farther from the anchor",
    "chosen": "the object that was chosen",
    "shown_1": "the first object shown",
    "shown_2": "the second object shown",
    "shown_3": "the third object shown",
    "rater": "who answered; text",
    "round": "the sitting in which it was answered",
    "seconds": "response time; `ms` in the name says milliseconds",
    "place": "where on the screen the chosen object stood: 0, 1 or 2",
    "question": "the question of more than three objects that the statement comes from",
    "reason": "why the question was asked: `adaptive` if earlier answers chose it",
    "votes": "how many chose each object, as a list",
    "count": "how many answers a row stands for",
    "shown": "the objects shown, as a list of more than three",
    "picks": "the objects chosen, as a list",
    "not_chosen": "the object, or the list of objects, that was not chosen",
}
FORMATS = {
    "text": "text, separated by comma, tab, semicolon or spaces (found from the first rows)",
    "parquet": "Apache Parquet",
    "arrow": "Apache Arrow IPC (Feather version 2)",
    "jsonl": "JSON lines: one object per line",
    "json": "JSON: an array of records or of rows, columns by name, or nested records",
    "npy": "a numpy array, (m, 3) or structured",
    "mat": "MATLAB 5 to 7: the (m, 3) matrix, or `data.mat::variable`",
    "excel": "Excel: the first sheet, or `book.xlsx::sheet` (extra `excel`)",
    "sqlite": "SQLite: the only table, or `study.db::table`",
    "spss": "SPSS; labels of values become names (extra `spss`)",
    "npz": "numpy arrays: `triples`, `names`, `kind`, and `raters`, `rounds`, `seconds`, "
    "`places`, `questions`, `chosen`",
}
KINDS = {
    "central": "which of the three is the most central?",
    "odd": "which of the three is the odd one out?",
    "closer": "which of the two is closer to the anchor?",
}


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _code(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def kinds_table() -> str:
    """Each kind of statement and its columns."""
    return _table(
        ["kind", "question", "columns, in the order of a file without header"],
        [[f"`{kind}`", KINDS[kind], _code(columns(kind))] for kind in KINDS],
    )


def questions_table() -> str:
    """Which question takes what, from the registry of `trilens.ask`."""
    import_module("trilens.analysis")  # registers them all
    from trilens.ask import QUESTIONS

    rows = []
    for name, question in sorted(QUESTIONS.items()):
        counts = "no"
        if question.of_counts is not None:
            what = "counts of pairs" if question.needs_pairs else "counts"
            counts = f"{what}, by `{question.by_counting}`"
        fitted = "yes" if question.of_fit is not None else "no"
        others = "yes" if question.of_points is not None else "no"
        rows.append([f"`{name}`", fitted, counts, others])
    return _table(["question", "answers or a fit", "counts", "another map (`method=`)"], rows)


def columns_table() -> str:
    """Each role of a column and the names by which it is known."""
    rows = []
    for role, names in NAMES.items():
        known = _code(names)
        if role.startswith("shown_"):
            known += f"; `image{role[-1]}` and the like"
        rows.append([ROLES[role], known])
    return _table(["holds", "accepted names"], rows)


def presets_table() -> str:
    """Each preset and what it says."""
    return _table(["`--from`", "says"], [[f"`{name}`", says] for name, says in PRESETS.items()])


def layouts_table() -> str:
    """The layouts that are read, by the columns that each of them needs."""
    rows = []
    for rule in RULES:
        needed = [" or ".join(f"`{role}`" for role in each.split("|")) for each in rule.required]
        rows.append([", ".join(needed) or "any names", rule.holds])
    return _table(["columns", "each row holds"], rows)


def endings_table() -> str:
    """Each format and its endings."""
    endings: dict[str, list[str]] = {}
    for ending, found in ENDINGS.items():
        endings.setdefault(found, []).append(ending)
    return _table(
        ["endings", "format", ""],
        [
            [_code(known), FORMATS[found], "read only" if found in READ_ONLY else ""]
            for found, known in endings.items()
        ],
    )


_PLAIN_TYPES = {int: "whole number", float: "number", bool: "true or false", date: "date"}


def settings_tables() -> str:
    """Every key of ``study.yaml``, section by section, from the models that check it."""
    from trilens_survey.settings import sections

    return "\n\n".join(map(_settings, sections()))


def _settings(model: Any) -> str:
    title = model.model_config.get("title") or model.__name__.lower()
    rows = [
        [f"`{name}`", _value(name, field), _one_line(field.description).replace("|", "\\|")]
        for name, field in model.model_fields.items()
    ]
    about = _one_line(inspect.getdoc(model))
    table = _table(["key", "value", "meaning"], rows)
    return f"**{title[:1].upper()}{title[1:]}.** {about}\n\n{table}"


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _value(name: str, field: Any) -> str:
    if name in ("at_most", "gain", "level"):
        kind = "number"
    else:
        kind = _kind(field.annotation, field.metadata)
    if field.is_required():
        return f"{kind}; needed"
    default = field.default
    if field.default_factory is not None or default is None or default == ():
        return kind
    shown = list(default) if isinstance(default, tuple) else default
    shown = str(shown).lower() if isinstance(shown, bool) else shown
    return f"{kind} ({shown})".replace("'", "")


def _kind(annotation: Any, metadata: Any = ()) -> str:
    """What a value of ``study.yaml`` is, in words."""
    if any("as_text" in repr(one) for one in metadata):
        return "text"
    if any("_options" in repr(one) for one in metadata):
        return "texts"
    inner = [one for one in get_args(annotation) if one is not type(None)]
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{word}`" for word in inner)
    if hasattr(annotation, "model_config"):
        return "section: " + (annotation.model_config.get("title") or annotation.__name__.lower())
    if annotation in _PLAIN_TYPES:
        return _PLAIN_TYPES[annotation]
    if annotation is str:
        return "word or line"
    if hasattr(annotation, "__metadata__"):
        return _kind(inner[0], annotation.__metadata__)
    if get_origin(annotation) is tuple:
        of = _kind(inner[0]).removeprefix("section: ")
        return "two texts" if len(inner) == 2 and inner[1] is not Ellipsis else f"list of {of}"
    if get_origin(annotation) is dict:
        return f"names, each with {_kind(inner[1]).removeprefix('section: ')}"
    return " or ".join(dict.fromkeys(_kind(one).removeprefix("section: ") for one in inner))


#: The rooms of the API.
ROOMS = (
    "statements",
    "answers",
    "files",
    "counts",
    "lens",
    "shares",
    "reference",
    "questions",
    "maps",
    "exact",
    "analysis",
    "report",
    "simulate",
    "datasets",
    "plots",
    "errors",
)
#: Pages with tables between marks; run as a program, this writes them.
PAGES = ("formats.md", "files.md", "questions/index.md", "survey-settings.md")
TABLES = {
    "questions": questions_table,
    "kinds": kinds_table,
    "columns": columns_table,
    "layouts": layouts_table,
    "stems": lambda: _code(SHOWN_STEMS),
    "picks": lambda: _code(CHOSEN_STEMS),
    "presets": presets_table,
    "endings": endings_table,
    "settings": settings_tables,
}


def room_names(room: str) -> list[str]:
    """The public names of a room, dotted: those of the package first, then the room's own.

    >>> room_names("lens")[0]
    'trilens.centrality'
    """
    at_top = [
        name
        for name in trilens.__all__
        if getattr(getattr(trilens, name), "__module__", "").startswith(f"trilens.{room}")
    ]
    place = import_module(f"trilens.{room}")
    listed = getattr(place, "__all__", [])
    own = [name for name in listed if name not in at_top]
    return [f"trilens.{name}" for name in at_top] + [f"trilens.{room}.{name}" for name in own]


def results_of(names: list[str]) -> list[str]:
    """The classes of trilens that these functions return and no page lists under its own name.

    >>> results_of(["trilens.medoid"])
    ['trilens.questions.medoid.Medoid']
    """
    found: dict[str, None] = {}
    for dotted in names:
        value = _at(dotted)
        if inspect.isfunction(value):
            known = vars(import_module(value.__module__))
            for word in re.findall(r"\w+", str(value.__annotations__.get("return"))):
                each = known.get(word)
                if inspect.isclass(each) and each.__module__.startswith("trilens."):
                    found[f"{each.__module__}.{each.__name__}"] = None
    pages = [*names, *(name for room in ROOMS for name in room_names(room))]
    listed = [_at(name) for name in pages]
    return [dotted for dotted in found if all(_at(dotted) is not value for value in listed)]


def summary_table(names: list[str]) -> str:
    """Each name with the first sentence of its docstring, in reStructuredText."""
    lines = [".. list-table::", "   :widths: 30 70", ""]
    for dotted in names:
        value = _at(dotted)
        said = inspect.getdoc(value) if callable(value) else None
        first = (said or "a value").split("\n\n")[0].replace("\n", " ")
        lines += [f"   * - `{dotted.removeprefix('trilens.')} <{dotted}>`", f"     - {first}"]
    return "\n".join(lines)


def room_page(rooms: str) -> str:
    """Rooms, or files of them: a table of the names, then all about each, and the results.

    The estimators of `questions` have a page of their own.
    """
    lines, names = [], []
    for room in rooms.split():
        lines += [f".. automodule:: trilens.{room}", ""] if room in trilens.__all__ else []
        names += [name for name in room_names(room) if not (_is_task(name) and _fits(name))]
    return "\n".join([*lines, *_described(names + results_of(names))])


def estimators_page(room: str) -> str:
    """The estimators of a room."""
    return "\n".join(_described([name for name in room_names(room) if _fits(name)]))


def _described(names: list[str]) -> list[str]:
    lines = [summary_table(names), ""]
    for dotted in names:
        lines += _directive(dotted, _at(dotted))
    return lines


def _is_task(dotted: str) -> bool:
    return str(getattr(_at(dotted), "__module__", "")).startswith("trilens.questions")


def _fits(dotted: str) -> bool:
    return inspect.isclass(_at(dotted)) and hasattr(_at(dotted), "fit")


def _at(dotted: str) -> Any:
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(module), name)


def _directive(dotted: str, value: Any) -> list[str]:
    if inspect.isclass(value):
        if issubclass(value, Exception):
            return [f".. autoexception:: {dotted}", "   :show-inheritance:", ""]
        members = [name for name in dir(value) if _is_ours(value, name)]
        listed = [f"   :members: {', '.join(members)}"] if members else []
        return [f".. autoclass:: {dotted}", *listed, ""]
    what = "autofunction" if inspect.isroutine(value) else "autodata"
    return [f".. {what}:: {dotted}", ""]


def _is_ours(of: type, name: str) -> bool:
    """Whether a member is public, written here and described; also an inherited one."""
    if name.startswith("_"):
        return False
    home = next((cls for cls in of.__mro__ if name in vars(cls)), object)
    member = inspect.getattr_static(of, name)
    described = inspect.isfunction(member) or isinstance(member, property | classmethod)
    return home.__module__.startswith("trilens") and described and bool(member.__doc__)


#: A fitted name such as ``n_iter_``, or a size such as ``|L|``, in plain text of a docstring.
_PLAIN = re.compile(r"(?<![`\w\\])([A-Za-z]\w*)_(?![\w`])|\|(\w+)\|")


def _escape(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """Keep reStructuredText from taking such names for its own links and substitutions."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = _PLAIN.sub(lambda m: f"{m[1]}\\_" if m[1] else f"\\|{m[2]}\\|", line)


def _tidy(app: Any, doctree: Any) -> None:
    """Types in words, such as ``(n_objects,) array``, are no links; a dash is a dash."""
    from docutils.nodes import Text
    from sphinx.addnodes import pending_xref

    for link in list(doctree.findall(pending_xref)):
        if link.get("reftype") == "class" and link["reftarget"][:1].islower():
            link.replace_self(link.children)
    for text in list(doctree.findall(Text)):
        if text == " -- ":
            text.parent.replace(text, Text(" \N{EN DASH} "))


def _formula(as_block: bool) -> Any:
    """A visitor that writes a formula as MathML, which browsers draw themselves."""
    from docutils.nodes import SkipNode
    from docutils.utils.math.latex2mathml import tex2mathml

    def visit(writer: Any, node: Any) -> None:
        writer.body.append(tex2mathml(node.astext(), as_block=as_block))
        raise SkipNode

    return visit


def with_tables(text: str) -> str:
    """A page with its tables between their marks."""
    return re.sub(
        r"<!-- (\w+) -->\n.*?<!-- end of \1 -->",
        lambda mark: f"<!-- {mark[1]} -->\n{TABLES[mark[1]]()}\n<!-- end of {mark[1]} -->",
        text,
        flags=re.S,
    )


def _directive_of(page: Callable[[str], str]) -> Any:
    """A directive that shows what a function makes of its arguments."""
    from sphinx.util.docutils import SphinxDirective

    class Made(SphinxDirective):
        required_arguments = 1
        optional_arguments = 20
        has_content = True  # for readers of the file itself; the page shows what is made

        def run(self) -> list[Any]:
            return self.parse_text_to_nodes(page(" ".join(self.arguments)))

    return Made


def setup(app: Any) -> dict[str, Any]:
    """Add the directives ``room`` and ``estimators`` (the API)."""
    app.add_directive("room", _directive_of(room_page))
    app.add_directive("estimators", _directive_of(estimators_page))
    app.add_html_math_renderer("mathml", (_formula(False), None), (_formula(True), None))
    # after napoleon, which has the priority 500
    app.connect("autodoc-process-docstring", _escape, priority=600)
    app.connect("doctree-read", _tidy)
    return {"version": trilens.__version__, "parallel_read_safe": True}


if __name__ == "__main__":
    for page in (Path(__file__).parent / name for name in PAGES):
        page.write_text(with_tables(page.read_text()))
