from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tiny_experiment import TINY, kills_itself
from trilens.errors import DatasetError, ParameterError
from trilens_paper import registry
from trilens_paper.command import command


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.EXPERIMENTS, "tiny", TINY)


def test_list_names_every_experiment() -> None:
    result = CliRunner().invoke(command, ["--list"])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(registry.EXPERIMENTS)


def test_unknown_name_is_answered_by_the_names(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["medoids", "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, ParameterError)
    message = str(result.exception)
    assert "\n" not in message
    assert all(name in message for name in registry.EXPERIMENTS)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_tables_figure_and_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, page = tmp_path / "out", tmp_path / "docs" / "reproduction.md"
    arguments = ["tiny", "--runs", "2", "--processes", "1", "--out", str(out)]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[1].split() == ["tiny", "2", "0", "0", "3", "0", "0"]
    for file in ("tiny/results.csv", "tiny/results.parquet", "summary.md", "summary/tiny.png"):
        assert (out / file).stat().st_size > 0
    again = CliRunner().invoke(command, arguments)
    assert again.stdout == result.stdout
    assert again.stderr == result.stderr == f"summary: {out / 'summary.md'}\n"

    # the page comes from the journals alone, whatever code has written them: nothing is run
    monkeypatch.setattr("trilens_paper.framework.runner.fingerprint", lambda measure: "other code")
    monkeypatch.setitem(registry.EXPERIMENTS, "tiny", replace(TINY, measure=kills_itself))
    journal = (out / "tiny" / "cells.jsonl").read_bytes()
    made = CliRunner().invoke(command, ["tiny", "--out", str(out), "--page", str(page)])
    assert made.exit_code == 0, made.output
    assert made.stdout == result.stdout
    assert (out / "tiny" / "cells.jsonl").read_bytes() == journal
    assert (tmp_path / "docs" / "reproduction" / "tiny.png").exists()
    text = page.read_text(encoding="utf-8")
    assert "\ntrilens reproduce tiny --runs 2 --out paper --any-code\n" in text
    assert "(reproduction/tiny.png)" in text


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_results_of_other_code_are_said_to_be_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["tiny", "--runs", "1", "--processes", "1", "--out", str(tmp_path)]
    journal = tmp_path / "tiny" / "cells.jsonl"
    assert CliRunner().invoke(command, arguments).exit_code == 0
    monkeypatch.setattr("trilens_paper.framework.runner.fingerprint", lambda measure: "other code")
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert (
        result.stderr.splitlines()[0]
        == "7 results were computed by other code and will be computed again"
    )
    assert len(journal.read_bytes().splitlines()) == 16
    kept = CliRunner().invoke(command, [*arguments, "--any-code"])
    assert "computed by other code" not in kept.stderr
    assert len(journal.read_bytes().splitlines()) == 16


def test_missing_data_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> object:
        raise DatasetError("cars are not to be had")

    broken = replace(TINY, name="broken", prepare=missing)
    monkeypatch.setitem(registry.EXPERIMENTS, "broken", broken)
    result = CliRunner().invoke(command, ["broken", "--out", str(tmp_path)])
    assert isinstance(result.exception, DatasetError)
    assert str(result.exception) == "cars are not to be had"
