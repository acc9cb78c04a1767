"""What the pages show of the command line is what it prints."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def console():
    spec = importlib.util.spec_from_file_location("console", DOCS / "console.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_pages_show_what_commands_print(console, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    console.make_demo(tmp_path / "demo")
    for name in console.PAGES:
        text = (DOCS / name).read_text(encoding="utf-8")
        assert console.rewritten(text) == text, f"{name}: run docs/console.py"


def test_only_blocks_that_show_output_are_written_again(console):
    page = "```console\n$ trilens a\n```\n```console\n$ trilens b | head -1\nold\n```\n"
    assert console.rewritten(page, lambda words: [f"{words} new", "more"]) == (
        "```console\n$ trilens a\n```\n```console\n$ trilens b | head -1\nb new\n```\n"
    )
