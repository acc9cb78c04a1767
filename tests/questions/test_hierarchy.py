from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from trilens import ChoiceMap, Statements, hierarchy
from trilens.errors import FormatError, ParameterError
from trilens.questions.hierarchy import Hierarchy
from trilens.questions.structure import Structure
from trilens.simulate import simulate_statements


def _tree(points, kind, statements):
    S = simulate_statements(points, statements, kind=kind, random_state=1)
    S = Statements(S.triples, names=[f"o{99 - i}" for i in range(len(points))], kind=kind)
    return hierarchy(ChoiceMap(2, l2=0.1, lapses="one", max_iter=100, tol=1e-4).fit(S).fit_)


@pytest.fixture(scope="module")
def tree():
    """The tree of two groups that are far apart."""
    points = np.random.default_rng(0).normal(size=(24, 2))
    return _tree(points + 9 * (np.arange(24) < 12)[:, None], "odd", 1500)


def test_groups_are_claimed_branches(tree):
    claimed = {frozenset(branch.objects) for branch in tree.claimed}
    names = np.array(tree.names)
    assert frozenset(names[:12].tolist()) in claimed
    assert frozenset(names[tree.structure.part == 1].tolist()) in claimed
    assert all(branch.support >= 0.95 for branch in tree.claimed)
    assert tree.structure.shape == "groups"
    assert not tree.branches[-1].claimed  # all objects: no claim
    assert "well supported" in tree.sentence
    # every object is there once, and heights rise
    assert sorted(tree.order) == sorted(tree.names)
    assert len(tree.branches) == len(tree.names) - 1
    assert (np.diff(tree.linkage[:, 2]) >= 0).all()
    assert set(tree.branches[-1].objects) == set(tree.names)


def test_of_a_cloud_and_of_too_few_answers_nothing_is_claimed():
    found = _tree(np.random.default_rng(5).normal(size=(16, 2)), "closer", 700)
    assert found.claimed == ()
    assert found.sentence.startswith("No branch is claimed")
    assert found.support is not None  # told, but nothing is made of it
    few = hierarchy(Statements([[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]], kind="central"))
    assert (few.support, few.claimed) == (None, ())
    three = Statements([[0, 1, 2]], kind="central")
    assert hierarchy(three).linkage.shape == (2, 4)  # three objects are a tree


def test_a_branch_that_cuts_a_group_or_a_smaller_one_is_not_claimed():
    names = ("a b", "it's", "(c)", "d", "e", "f")
    joined = [[0, 2, 1, 2], [1, 3, 1, 2], [6, 7, 2, 4], [4, 5, 3, 2], [8, 9, 4, 6]]
    part = np.array([0, 0, 0, 0, 1, 1])
    groups = Structure("groups", names, part=part)
    tree = Hierarchy(names, np.array(joined, dtype=float), np.ones(5), groups)
    # what lies within one group cuts none
    assert [len(branch.objects) for branch in tree.claimed] == [4, 2, 2, 2]
    inner = replace(groups, shape="groups in groups", inner=np.array([0, 0, 1, 1, 2, 2]))
    assert [b.objects for b in replace(tree, structure=inner).claimed] == [
        ("a b", "(c)", "it's", "d"), ("e", "f"),
    ]  # fmt: skip
    # every object hangs at half the height, and odd names are quoted
    left = "(('a b':0.5,'(c)':0.5)1:0.5,('it''s':0.5,d:0.5)1:0.5)1:1"
    assert tree.newick() == f"({left},(e:1.5,f:1.5)1:0.5);"


def test_facts_and_files(tree, tmp_path):
    facts = json.loads(json.dumps(tree.to_dict(), allow_nan=False))
    assert facts["shape"] == "groups"
    assert [len(branch) for branch in facts["claimed"]][:2] == [12, 12]
    tree.write(tmp_path / "tree.nwk")
    assert (tmp_path / "tree.nwk").read_text() == tree.newick() + "\n"
    tree.write(tmp_path / "tree.csv")
    assert len((tmp_path / "tree.csv").read_text().splitlines()) == len(tree.names)
    with pytest.raises(FormatError, match=r"unknown ending \.doc"):
        tree.write(tmp_path / "tree.doc")
    assert not (tmp_path / "tree.doc").exists()


@pytest.mark.parametrize(
    ("n", "words"), [(4, "there are none"), (6000, "6,000 objects would have 17,997,000 pairs")]
)
def test_what_cannot_be_a_tree_is_refused_in_a_line(n, words):
    answers = np.arange(3)[None] if n == 6000 else np.zeros((0, 3), dtype=int)
    with pytest.raises(ParameterError, match=words):
        hierarchy(Statements(answers, n_objects=n, kind="central"))
