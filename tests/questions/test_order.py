"""What is found does not depend on the order of the answers, nor on that of the objects."""

from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from trilens.errors import KindError
from trilens.questions.model import answer_model
from trilens.simulate import mixture, simulate_statements, with_outliers

N = 16


@pytest.fixture(scope="module", params=["central", "closer"])
def both(request):
    """The same answers twice: shuffled, and their objects numbered otherwise; with a model."""
    drawn = with_outliers(mixture(N - 1, [[0, 0], [7, 0]], random_state=0), [[3, 9]])
    S = simulate_statements(drawn, 400, kind=request.param, error_rate=0.1, random_state=1)
    rng = np.random.default_rng(2)
    names, raters = [f"thing {i}" for i in range(N)], np.arange(len(S)) % 12
    new = rng.permutation(N)
    rows = rng.permutation(len(S))
    moved = np.empty(N, dtype=object)
    moved[new] = names
    one = tl.Statements(S.triples, N, names, S.kind, raters=raters)
    other = tl.Statements(new[S.triples][rows], N, moved.tolist(), S.kind, raters=raters[rows])
    return [(statements, answer_model(statements)) for statements in (one, other)]


def _by_name(names, values):
    return dict(zip(names, np.asarray(values).tolist(), strict=True))


@pytest.mark.parametrize("method", ["choice", "depth", "lensmap"])
def test_the_medoid(both, method) -> None:
    one, other = (tl.medoid(S, method, model=M) for S, M in both)
    assert one.to_dict() == other.to_dict()
    names = [S.names for S, _ in both]
    assert names[1][other.index] == one.name
    assert _by_name(names[0], one.scores) == _by_name(names[1], other.scores)


@pytest.mark.parametrize("method", ["choice", "depth", "soe"])
def test_the_outliers(both, method) -> None:
    one, other = (tl.outliers(S, 3, method=method, model=M) for S, M in both)
    assert one.to_dict() == other.to_dict()
    assert [both[1][0].names[i] for i in other.indices] == list(one.names)


@pytest.mark.parametrize("method", ["choice", "lensmap"])
def test_the_groups(both, method) -> None:
    y = {f"thing {i}": "ab"[i % 2] for i in range(N)}
    one, other = (tl.cluster(S, 3, method, labels=y, model=M) for S, M in both)
    assert one.to_dict() == other.to_dict()
    assert _by_name(one.names, one.stability.objects) == _by_name(
        other.names, other.stability.objects
    )


@pytest.mark.parametrize("method", ["choice", "krng"])
def test_the_classes(both, method) -> None:
    y = {f"thing {i}": "ab"[i // 2 % 2] for i in range(0, N, 2)}
    if both[0][0].kind != "central" and method == "krng":
        with pytest.raises(KindError):  # the k-RNG is of central answers
            tl.classify(both[0][0], y, method)
        return
    one, other = (tl.classify(S, y, method, model=M) for S, M in both)
    assert one.to_dict() == other.to_dict()
    assert _by_name(one.names, one.found) == _by_name(other.names, other.found)


def test_one_model_serves_all_questions(both) -> None:
    S, model = both[1]
    assert tl.medoid(S, model=model).to_dict() == tl.medoid(S).to_dict()


@pytest.mark.parametrize("method", ["krng", "lensmap"])
def test_groups_of_counts_have_the_numbers_of_groups_of_statements(method) -> None:
    S = tl.simulate.study(n_statements=3000).statements
    shuffled = S.take(np.random.default_rng(1).permutation(len(S))).subset(np.arange(60)[::-1])
    every = tl.cluster(S, 3, method)
    for T in (S, shuffled):
        counted = tl.cluster(tl.count_pairs(T), 3, method)
        assert _by_name(counted.names, counted.labels) == _by_name(every.names, every.labels)
