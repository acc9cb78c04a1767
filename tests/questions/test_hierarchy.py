from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from trilens import ChoiceMap, Statements, hierarchy
from trilens.errors import FormatError, ParameterError
from trilens.questions.hierarchy import Hierarchy
from trilens.questions.structure import Structure
from trilens.simulate import Points, simulate_statements


def _study(points, kind="odd", statements=1500, seed=1):
    made = simulate_statements(
        Points(points, np.zeros(len(points), dtype=int)), statements, kind=kind, random_state=seed
    )
    names = [f"o{i:02d}" for i in range(len(points))]
    return Statements(made.triples, names=names, kind=kind)


def _quick(S):
    return ChoiceMap(2, l2=0.1, lapses="one", max_iter=100, tol=1e-4).fit(S).fit_


@pytest.fixture(scope="module")
def two():
    """The quick fit of two groups that are far apart."""
    rng = np.random.default_rng(0)
    return _quick(_study(rng.normal(size=(24, 2)) + 9 * (np.arange(24) < 12)[:, None]))


@pytest.fixture(scope="module")
def tree(two):
    return hierarchy(two)


def test_groups_are_claimed_branches(two, tree):
    claimed = {frozenset(branch.objects) for branch in tree.claimed}
    names = np.array(two.names)
    assert frozenset(names[:12].tolist()) in claimed
    assert frozenset(names[tree.structure.part == 1].tolist()) in claimed
    assert all(branch.support >= 0.95 for branch in tree.claimed)
    assert tree.structure.shape == "groups"
    assert not tree.branches[-1].claimed  # all objects: no claim
    assert "well supported" in tree.sentence


def test_a_branch_that_cuts_a_group_or_a_smaller_one_is_not_claimed():
    names = tuple("abcdef")
    joined = [[0, 2, 1, 2], [1, 3, 1, 2], [6, 7, 2, 4], [4, 5, 3, 2], [8, 9, 4, 6]]
    part = np.array([0, 0, 0, 0, 1, 1])
    groups = Structure("groups", names, part=part)
    tree = Hierarchy(names, np.array(joined, dtype=float), np.ones(5), groups)
    # what lies within one group cuts none
    assert [len(branch.objects) for branch in tree.claimed] == [4, 2, 2, 2]
    inner = replace(groups, shape="groups in groups", inner=np.array([0, 0, 1, 1, 2, 2]))
    assert [b.objects for b in replace(tree, structure=inner).claimed] == [
        ("a", "c", "b", "d"), ("e", "f"),
    ]  # fmt: skip


def test_a_tree_has_every_object_once_and_its_heights_rise(tree):
    assert sorted(tree.order) == sorted(tree.names)
    assert len(tree.branches) == len(tree.names) - 1
    assert (np.diff(tree.linkage[:, 2]) >= 0).all()
    assert set(tree.branches[-1].objects) == set(tree.names)


def test_of_a_cloud_nothing_is_claimed():
    S = _study(np.random.default_rng(5).normal(size=(16, 2)), "closer", 700)
    found = hierarchy(_quick(S))
    assert found.claimed == ()
    assert found.sentence.startswith("No branch is claimed")
    assert found.support is not None  # told, but nothing is made of it


def _depths(newick):
    """How far each leaf is from the root."""
    # supports stand where the names of branches would
    newick = re.sub(r"\)[\d.]+", ")", newick)
    found, above, last = {}, [], 0.0
    # from the end: the length of a branch stands behind it
    for sign in reversed(re.findall(r"'(?:[^']|'')*'|[(),;]|:[\d.e+-]+|[^(),:;']+", newick)):
        if sign.startswith(":"):
            last = float(sign[1:])
        elif sign == ")":
            above.append((above[-1] if above else 0.0) + last)
            last = 0.0
        elif sign == "(":
            above.pop()
        elif sign not in ",;" and last:
            found[sign] = above[-1] + last
            last = 0.0
    return found


def test_newick_names_every_object_at_half_the_height_of_the_tree(tree):
    depths = _depths(tree.newick())
    assert sorted(depths) == sorted(tree.names)
    np.testing.assert_allclose(list(depths.values()), tree.linkage[-1, 2] / 2, rtol=1e-3)
    assert tree.newick().endswith(");")


def test_odd_names_are_quoted_in_newick():
    names = ["a b", "it's", "(c)", "plain"]
    S = Statements([[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]] * 9, names=names, kind="central")
    found = _depths(hierarchy(S).newick())
    assert sorted(found) == sorted(["'a b'", "'it''s'", "'(c)'", "plain"])


def test_facts_and_files(tree, tmp_path):
    facts = json.loads(json.dumps(tree.to_dict(), allow_nan=False))
    assert facts["shape"] == "groups"
    assert [len(branch) for branch in facts["claimed"]][:2] == [12, 12]
    tree.write(tmp_path / "tree.nwk")
    assert (tmp_path / "tree.nwk").read_text() == tree.newick() + "\n"
    tree.write(tmp_path / "tree.csv")
    rows = (tmp_path / "tree.csv").read_text().splitlines()
    assert len(rows) == len(tree.names)
    with pytest.raises(FormatError, match=r"unknown ending \.doc"):
        tree.write(tmp_path / "tree.doc")
    assert not (tmp_path / "tree.doc").exists()


def test_too_few_answers_claim_nothing_and_have_no_support():
    rows = [[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]]
    found = hierarchy(Statements(rows, kind="central"))
    assert found.support is None
    assert found.claimed == ()
    three = Statements([[0, 1, 2]], kind="central")
    assert hierarchy(three).linkage.shape == (2, 4)  # three objects are a tree


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Statements(np.zeros((0, 3), dtype=int), n_objects=4), "there are none"),
        (
            Statements([[0, 1, 2]], n_objects=6000, kind="central"),
            "6,000 objects would have 17,997,000 pairs",
        ),
    ],
)
def test_what_cannot_be_a_tree_is_refused_in_a_line(given, words):
    with pytest.raises(ParameterError, match=words):
        hierarchy(given)
