"""A kind that nobody told is assumed aloud, and doubted where the answers speak against it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import trilens as tl
from commandline import run
from trilens.answers import Answers
from trilens.errors import AssumedKindWarning, KindError
from trilens.files import read_statements
from trilens.statements import Statements


def closer(n: int = 400, seed: int = 0):
    """Which of two is nearer to a third, of six objects on a line, and so asked again often."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        a, b, c = rng.choice(6, 3, replace=False).tolist()
        near, far = (b, c) if abs(a - b) + rng.normal(scale=0.4) < abs(a - c) else (c, b)
        rows.append([a, near, far])
    return np.array(rows)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in closer().tolist()))
    return path


def test_an_assumed_kind_is_loud(file):
    with pytest.warns(AssumedKindWarning, match=r"kind central is assumed. .*kind='closer'"):
        read_statements(file)
    with pytest.warns(AssumedKindWarning, match="kind central is assumed"):
        Answers(file).read()
    shown = run("depth", file).stderr
    assert "caution: the data do not say which question was asked: kind central is assumed" in shown
    assert "fit kind closer" in shown
    assert "Give --kind closer, or --kind central if that was asked" in shown
    assert "Warning" not in shown
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_statements(file, kind="closer")
    assert "the data do not say" not in run("depth", file, "--kind", "closer").stderr


def test_a_question_says_which_kind_fits_better(tmp_path):
    points = np.random.default_rng(0).normal(size=(12, 2))
    S = tl.simulate.simulate_statements(points, 400, "odd", sampling="replacement", random_state=1)
    path = tmp_path / "a.csv"
    path.write_text("\n".join(",".join(row) for row in S))
    with pytest.warns(AssumedKindWarning, match="but the answers fit kind odd"):
        tl.medoid(path)


@pytest.mark.parametrize(
    "ask",
    [
        tl.medoid,
        tl.cluster,
        tl.centrality,
        tl.fit,
        lambda rows: tl.LensMap(1).fit(rows),
        lambda rows: tl.ChoiceMap(1).fit(rows),
        lambda rows: Answers(rows).read(),
    ],
    ids=["medoid", "cluster", "centrality", "fit", "LensMap", "ChoiceMap", "Answers"],
)
def test_an_array_does_not_say_which_question_was_asked(ask):
    rows = closer()
    for given in (rows, [("a", "b", "c"), ("b", "c", "a"), ("c", "d", "a"), ("d", "a", "b")]):
        with pytest.raises(KindError, match=r"does not say which question .*kind='central'"):
            ask(given)
    ask(Statements(rows, kind="closer"))


def test_statements_of_an_array_are_central_with_a_warning():
    with pytest.warns(AssumedKindWarning, match="kind central is assumed"):
        assert Statements(closer()).kind == "central"
