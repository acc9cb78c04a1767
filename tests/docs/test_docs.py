"""The pages name everything that is public, and show what is so."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import matplotlib as mpl
import numpy as np
import pytest

import trilens
from trilens import calibration
from trilens.cli import COMMANDS, trilens as command_line
from trilens.files.source import ENDINGS
from trilens.statements.layout import PRESETS
from trilens.statements.roles import NAMES, SHOWN_STEMS
from trilens_survey.settings import KEYS

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = DOCS / "notebooks"
SHOWN_NOTEBOOKS = ("csv-to-report", "things-to-map", "evaluating-an-embedding")


def _module(path: Path):
    """A module that stands beside the pages."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def fromcode():
    return _module(DOCS / "fromcode.py")


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


def test_the_tables_have_every_column_name_ending_and_setting(fromcode, monkeypatch):
    text = "\n".join((DOCS / page).read_text() for page in fromcode.PAGES)
    assert fromcode.with_tables(text) == text
    assert sorted(re.findall(r"<!-- end of (\w+) -->", text)) == sorted(fromcode.TABLES)
    every = [name for names in NAMES.values() for name in names]
    for name in (*every, *SHOWN_STEMS, *ENDINGS, *PRESETS):
        assert f"`{name}`" in text
    assert [key for key in KEYS if f"| `{key}` |" not in text] == []
    # a column without description stops the build
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
    api = {page.stem for page in DOCS.glob("api/*.rst")} - {"index"}
    assert api <= set((DOCS / "api" / "index.rst").read_text().split())
    notebooks = {file.name for file in NOTEBOOKS.glob("*.ipynb")}
    assert notebooks == {f"{name}.ipynb" for name in SHOWN_NOTEBOOKS}
    text = (DOCS / "notebooks.md").read_text()
    assert all(f"notebooks/{name}" in text for name in notebooks)


def test_every_constant_on_which_a_claim_rests_names_the_part_that_measures_it(monkeypatch):
    page = (DOCS / "claims.md").read_text()
    code = Path(calibration.__file__).read_text()
    sections = re.findall(r"^# ---- .*\"(.+)\"$", code, re.MULTILINE)
    assert sections
    assert set(sections) <= set(re.findall(r"^#+ (.+)$", page, re.MULTILINE))
    # and its tables are those of the journal
    monkeypatch.syspath_prepend(str(DOCS.parent / "benchmarks"))
    import claims

    journal = claims.journal()
    assert claims.with_tables(page, journal) == page
    assert claims.with_tables(page, journal[:50]) != page


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


@pytest.mark.slow
def test_pages_show_what_commands_print(tmp_path, monkeypatch):
    console = _module(DOCS / "console.py")
    monkeypatch.chdir(tmp_path)
    console.make_demo(tmp_path / "demo")
    for name in console.PAGES:
        text = (DOCS / name).read_text(encoding="utf-8")
        assert console.rewritten(text) == text, f"{name}: run docs/console.py"


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN_NOTEBOOKS)
def test_a_notebook_shows_what_it_says(name):
    mpl.use("Agg")
    runner = _module(NOTEBOOKS / "run.py")
    notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    stored = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert any(stored)
    for told, shown in zip(stored, runner.run(notebook), strict=True):
        assert runner.texts(told) == runner.texts(shown)
        for one, other in zip(told, shown, strict=True):
            assert set(one.get("data", ())) == set(other.get("data", ()))


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path, browser):
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("plots"))
    for file in ("README.md", "CHANGELOG.md", "deploy", "benchmarks", "src"):
        (tmp_path / file).symlink_to(DOCS.parent / file)
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "site"],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    site = tmp_path / "site"
    assert "<math" in (site / "science.html").read_text()
    assert (site / "notebooks" / "things-to-map.html").exists()
    pictures = {picture.name for picture in (site / "_images").glob("sphx_glr_plot_*_001.png")}
    scripts = {f"sphx_glr_{script.stem}_001.png" for script in DOCS.glob("gallery/plot_*.py")}
    assert scripts
    assert scripts <= pictures
    assert "copybutton" in (site / "index.html").read_text()
    assert too_wide(browser, site, 1200) == []
    assert too_wide(browser, site, 390) == []


def too_wide(browser, site: Path, width: int) -> list[str]:
    """The pages that scroll sideways in a window of this width."""
    browser.resize(width)
    found = []
    for page in (*site.glob("*.html"), *site.glob("questions/*.html")):
        browser.open(page)
        if browser.run("return document.scrollingElement.scrollWidth") > width:
            found.append(page.name)
    browser.console()  # what these pages miss without a network is none of other tests' matter
    browser.requests()
    return found
