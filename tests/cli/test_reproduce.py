from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from tiny_experiment import TINY, kills_itself
from trilens.errors import DatasetError, ParameterError
from trilens_paper import registry
from trilens_paper.command import command


@pytest.mark.slow
def test_tables_figure_and_page(tmp_path, monkeypatch):
    monkeypatch.setitem(registry.EXPERIMENTS, "tiny", TINY)
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
    # without the page, what other code has computed is computed again
    monkeypatch.setitem(registry.EXPERIMENTS, "tiny", TINY)
    kept = CliRunner().invoke(command, [*arguments, "--any-code"])
    assert "computed by other code" not in kept.stderr
    assert (out / "tiny" / "cells.jsonl").read_bytes() == journal
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith(
        "14 results were computed by other code and will be computed again\n"
    )
    assert len((out / "tiny" / "cells.jsonl").read_bytes()) > len(journal)


def test_the_names_of_experiments_and_missing_data(tmp_path, monkeypatch):
    listed = CliRunner().invoke(command, ["--list"])
    assert listed.exit_code == 0
    names = [line.split()[0] for line in listed.stdout.splitlines()[1:]]
    assert names == list(registry.EXPERIMENTS)

    def missing():
        raise DatasetError("cars are not to be had")

    monkeypatch.setitem(registry.EXPERIMENTS, "broken", replace(TINY, prepare=missing))
    for name, error, said in (
        ("medoids", ParameterError, ", ".join(names)),
        ("broken", DatasetError, "cars are not to be had"),
    ):
        result = CliRunner().invoke(command, [name, "--out", str(tmp_path / name)])
        assert isinstance(result.exception, error)
        assert said in str(result.exception)
        assert "\n" not in str(result.exception)
    assert not (tmp_path / "medoids").exists()
