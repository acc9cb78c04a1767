from __future__ import annotations

import pytest

from commandline import facts, run
from people_who_differ import survey
from trilens.files import write_statements


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("individuals") / "answers.csv"
    write_statements(survey(["a"] * 6 + ["b"] * 6, n=16, each=80), path)
    return path


@pytest.mark.slow
def test_raters_are_compared(file, tmp_path):
    out = tmp_path / "raters.csv"
    done = run("individuals", file, "-o", out)
    assert "12 raters were compared; they see different things" in done.stderr
    header, *rows = out.read_text().splitlines()
    assert header.startswith('"rater","answers","group"')
    assert len(rows) == 12
    found = facts("individuals", file)
    assert found["differ"]
    assert found["sentences"][0] in done.stderr


def test_one_rater_is_refused_in_one_line(file, tmp_path):
    few = tmp_path / "few.csv"
    write_statements(survey(["a"] * 2, n=12, each=60), few)
    done = run("individuals", few, status=1)
    assert "needs 4 raters or more with 20 answers or more" in done.stderr
    assert done.stderr.count("\n") == 1
