"""The pages name everything that is public."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import click
import numpy as np
import pytest

import trilens
from trilens.cli import COMMANDS, trilens as command_line
from trilens.files.source import ENDINGS
from trilens.statements.layout import PRESETS
from trilens.statements.roles import NAMES, SHOWN_STEMS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def fromcode():
    spec = importlib.util.spec_from_file_location("fromcode", DOCS / "fromcode.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def directives(page: Path, name: str) -> list[str]:
    """The arguments of a directive on a page, in either markup."""
    return re.findall(
        rf"^(?:\.\. {name}::|```\{{{name}\}}) (\S.*)$", page.read_text(), re.MULTILINE
    )


def shown_by(fromcode, page: Path) -> list[str]:
    """What a page of the API asks autodoc for."""
    made = [fromcode.room_page(rooms) for rooms in directives(page, "room")]
    made += [fromcode.estimators_page(room) for room in directives(page, "estimators")]
    return re.findall(r"^\.\. auto\w+:: (\S+)$", "\n".join(made), re.MULTILINE)


def test_every_public_name_is_on_one_api_page(fromcode):
    shown = [name for page in DOCS.glob("api/*.rst") for name in shown_by(fromcode, page)]
    public = {f"trilens.{name}" for name in trilens.__all__}
    pages = {page.stem for page in DOCS.glob("api/*.rst")} | {"files", "lens", "reference"}
    assert public - set(shown) <= {f"trilens.{room}" for room in [*fromcode.ROOMS, *pages]}
    assert sorted(shown) == sorted(set(shown))


def test_an_api_page_has_a_table_of_its_names_and_what_they_return(fromcode):
    page = fromcode.room_page("questions.medoid")
    assert "* - `medoid <trilens.medoid>`" in page
    assert ".. autoclass:: trilens.questions.medoid.Medoid" in page
    assert ".. automodule:: trilens.exact\n" in fromcode.room_page("exact")
    assert re.search(
        r":: trilens.KRNGClassifier\n +:members: .*predict", fromcode.estimators_page("questions")
    )
    assert "KRNGClassifier" not in fromcode.room_page("questions")


def test_every_api_page_is_in_the_list():
    listed = set((DOCS / "api" / "index.rst").read_text().split())
    pages = {page.stem for page in DOCS.glob("api/*.rst")} - {"index"}
    assert pages <= listed


def test_the_commands_page_shows_the_whole_command_line():
    page = (DOCS / "commands.md").read_text()
    assert ".. click:: trilens.cli:trilens\n   :prog: trilens\n   :nested: full\n" in page
    context = click.Context(command_line)
    assert sorted(command_line.list_commands(context)) == sorted(COMMANDS)


def test_every_command_on_the_pages_is_understood():
    pages = [DOCS.parent / "README.md", *DOCS.glob("*.md"), *DOCS.glob("questions/*.md")]
    shown = [
        line
        for page in pages
        for block in re.findall(r"```(?:console|sh)\n(.*?)```", page.read_text(), re.DOTALL)
        for line in re.findall(r"^(?:\$ )?trilens (.*?)(?: \| .*)?$", block, re.MULTILINE)
    ]
    assert len(shown) > 80
    for line in shown:
        words = shlex.split(line, comments=True)
        command, context = command_line, click.Context(command_line)
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            command = command.get_command(context, words.pop(0))
            assert command is not None, line
            context = click.Context(command, parent=context)
        command.make_parser(context).parse_args(words)


def test_the_formats_page_has_every_column_name_and_ending(fromcode):
    shown = [
        *directives(DOCS / "formats.md", "from-code"),
        *directives(DOCS / "files.md", "from-code"),
        *directives(DOCS / "questions" / "index.md", "from-code"),
        *directives(DOCS / "survey-settings.md", "from-code"),
    ]
    assert sorted(shown) == sorted(fromcode.TABLES)
    text = "\n".join(fromcode.TABLES[name]() for name in shown)
    every = [name for names in NAMES.values() for name in names]
    for name in (*every, *SHOWN_STEMS, *ENDINGS, *PRESETS):
        assert f"`{name}`" in text


def test_the_page_of_settings_has_every_key(fromcode):
    from trilens_survey.settings import KEYS

    made = fromcode.settings_tables()
    assert KEYS
    assert [key for key in KEYS if f"| `{key}` |" not in made] == []


def test_a_column_without_description_stops_the_build(fromcode, monkeypatch):
    monkeypatch.setitem(fromcode.NAMES, "mood", ("mood",))
    with pytest.raises(KeyError, match="mood"):
        fromcode.columns_table()


def test_every_page_is_within_reach():
    listed = set()
    for index in (DOCS / "index.md", DOCS / "questions" / "index.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", index.read_text(), re.DOTALL):
            lines = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {(index.parent / line).relative_to(DOCS).as_posix() for line in lines}
    pages = {p.relative_to(DOCS).with_suffix("").as_posix() for p in DOCS.glob("**/*.md")}
    assert pages - {"index"} <= listed


def test_files_and_folders_that_pages_name_are_there():
    top = DOCS.parent
    pages = [top / "CONTRIBUTING.md", DOCS / "architecture.md", DOCS / "dependencies.md"]
    text = "".join(page.read_text() for page in pages)
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+(?:\.pyi?|/))`", text))
    assert len(named) > 30
    places = (top, top / "src" / "trilens")
    assert [name for name in named if not any((p / name).exists() for p in places)] == []


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["medoid", "map"])
def test_the_first_rows_of_the_answers_needed_are_what_plan_finds(goal):
    text = (DOCS / "faq.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2:5] for line in text.splitlines() if line.startswith("| 20 |")]
    shown = [cell.split("(")[0].replace(",", "") for cell in rows[goal == "map"]]
    found = {each.kind: each.answers for each in trilens.plan(20, goal).kinds}
    # processors round differently, and a search may then end elsewhere
    expected = [found[kind] for kind in ("central", "odd", "closer")]
    np.testing.assert_allclose(list(map(int, shown)), expected, rtol=0.2)
