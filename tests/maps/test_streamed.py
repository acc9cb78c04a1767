"""The lens map and the fit by passes over files, held to those of the same answers in memory."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import procrustes

import trilens as tl
from trilens import answers
from trilens.errors import ParameterError
from trilens.maps import fitted, lens_map, passes
from trilens.maps.lens_map import stream_lens_map
from trilens.maps.map import Map
from trilens.maps.passes import HeldRows, product, sampled_rows, score


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_the_product_is_that_of_the_pair_counts(kind: str) -> None:
    rng = np.random.default_rng(0)
    triples = rng.permuted(np.tile(np.arange(12), (200, 1)), axis=1)[:, :3].astype(np.int32)
    pairs = tl.count_pairs(tl.Statements(triples, 12, kind=kind))
    X = rng.standard_normal((12, 3)).astype(np.float32)
    E = 0.7 * pairs.third - 0.2 * (pairs.appears - pairs.third)
    found = product(HeldRows(kind, triples), None, X, 0.7, -0.2)
    assert found == pytest.approx(E @ X, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_it_is_as_good_as_the_lens_map_of_all_pairs(tmp_path: Path, kind: str) -> None:
    points = np.random.default_rng(0).standard_normal((500, 2))
    S = tl.simulate_statements(points, 50_000, kind=kind, random_state=1)
    tl.write_statements(S, tmp_path / "a.parquet")
    found, _, counts = stream_lens_map(tl.Answers(tmp_path / "a.parquet"), 2)
    assert counts.statements == 50_000
    assert np.abs(found.mean(axis=0)).max() < 1e-4
    # measured: 0.0740 and 0.0748, 0.2364 and 0.2379, 0.1464 and 0.1470
    full = procrustes(points, tl.LensMap(2).fit_transform(S))[2]
    assert procrustes(points, found)[2] < 1.05 * full


# ---- the estimators, where the answers are too large to hold --------------------------------


@pytest.fixture
def large(tmp_path: Path, monkeypatch) -> tl.Answers:
    """Answers in a file that counts as too large."""
    points = np.random.default_rng(0).standard_normal((40, 2))
    S = tl.simulate_statements(points, 6000, error_rate=0.1, random_state=1)
    S = tl.Statements(S.triples, 40, [f"object {i}" for i in range(40)], kind="central")
    tl.write_statements(S, tmp_path / "large.csv")
    monkeypatch.setattr(answers, "STREAMED_BYTES", 100)
    return tl.Answers(tmp_path / "large.csv")


def test_the_fit_of_large_files_is_that_of_the_same_answers_in_memory(large: tl.Answers) -> None:
    assert not large.held
    found, S = tl.fit(large), tl.read_statements(large.source)
    held = tl.fit(S)
    assert (found.statements, found.n_answers) == (None, 6000)
    assert found.map.n_components == held.map.n_components == 2
    order = [found.names.index(name) for name in S.names]
    np.testing.assert_allclose(found.map.X[order], held.map.X, atol=1e-9)
    assert found.error_rate == pytest.approx(held.error_rate)
    assert found.error_rate_interval == pytest.approx(held.error_rate_interval)
    np.testing.assert_allclose(found.place_cov[order], held.place_cov, rtol=1e-6)
    np.testing.assert_allclose(found.draws[:, order], held.draws, atol=1e-6)
    np.testing.assert_allclose(found.residual.mean[order], held.residual.mean, atol=1e-9)
    M = tl.ChoiceMap(2, l2=0.1).fit(large)
    assert np.array_equal(M.transform(S), tl.ChoiceMap(2, l2=0.1).fit_transform(S))
    assert M.predict_proba(S).shape == (6000, 3)
    with pytest.raises(ParameterError, match="sample_weight needs answers that are held"):
        tl.ChoiceMap(2).fit(large, sample_weight=np.ones(6000))


@pytest.mark.parametrize("first", ["", "eve"])  # some are not known, or all are
def test_raters_of_large_files_count_as_in_memory(tmp_path: Path, monkeypatch, first: str) -> None:
    points = np.random.default_rng(0).standard_normal((14, 2))
    S = tl.simulate_statements(points, 900, sampling="replacement", error_rate=0.2)
    raters = np.array(["bob", first, "ann", "Zoë", "10", "9"])[np.arange(900) % 6]
    S = tl.Statements(S.triples, 14, kind="central", raters=raters)
    tl.write_statements(S, tmp_path / "a.csv")
    held = tl.fit(tmp_path / "a.csv", n_components=2)
    monkeypatch.setattr(answers, "STREAMED_BYTES", 0)
    large = tl.fit(tmp_path / "a.csv", n_components=2)
    assert large.statements is None
    assert np.array_equal(large.map.X, held.map.X)
    assert large.overdispersion == held.overdispersion
    assert list(large.raters.lapses.values()) == list(held.raters.lapses.values())
    large.save(tmp_path / "study.fit")
    again = tl.load(tmp_path / "study.fit")
    assert large.raters.by_name.lapses == again.raters.by_name.lapses == {}
    assert again.design.largest_rater is None
    with pytest.raises(ParameterError, match="raters='weights' cannot be fitted"):
        tl.fit(tmp_path / "a.csv", raters="weights")
    M = tl.ChoiceMap(2, raters="auto").fit(tl.Answers(tmp_path / "a.csv"))
    assert (M.raters_, M.rater_weights_, M.rater_gain_) == ("one", {}, None)


def test_a_lens_map_of_large_files_needs_no_statements(large: tl.Answers, monkeypatch) -> None:
    S = tl.read_statements(large.source)
    M = tl.LensMap(2).fit(large)
    assert large._statements is None
    assert np.array_equal(M.embedding_, tl.LensMap(2).fit(S).embedding_)
    assert M.transform(S).shape == (40, 2)
    monkeypatch.setattr(lens_map, "SMOOTHED_OBJECTS", 20)
    many = tl.LensMap(2).fit(large)
    assert np.array_equal(many.embedding_, stream_lens_map(large, 2)[0])
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
    S, fitted = given.read(), Map(2).fit(given)
    assert np.array_equal(fitted.embedding_, Map(2).fit(S).embedding_)
    assert fitted.score(given) == fitted.score(S)
    share = tl.violations(fitted.embedding_, given, kind="central")
    for same in (S, S.to_frame()):
        assert tl.violations(fitted.embedding_, same) == share


# ---- sums over statements -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
@pytest.mark.parametrize(
    ("d", "length"), [(1, "distance"), (2, "distance"), (3, "distance"), (2, "student")]
)
def test_the_slopes_and_the_information_are_those_of_the_model(
    kind: str, d: int, length: str
) -> None:
    rng = np.random.default_rng(d)
    model, step = Map(rng.standard_normal((7, d)), 0.2, kind, length, 1.5), 1e-5
    every = np.array(list(permutations(range(7), 3)), dtype=np.int32)
    some = every[rng.permutation(len(every))[:60]]

    def loss(X: np.ndarray) -> float:
        return -float(np.log(model.at(X).chosen(some)).sum())

    found = score(HeldRows(kind, some), None, model)
    assert found.loss == pytest.approx(loss(model.X))
    for i, t in np.ndindex(7, d):
        move = np.zeros((7, d))
        move[i, t] = step
        slope = (loss(model.X + move) - loss(model.X - move)) / (2 * step)
        assert found.of_object[i, t] == pytest.approx(slope, abs=1e-5)
    # the information about a place: the mean, over all answers to a question, of the square
    # of the slope of the logarithm of its chance
    a, b, c = some[0]
    answers = [[a, b, c], [a, c, b]] if kind == "closer" else [[a, b, c], [b, a, c], [c, a, b]]
    expected = np.zeros((7, d, d))
    for answer in np.array(answers, dtype=np.int32)[:, None]:
        slopes = score(HeldRows(kind, answer), None, model).of_object[:, :d]
        expected += model.chosen(answer)[0] * slopes[:, :, None] * slopes[:, None, :]
    low = np.tril_indices(d)
    whole = score(HeldRows(kind, some[:1]), None, model).of_object[:, d:]
    assert whole == pytest.approx(expected[:, low[0], low[1]], abs=1e-10)


def test_passes_over_all_answers_go_on_from_a_part_of_them(tmp_path: Path, monkeypatch) -> None:
    points = np.random.default_rng(0).standard_normal((200, 2))
    S = tl.simulate_statements(points, 40_000, error_rate=0.2, random_state=1)
    names = [f"object {i}" for i in range(200)]
    S = tl.Statements(S.triples, 200, names, kind="central")
    for i, rows in enumerate(np.split(np.arange(40_000), 4)):
        tl.write_statements(S.take(rows), tmp_path / f"{i}.csv")
    whole = tl.fit(S, n_components=2)
    monkeypatch.setattr(fitted, "MOST_FITTED", 6000)
    held = tl.fit(S, n_components=2)
    assert 5000 < len(held.sample) < 7000
    monkeypatch.setattr(fitted, "_MOST_PASSES", 0)
    start = tl.fit(S, n_components=2)
    left = [procrustes(points, found.map.X)[2] for found in (whole, start, held)]
    assert left[2] < 0.5 * left[1]
    assert left[2] < 2 * left[0]
    monkeypatch.setattr(fitted, "_MOST_PASSES", 4)
    monkeypatch.setattr(answers, "STREAMED_BYTES", 100)
    files = tl.fit(tl.Answers(tmp_path / "*.csv"), n_components=2)
    order = [files.names.index(name) for name in names]
    np.testing.assert_allclose(files.map.X[order], held.map.X, atol=1e-6)
    with pytest.raises(ParameterError, match="sample_weight is for up to 6,000 answers"):
        tl.ChoiceMap(2).fit(S, sample_weight=np.ones(40_000))


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
    tl.write_statements(tl.simulate.answer(triples, points), tmp_path / "a.parquet")
    # measured: 0.134 and 0.009, 0.142 and 0.007; 0.92 and 0.48, 0.96 and 0.55 without weights
    lens, _, _ = stream_lens_map(tl.Answers(tmp_path / "a.parquet"), 2)
    assert procrustes(points, lens)[2] < 0.2
    found = tl.fit(tmp_path / "a.parquet", n_components=2)
    assert procrustes(points, found.map.X)[2] < 0.03


def test_a_question_is_in_the_sample_or_not_whatever_the_answer() -> None:
    rng = np.random.default_rng(0)
    triples = np.argsort(rng.random((5000, 200)), axis=1)[:, :3].astype(np.int32)

    def sampled(some: np.ndarray, share: float) -> np.ndarray:
        ((rows, *_),) = sampled_rows(HeldRows("central", some), None, share)
        return rows

    one, two = (sampled(some, 0.3) for some in (triples, triples[:, [2, 0, 1]]))
    assert np.array_equal(one[:, [2, 0, 1]], two)
    assert len(one) == pytest.approx(1500, rel=0.1)
    assert len(sampled(triples, 1.0)) == 5000


def test_rows_are_cut_the_same_way_on_any_number_of_threads(monkeypatch) -> None:
    monkeypatch.setattr(passes, "_ROWS", 100)
    rows = HeldRows("central", np.zeros((1001, 3), dtype=np.int32))
    assert sum(len(part.triples) for part in rows.parts()) == 1001
    assert len(rows.parts()) == 11
