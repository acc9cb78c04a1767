"""Options that the paper asks for."""

from __future__ import annotations

import pytest

import trilens as tl
from commandline import facts, run
from trilens.simulate import mixture, simulate_statements


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Answers about two groups, in which nothing is said about object 0; and labels of some."""
    folder = tmp_path_factory.mktemp("answers")
    drawn = mixture(24, [[0, 0], [7, 0]], random_state=1)
    S = simulate_statements(drawn.points, random_state=2)
    S = S.take((S.triples != 0).all(axis=1))
    tl.write_statements(S, folder / "answers.csv")
    (folder / "objects.txt").write_text("\n".join(map(str, range(24))))
    rows = [f"{i},{drawn.labels[i]}" for i in range(4, 24)]
    (folder / "labels.csv").write_text("\n".join(["object,label", *rows]))
    return folder


def test_who_votes_where_nobody_is_a_neighbor(answers):
    words = ("classify", answers / "answers.csv", "--objects", answers / "objects.txt")
    words += ("--labels", answers / "labels.csv", "--method")
    nearest, random = (facts(*words, "krng", "--alone", a) for a in ("nearest", "random"))
    assert any("so the most frequent class: 0" in remark for remark in nearest["remarks"])
    assert any("so a class at random: 0" in remark for remark in random["remarks"])
    assert {n: c for n, c in random["labels"].items() if n != "0"} == {
        n: c for n, c in nearest["labels"].items() if n != "0"
    }
    drawn = {
        facts(*words, "krng", "--alone", "random", "--seed", seed)["labels"]["0"]
        for seed in range(8)
    }
    assert drawn == {"0", "1"}
    assert (
        "--alone is for the method krng"
        in run(*words, "depth", "--alone", "random", status=1).stderr
    )


def test_local_depth(answers):
    found = facts("depth", answers / "answers.csv", "--local", 0.2)
    S = tl.read_statements(answers / "answers.csv")
    assert list(found["local_depth"].values()) == tl.local_depth(S, 0.2).tolist()
    assert found["share"] == 0.2
    assert run("depth", answers / "answers.csv", "--local", 0.2).stdout.startswith("object  local")
    run("depth", answers / "answers.csv", "--local", 2, status=2)


def test_the_help_says_what_k_is():
    said = " ".join(run("graph", "--help").stdout.split())
    assert "two objects are neighbors when fewer than K others lie in their lens" in said
