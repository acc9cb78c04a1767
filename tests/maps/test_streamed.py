"""The lens map by passes over files, held to the lens map of the same statements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import procrustes

import trilens as tl
from trilens import answers
from trilens.counts.partition import Plan, partitions
from trilens.errors import ParameterError
from trilens.maps import lens_map, passes, streamed
from trilens.maps.map import Map
from trilens.maps.streamed import (
    HeldOutAnswers,
    HeldRows,
    QuestionSample,
    StreamedMap,
    product,
    sampled_rows,
    score,
    stream_map,
)
from trilens.statements.layout import read_options


def map_files(source: Path, n_components: int | None, objects=None, **parameters) -> StreamedMap:
    return stream_map(tl.Answers(source, objects=objects), n_components, **parameters)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_the_product_is_that_of_the_pair_counts(tmp_path: Path, kind: str, ending: str) -> None:
    rng = np.random.default_rng(0)
    triples = rng.permuted(np.tile(np.arange(12), (200, 1)), axis=1)[:, :3]
    S = tl.Statements(triples, 12, [f"n{i}" for i in range(12)], kind)
    tl.write_statements(S, tmp_path / f"a.{ending}")
    S = tl.read_statements(tmp_path / f"a.{ending}")
    pairs = tl.count_pairs(S)
    X = rng.standard_normal((12, 3)).astype(np.float32)
    plan = Plan(read_options(), n_objects=12, names=S.names)
    (part,) = partitions(tmp_path / f"a.{ending}")
    E = 0.7 * pairs.third - 0.2 * (pairs.appears - pairs.third)
    assert product(part, plan, X, 0.7, -0.2) == pytest.approx(E @ X, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_it_is_as_good_as_the_lens_map_of_all_pairs(tmp_path: Path, kind: str) -> None:
    points = np.random.default_rng(0).standard_normal((500, 2))
    S = tl.simulate_statements(points, 50_000, kind=kind, random_state=1)
    tl.write_statements(S, tmp_path / "a.parquet")
    found = map_files(tmp_path / "a.parquet", 2, method="lensmap")
    assert found.names == S.names
    assert found.counts.statements == 50_000
    assert np.abs(found.embedding.mean(axis=0)).max() < 1e-4
    # measured: 0.0740 and 0.0748, 0.2364 and 0.2379, 0.1464 and 0.1470
    full = procrustes(points, tl.LensMap(2).fit_transform(S))[2]
    assert procrustes(points, found.embedding)[2] < 1.05 * full


def test_threads_do_not_change_it(tmp_path: Path) -> None:
    points = np.random.default_rng(0).standard_normal((60, 2))
    S = tl.simulate_statements(points, 2000, random_state=1)
    for i, rows in enumerate(np.split(np.arange(2000), 4)):
        tl.write_statements(S.take(rows), tmp_path / f"{i}.csv")
    one = map_files(tmp_path, 2, method="lensmap", n_threads=1)
    other = map_files(tmp_path, 2, method="lensmap", n_threads=3)
    assert np.array_equal(one.embedding, other.embedding)
    tl.write_statements(S, tmp_path / "all.npz")
    whole = map_files(tmp_path / "all.npz", 2, method="lensmap")
    order = [one.names.index(name) for name in whole.names]
    # another order of objects is another start, and the same map
    assert procrustes(whole.embedding, one.embedding[order])[2] < 0.01


def test_wrong_arguments(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,c\nb,c,d\n")
    with pytest.raises(ParameterError, match="4 objects span 3 dimensions"):
        map_files(tmp_path / "a.csv", 4)
    with pytest.raises(ParameterError, match="takes the objects from the files"):
        map_files(tmp_path / "a.csv", 1, objects=["a"])
    with pytest.raises(ParameterError, match="method is 'soe'"):
        map_files(tmp_path / "a.csv", 1, method="soe")
    with pytest.raises(ParameterError, match="too few for a streamed choice map"):
        map_files(tmp_path / "a.csv", 1)
    with pytest.raises(ParameterError, match="cannot choose n_components"):
        map_files(tmp_path / "a.csv", None, method="lensmap")
    with pytest.raises(ParameterError, match="streamed from files of answers"):
        stream_map(tl.Answers([[0, 1, 2]]), 1)


# ---- the estimators, where the answers are too large to hold --------------------------------


@pytest.fixture
def large(tmp_path: Path, monkeypatch) -> tl.Answers:
    """Answers in a file that counts as too large."""
    points = np.random.default_rng(0).standard_normal((40, 2))
    S = tl.simulate_statements(points, 6000, error_rate=0.1, random_state=1)
    S = tl.Statements(S.triples, 40, [f"object {i}" for i in range(40)])
    tl.write_statements(S, tmp_path / "large.csv")
    monkeypatch.setattr(answers, "STREAMED_BYTES", 100)
    return tl.Answers(tmp_path / "large.csv")


def test_a_choice_map_of_large_files_is_streamed(large: tl.Answers) -> None:
    assert not large.held
    M = tl.ChoiceMap(2).fit(large)
    found = stream_map(large, 2)
    assert np.array_equal(M.embedding_, found.embedding)
    assert (M.names_, M.n_components_) == (found.names, 2)
    assert (M.lapse_, M.error_rate_) == (found.lapse, found.error_rate)
    assert M.streamed_.predicted == found.predicted
    assert tl.ChoiceMap().fit(large).n_components_ == 2
    S = tl.read_statements(large.source)
    assert M.score(S) > 0.8
    assert M.predict_proba(S).shape == (6000, 3)
    assert M.depth().depth.argmax() == M.model_.depth().depth.argmax()
    for wanted in ("error_rate_interval_", "place_errors_", "violations_"):
        with pytest.raises(ParameterError, match=f"{wanted} is not available: this map was str"):
            getattr(M, wanted)
    with pytest.raises(ParameterError, match="a bootstrap is not available"):
        M.bootstrap(S, 2)
    with pytest.raises(AttributeError, match="no l2_: this map was streamed from files"):
        _ = M.l2_
    for wrong in ({"l2": 0.1}, {"lapses": 0.2}, {"init": np.zeros((40, 2))}):
        with pytest.raises(ParameterError, match=f"ChoiceMap: {next(iter(wrong))} cannot be"):
            tl.ChoiceMap(2, **wrong).fit(large)
    with pytest.raises(ParameterError, match="sample_weight is not available"):
        tl.ChoiceMap(2).fit(large, sample_weight=np.ones(6000))
    assert tl.ChoiceMap(2, l2=0.1).fit(S).streamed_ is None


def test_a_lens_map_of_large_files_needs_no_statements(large: tl.Answers, monkeypatch) -> None:
    S = tl.read_statements(large.source)
    M = tl.LensMap(2).fit(large)
    assert large._statements is None
    assert np.array_equal(M.embedding_, tl.LensMap(2).fit(S).embedding_)
    assert M.transform(S).shape == (40, 2)
    monkeypatch.setattr(lens_map, "SMOOTHED_OBJECTS", 20)
    many = tl.LensMap(2).fit(large)
    assert np.array_equal(many.embedding_, stream_map(large, 2, method="lensmap").embedding)
    assert procrustes(M.embedding_, many.embedding_)[2] < 0.05
    assert many.names_ == M.names_
    with pytest.raises(ParameterError, match="adds counts of pairs"):
        many.partial_fit(S)
    with pytest.raises(ParameterError, match="LensMap: error_rate cannot be chosen"):
        tl.LensMap(2, error_rate=0.1).fit(large)


@pytest.mark.parametrize("Map", [tl.ChoiceMap, tl.LensMap, tl.SOE])
def test_answers_that_are_held_are_read(tmp_path: Path, Map) -> None:
    S = tl.simulate_statements(np.random.default_rng(0).standard_normal((14, 2)), 300)
    tl.write_statements(S, tmp_path / "a.csv")
    given = tl.Answers(tmp_path / "a.csv")
    fitted = Map(2).fit(given)
    assert np.array_equal(fitted.embedding_, Map(2).fit(given.read()).embedding_)
    assert fitted.score(given) == fitted.score(given.read())
    share = tl.violations(fitted.embedding_, given.read())
    assert tl.violations(fitted.embedding_, given) == share
    assert tl.violations(fitted.embedding_, given, kind="central") == share


# ---- the choice map ------------------------------------------------------------------------


def _loss(X: np.ndarray, lapse: float, kind: str, triples: np.ndarray) -> float:
    return -float(np.log(Map(X, lapse, kind).chosen(triples)).sum())


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_slopes_and_the_information_are_those_of_the_model(kind: str, d: int) -> None:
    rng = np.random.default_rng(d)
    X = rng.standard_normal((7, d))
    lapse, step = 0.2, 1e-5
    triples = np.array([[a, b, c] for a in range(7) for b in range(7) for c in range(7)])
    distinct = (triples[:, 0] != triples[:, 1]) & (triples[:, 0] != triples[:, 2])
    triples = triples[distinct & (triples[:, 1] != triples[:, 2])].astype(np.int32)
    some = triples[rng.permutation(len(triples))[:60]]
    found = score(HeldRows(kind, some), None, X, lapse, None)
    assert found.statements == 60
    assert found.loss == pytest.approx(_loss(X, lapse, kind, some))
    for i, t in np.ndindex(7, d):
        ahead, behind = X.copy(), X.copy()
        ahead[i, t] += step
        behind[i, t] -= step
        slope = (_loss(ahead, lapse, kind, some) - _loss(behind, lapse, kind, some)) / (2 * step)
        assert found.of_object[i, t] == pytest.approx(slope, abs=1e-5)
    # the information about a place: the mean, over all answers to a question, of the square
    # of the slope of the logarithm of its chance
    question = some[:1]
    a, b, c = question[0]
    answers = [[a, b, c], [a, c, b]] if kind == "closer" else [[a, b, c], [b, a, c], [c, a, b]]
    expected = np.zeros((7, d, d))
    for answer in np.array(answers, dtype=np.int32):
        one = score(HeldRows(kind, answer[None]), None, X, lapse, None)
        slopes = one.of_object[:, :d]
        chance = Map(X, lapse, kind).chosen(answer[None])[0]
        expected += chance * slopes[:, :, None] * slopes[:, None, :]
    low = np.tril_indices(d)
    whole = score(HeldRows(kind, question), None, X, lapse, None).of_object[:, d:]
    assert whole == pytest.approx(expected[:, low[0], low[1]], abs=1e-10)


@pytest.mark.parametrize(("kind", "rest"), [("central", 0.004), ("odd", 0.03), ("closer", 0.03)])
def test_it_is_far_better_than_the_lens_map(tmp_path: Path, kind: str, rest: float) -> None:
    points = np.random.default_rng(0).standard_normal((300, 2))
    S = tl.simulate_statements(points, 60_000, kind=kind, error_rate=0.2, random_state=1)
    tl.write_statements(S, tmp_path / "a.parquet")
    found = map_files(tmp_path / "a.parquet", 2)
    lens = map_files(tmp_path / "a.parquet", 2, method="lensmap")
    left = procrustes(points, found.embedding)[2]
    assert left < rest
    assert left < 0.3 * procrustes(points, lens.embedding)[2]
    assert found.error_rate == pytest.approx(0.2, abs=0.03)
    assert found.predicted == pytest.approx(0.8, abs=0.03)
    assert found.aside == pytest.approx(3000, rel=0.1)
    assert (lens.error_rate, lens.predicted) == (None, None)


@pytest.mark.slow
def test_passes_over_files_go_on_from_a_start_in_memory(tmp_path: Path, monkeypatch) -> None:
    points = np.random.default_rng(0).standard_normal((200, 2))
    S = tl.simulate_statements(points, 40_000, error_rate=0.2, random_state=1)
    names = [f"object {i}" for i in range(200)]
    S = tl.Statements(S.triples, 200, names)
    for i, rows in enumerate(np.split(np.arange(40_000), 4)):
        tl.write_statements(S.take(rows), tmp_path / f"{i}.csv")
    whole = map_files(tmp_path / "*.csv", 2)
    monkeypatch.setattr(streamed, "_MOST_STARTED", 6000)
    monkeypatch.setattr(streamed, "_CHOICE_PASSES", 0)
    start = map_files(tmp_path / "*.csv", 2)
    monkeypatch.setattr(streamed, "_CHOICE_PASSES", 4)
    passes = map_files(tmp_path / "*.csv", 2)
    order = [int(name.split()[1]) for name in passes.names]
    left = [procrustes(points[order], found.embedding)[2] for found in (whole, start, passes)]
    assert left[2] < 0.5 * left[1]
    assert left[2] < 2 * left[0]
    one = map_files(tmp_path / "*.csv", 2, n_threads=1)
    assert np.array_equal(one.embedding, passes.embedding)
    elsewhere = map_files(tmp_path / "*.csv", 2, cluster="local:2")
    assert np.allclose(elsewhere.embedding, passes.embedding)


def _answered(points: np.ndarray, triples: np.ndarray) -> tl.Statements:
    a, b, c = (points[triples[:, j]] for j in range(3))
    sides = [np.linalg.norm(x - y, axis=1) for x, y in ((b, c), (a, c), (a, b))]
    rows, first = np.arange(len(triples)), np.argmax(sides, axis=0)
    central = triples[rows, first]
    triples[rows, first] = triples[:, 0]
    triples[:, 0] = central
    return tl.Statements(triples, len(points))


@pytest.mark.parametrize("design", ["landmarks", "popular"])
def test_objects_may_be_asked_about_unequally(tmp_path: Path, design: str) -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((400, 2))
    if design == "landmarks":  # every other object is compared with twenty alone
        landmarks = np.argsort(rng.random((40_000, 20)), axis=1)[:, :2]
        triples = np.column_stack([rng.integers(20, 400, 40_000), landmarks])
    else:
        often = 1 / np.arange(1, 401)
        triples = rng.choice(400, (40_000, 3), p=often / often.sum())
        a, b, c = triples.T
        triples = triples[(a != b) & (a != c) & (b != c)]
    tl.write_statements(_answered(points, triples), tmp_path / "a.parquet")
    # measured: 0.134 and 0.009, 0.142 and 0.007; 0.92 and 0.48, 0.96 and 0.55 without weights
    lens = map_files(tmp_path / "a.parquet", 2, method="lensmap")
    assert procrustes(points, lens.embedding)[2] < 0.2
    found = map_files(tmp_path / "a.parquet", 2)
    assert procrustes(points, found.embedding)[2] < 0.03


def test_sorted_files_are_no_harm(tmp_path: Path, monkeypatch) -> None:
    points = np.random.default_rng(0).standard_normal((200, 2))
    S = tl.simulate_statements(points, 30_000, random_state=1)
    tl.write_statements(S.take(np.lexsort(S.triples.T[::-1])), tmp_path / "a.parquet")
    monkeypatch.setattr(streamed, "_LADDER_ROWS", 8000)
    monkeypatch.setattr(streamed, "_LADDER_EACH", 1)
    found = map_files(tmp_path / "a.parquet", None)
    assert found.embedding.shape == (200, 2)
    assert procrustes(points, found.embedding)[2] < 0.01


def test_guesses_are_told_as_such(tmp_path: Path) -> None:
    triples = np.argsort(np.random.default_rng(0).random((20_000, 60)), axis=1)[:, :3]
    tl.write_statements(tl.Statements(triples), tmp_path / "a.parquet")
    found = map_files(tmp_path / "a.parquet", None)
    assert found.embedding.shape == (60, 2)
    assert found.predicted == pytest.approx(1 / 3, abs=0.06)
    assert np.isfinite(found.embedding).all()


def test_the_dimension_is_that_of_the_points(tmp_path: Path) -> None:
    for dimension in (2, 3):
        points = np.random.default_rng(0).standard_normal((200, dimension))
        S = tl.simulate_statements(points, 40_000, random_state=1)
        tl.write_statements(S, tmp_path / "a.parquet")
        assert map_files(tmp_path / "a.parquet", None).embedding.shape == (200, dimension)


def test_a_question_falls_on_one_side_whatever_the_answer() -> None:
    rng = np.random.default_rng(0)
    triples = np.argsort(rng.random((5000, 20)), axis=1)[:, :3].astype(np.int32)
    turned = triples[:, [2, 0, 1]]
    low, high = QuestionSample(0.0, 0.3, 5), QuestionSample(0.3, 2.0, 5)

    def among(some: np.ndarray, draw: QuestionSample) -> np.ndarray:
        return np.concatenate(sampled_rows(HeldRows("central", some), None, draw))

    for draw in (low, high):
        one, two = (among(some, draw) for some in (triples, turned))
        assert np.array_equal(one[:, [2, 0, 1]], two)
    parts = [among(triples, draw) for draw in (low, high)]
    assert sum(map(len, parts)) == 5000
    assert len(parts[0]) == pytest.approx(1500, rel=0.1)
    other = among(triples, QuestionSample(0.0, 0.3, 6))
    assert not np.array_equal(other, parts[0])


def test_the_scale_is_that_of_answers_kept_aside() -> None:
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((50, 2))
    triples = np.argsort(rng.random((20_000, 50)), axis=1)[:, :3].astype(np.int32)
    P = Map(X, 0.3, "central").probabilities(triples)
    answer = (P.cumsum(axis=1) < rng.random((len(P), 1))).sum(axis=1).clip(max=2)
    rows = np.arange(len(P))
    chosen = triples[rows, answer]
    triples[rows, answer] = triples[:, 0]
    triples[:, 0] = chosen
    found = HeldOutAnswers("central", triples).tuned(X / 10)
    assert np.linalg.norm(found.X) / np.linalg.norm(X) == pytest.approx(1, abs=0.1)
    assert found.lapse == pytest.approx(0.3, abs=0.05)


def test_rows_are_cut_the_same_way_on_any_number_of_threads(monkeypatch) -> None:
    monkeypatch.setattr(passes, "_ROWS", 100)
    rows = HeldRows("central", np.zeros((1001, 3), dtype=np.int32))
    assert sum(len(part.triples) for part in rows.parts()) == 1001
    assert len(rows.parts()) == 11
