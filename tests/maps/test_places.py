"""New objects on a fitted map, and fits as files."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from scipy import sparse

import trilens as tl
from featured_study import answers, featured, study
from trilens.maps.geometry import procrustes

N = 40


@cache
def line_up():
    """Many answers about 40 objects in the plane, a map of the first 39, and its answers."""
    X = 1.5 * np.random.default_rng(3).standard_normal((N, 2))
    S = answers(X, 4000, 4)
    old = S.take(~(S.triples == N - 1).any(axis=1)).subset(np.arange(N - 1))
    return X, S, old, tl.ChoiceMap(2, l2=0.05, lapses=0.02).fit(old)


def about_the_last(k):
    _, S, _, _ = line_up()
    return S.take(np.flatnonzero((S.triples == N - 1).any(axis=1))[:k])


@pytest.mark.parametrize("k", [5, 50])
def test_a_new_object_lies_where_a_full_refit_puts_it(k):
    """Within the stated error: both maps are laid upon each other by the old objects."""
    _, _, old, M = line_up()
    new = about_the_last(k)
    found = M.place(new)
    assert found.answers.tolist() == [k]
    X = np.vstack([M.embedding_, found.coordinates])
    whole = tl.concatenate([old.subset(np.arange(N - 1)), new])
    refit = tl.ChoiceMap(2, l2=0.05, lapses=0.02, init=X).fit(whole)
    off = procrustes(refit.embedding_, X)[0][N - 1] - (X - X.mean(axis=0))[N - 1]
    assert off @ np.linalg.solve(found.covariance[0], off) < 9.2  # chi-square with 2, at 99 %
    few, many = (np.trace(M.place(about_the_last(size)).covariance[0]) for size in (k, 4 * k))
    assert few > many


def test_two_new_objects_in_one_answer_are_placed_together():
    _, S, _, _ = line_up()
    names_new = np.isin(S.triples, (N - 2, N - 1))
    new, inside = S.take(names_new.any(axis=1)), S.take(~names_new.any(axis=1))
    assert (names_new.sum(axis=1) == 2).any()
    M = tl.ChoiceMap(2, l2=0.05, lapses=0.02).fit(inside.subset(np.arange(N - 2)))
    found, bigger = M.place(new), M.extend(new)
    assert found.names == (str(N - 2), str(N - 1))
    assert bigger.score(new) > 0.5
    np.testing.assert_array_equal(bigger.embedding_[N - 2 :], found.coordinates)
    np.testing.assert_array_equal(bigger.place_errors_[N - 2 :], found.covariance)


def test_an_extended_fit_has_the_new_answers_beside_its_own(tmp_path):
    _, S, _, _ = line_up()
    names = [f"o{i}" for i in range(19)] + ["a"]  # the new object comes first by name
    S = S.subset(np.arange(20))
    raters = np.arange(len(S)) % 7
    S = tl.Statements(S.triples, names=names, raters=raters, kind="central")
    is_new = (S.triples == 19).any(axis=1)
    F = tl.ChoiceMap(2, l2=0.05).fit(S.take(~is_new).subset(np.arange(19))).fit_
    G = F.extend(S.take(is_new))
    assert (G.n_answers, G.names) == (len(S), tuple(names))
    assert G.asked.tolist() == S.appearances.tolist()
    np.testing.assert_array_equal(G.map.X[:19], F.map.X)
    found = [G.medoid(), G.outliers(), G.cluster(), G.hierarchy(), G.distances(), G.reliability()]
    assert found[0].name in tl.medoid(S).candidates
    G.save(tmp_path / "more.fit")
    assert tl.load(tmp_path / "more.fit").medoid().to_dict() == found[0].to_dict()
    unknown = F.extend(tl.Statements(S.take(is_new).triples, names=names, kind="central"))
    assert set(unknown.statements.raters.tolist()) == {"", *"0123456"}


def test_probabilities_are_of_objects_and_raters_by_name():
    _, _, old, _ = line_up()
    names = [f"o{i}" for i in range(N - 1)]
    S = tl.Statements(old.triples, names=names, raters=np.arange(len(old)) % 5, kind="central")
    shuffled = S.subset(np.random.default_rng(0).permutation(N - 1))
    texts = tl.Statements(S.triples, names=names, raters=S.raters.astype(str), kind="central")
    for raters in ("one", "weights"):
        F = tl.ChoiceMap(2, l2=0.05, raters=raters).fit(S).fit_
        for same in (shuffled, texts):
            np.testing.assert_array_equal(F.probabilities(same), F.probabilities(S))
            np.testing.assert_array_equal(F.lapse_of(same), F.lapse_of(S))
        assert F.probabilities(S.triples).shape == (len(S), 3)
        with pytest.raises(tl.errors.ParameterError, match="'z' is not on the map"):
            F.probabilities(tl.Statements([["o1", "o2", "z"]], kind="central"))
    assert len(np.unique(F.lapse_of(S))) == 5


def test_features_place_objects_that_nobody_was_asked_about():
    _, F, S, test = study()
    old = S.take(~(S.triples >= 27).any(axis=1)).subset(np.arange(27))
    M = tl.ChoiceMap(2, l2=0.1, feature_share=0.98).fit(old, features=F[:27])
    found, bigger = M.place(features=F[27:]), M.extend(features=F[27:])
    assert found.names == ("27", "28", "29")
    assert (found.answers == 0).all()
    assert bigger.score(test.take((test.triples >= 27).any(axis=1))) > 0.5
    np.testing.assert_allclose(bigger.linear_part_[:27], M.linear_part_, atol=0.3)
    named = {str(i): F[i] for i in (27, 28, 29)}
    both = M.place(S.take((S.triples >= 27).any(axis=1)), features=named)
    alone, together = (np.trace(each.covariance, axis1=1, axis2=2) for each in (found, both))
    assert (together < alone).all()


def test_what_cannot_be_placed_is_one_line():
    _, _, old, M = line_up()
    new, F = about_the_last(5), featured()
    for model, given, features, said in [
        (M, None, None, "needs answers about new objects"),
        (M, old, None, "are on the map already"),
        (M, new.take([]), None, "no answers"),
        (M, tl.Statements(new.triples, kind="odd"), None, "kind"),
        (M, None, np.ones((1, 3)), "fitted without features"),
        (F, None, np.ones((1, 2)), "2 columns; the map was fitted with 6"),
        (F, None, {"3": np.ones(6)}, "on the map already"),
    ]:
        with pytest.raises(tl.errors.TrilensError, match=said):
            model.place(given, features=features)
    named = tl.Statements([["a", "b", "c"], ["b", "c", "d"]], kind="central")
    four = tl.ChoiceMap(1, l2=0.1).fit(named)
    unknown = tl.Statements([["x", "y", "z"]], kind="central")
    assert four.place(unknown).names == ("x", "y", "z")  # three new ones, placed together


# ---- files


def test_a_loaded_fit_is_the_saved_one(tmp_path):
    _, F, S, _ = study()
    names = [f"o{i}" for i in range(30)]
    raters = tl.Statements(S.triples, 30, names=names, raters=np.arange(150) % 5, kind="central")
    M = tl.ChoiceMap(2, l2=0.1, feature_share=0.9).fit(raters, features=F)
    M.fit_.save(tmp_path / "study.fit")
    L = tl.load(tmp_path / "study.fit")
    assert tl.medoid(tmp_path / "study.fit").to_dict() == M.fit_.medoid().to_dict()
    with pytest.raises(tl.errors.FormatError, match="is a fit already; read it with"):
        tl.fit(tmp_path / "study.fit")
    for name in ("place_cov", "draws", "asked", "dispersion", "plane"):
        np.testing.assert_array_equal(getattr(L, name), getattr(M.fit_, name))
    for name in ("names", "kind", "error_rate_interval", "violations", "log_likelihood"):
        assert getattr(L, name) == getattr(M.fit_, name), name
    assert L.raters.lapses == M.rater_lapses_
    assert L.raters.intervals == M.rater_lapse_intervals_
    np.testing.assert_array_equal(L.map.X, M.embedding_)
    np.testing.assert_array_equal(L.probabilities(raters), M.predict_proba(raters))
    one, other = (each.place(features={"x": F[0] + 0.1}).covariance for each in (L, M))
    np.testing.assert_array_equal(one, other)


def test_sparse_features_and_weights_of_raters_are_kept(tmp_path):
    _, F, S, _ = study()
    given = {"words": sparse.csr_array(np.round(F)), "pictures": F}
    share = {"words": 0.4, "pictures": 0.5}
    M = tl.ChoiceMap(2, l2=0.1, feature_share=share).fit(S, features=given)
    M.fit_.save(tmp_path / "study.fit")
    L = tl.load(tmp_path / "study.fit")
    assert L.features.names == ("words", "pictures")
    assert L.settings.shares == (0.4, 0.5)
    new = {"words": sparse.csr_array(np.round(F[:1])), "pictures": F[:1]}
    np.testing.assert_allclose(L.place(features=new).coordinates, M.place(features=new).coordinates)
    raters = tl.Statements(S.triples, 30, raters=np.arange(150) % 3, kind="central")
    W = tl.ChoiceMap(2, l2=0.1, raters="weights").fit(raters)
    W.fit_.save(tmp_path / "weights.fit")
    loaded = tl.load(tmp_path / "weights.fit")
    np.testing.assert_array_equal(loaded.probabilities(raters), W.predict_proba(raters))


def test_a_file_that_is_no_fit_is_refused(tmp_path):
    _, _, _, M = line_up()
    path = tmp_path / "study.fit"
    M.fit_.save(path)
    whole = path.read_bytes()
    broken = [whole[: len(whole) // 2]]
    for byte in (6, 8, 10):  # the version, the flags and the method of the last member
        damaged = bytearray(whole)
        damaged[whole.rindex(b"PK\x01\x02") + byte] |= 0x60
        broken.append(damaged)
    for content in broken:
        path.write_bytes(content)
        with pytest.raises(tl.errors.FormatError, match="cut short"):
            tl.load(path)
    with pytest.raises(tl.errors.FormatError, match="check the path"):
        tl.load(tmp_path / "none.fit")
    for members in ({"X": np.eye(3)}, {"header": np.array([{"a": 1}], dtype=object)}):
        with path.open("wb") as file:
            np.savez(file, **members)
        with pytest.raises(tl.errors.FormatError, match="no fit"):
            tl.load(path)
    with pytest.raises(tl.errors.FormatError):
        M.fit_.save(tmp_path / "no folder" / "study.fit")
    assert list(tmp_path.iterdir()) == [path]  # whole, or not at all


@pytest.mark.parametrize(("change", "said"), [("version", "newer trilens"), ("X", "was changed")])
def test_a_changed_fit_is_refused(tmp_path, change, said):
    _, _, _, M = line_up()
    path = tmp_path / "study.fit"
    M.fit_.save(path)
    with np.load(path) as archive:
        arrays = dict(archive.items())
    if change == "version":
        header = json.loads(bytes(arrays["header"])) | {"version": 99}
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    else:
        arrays["X"] = arrays["X"] + 1
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(tl.errors.FormatError, match=said):
        tl.load(path)
