from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from trilens.errors import ParameterError
from trilens.questions.cluster.groups import cluster_stability, resampled_maps
from trilens.simulate import mixture, simulate_statements


@given(
    st.integers(2, 30).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, 3), min_size=n, max_size=n),
            st.lists(st.integers(0, 3), min_size=n, max_size=n),
        )
    )
)
def test_agreement_is_the_adjusted_rand_index(parts):
    from sklearn.metrics import adjusted_rand_score

    own = np.unique(parts[0], return_inverse=True)[1]
    found = cluster_stability(own, [parts[1]])
    assert found.agreement == pytest.approx(adjusted_rand_score(own, parts[1]))
    assert ((found.clusters > 0) & (found.clusters <= 1)).all()


def test_same_partitions_are_wholly_stable_however_numbered():
    found = cluster_stability([0, 0, 1, 2], [[5, 5, 3, 9], [1, 1, 2, 0]])
    assert (found.agreement, found.resamples) == (1.0, 2)
    assert found.clusters.tolist() == [1, 1, 1]
    assert found.objects.tolist() == [1, 1, 1, 1]


def test_jaccard_by_hand():
    found = cluster_stability([0, 0, 0, 1, 1], [[0, 0, 1, 1, 1]])
    np.testing.assert_allclose(found.clusters, [2 / 3, 2 / 3])
    assert found.objects.tolist() == [1, 1, 0, 1, 1]


@pytest.mark.parametrize(("own", "others"), [([], [[]]), ([0, 1], []), ([0, 1], [[0]])])
def test_partitions_must_fit(own, others):
    with pytest.raises(ParameterError, match="the same objects"):
        cluster_stability(own, others)


def test_resampled_maps_are_seeded_and_know_the_middle():
    drawn = mixture(25, [[0, 0]], random_state=3)
    S = simulate_statements(drawn.points, 2300, kind="closer", random_state=4)
    maps = resampled_maps(S, 6, random_state=5)
    again = resampled_maps(S, 6, random_state=5)
    assert all((a == b).all() for a, b in zip(maps, again, strict=True))
    total = np.linalg.norm(drawn.points[:, None] - drawn.points, axis=2).sum(axis=1)
    far = [np.linalg.norm(m[:, None] - m, axis=2).sum(axis=1) for m in maps]
    assert np.argsort(total).tolist().index(int(np.mean(far, axis=0).argmin())) < 6
