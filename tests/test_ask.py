"""Every registered question: the same numbers in any order, and wherever the answers lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trilens as tl
from trilens import analysis, answers as answers_module, ask  # noqa: F401  (registers them all)
from trilens.ask import QUESTIONS
from trilens.errors import ParameterError
from trilens.questions.embed import embed
from trilens.statements import Statements

#: How far numbers may differ between orders, and between memory and passes: rounding alone.
TOLERANCE = 1e-6
#: Of answers `embed` fits two dimensions; a fit found its own by another way, and has two as well.
WITHIN = {"embed": 0.05}
KINDS = ("central", "odd", "closer")
N = 12
LABELS = ["red", "blue", "red", None] * 3
#: What a question needs beside the answers.
NEEDED: dict[str, dict[str, Any]] = {
    "classify": {"y": LABELS},
    "cluster": {"n_clusters": 2},
    "neighbors": {"k": 3},
}
#: Questions that take long: of one kind here, of the others in the slow tests; each is asked of
#: the fits that were saved alone.
EXPENSIVE = ("cluster", "hierarchy", "outliers")
ASKED = [
    pytest.param(name, kind, marks=[pytest.mark.slow] * (name in EXPENSIVE and kind != "odd"))
    for name in sorted(QUESTIONS)
    for kind in KINDS
]


@cache
def study(kind: str) -> Statements:
    """12 objects in two groups, 240 answers of which a tenth are wrong, names in no order."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, 2))
    X[N // 2 :] += 5.0
    shown = np.array([rng.choice(N, 3, replace=False) for _ in range(240)])
    S = tl.simulate.answer(shown, X, kind=kind, error_rate=0.1, random_state=4)
    names = [f"object {i}" for i in rng.permutation(N)]
    return Statements(S.triples, N, names, kind, raters=[f"r{i % 6}" for i in range(len(S))])


def answered(name: str, data: Any, names: tuple[str, ...], **more: Any) -> dict[str, Any]:
    """What a result says of each object, and everything else, whatever the order of objects."""
    question = QUESTIONS[name]
    parameters = {**NEEDED.get(name, {}), **more}
    if "y" in parameters:
        own = dict(zip(study("central").names, LABELS, strict=True))
        parameters["y"] = [own[name] for name in names]
    result = (embed if name == "embed" else getattr(tl, name))(data, **parameters)
    order = np.argsort(names)
    found: dict[str, Any] = {}
    for field in fields(result):
        value = getattr(result, field.name)
        if field.name in question.per_object and value is not None:
            is_array = isinstance(value, np.ndarray)
            found[field.name] = value[..., order] if is_array else [value[i] for i in order]
        elif field.name in question.per_row:
            found[field.name] = value[order]
        elif field.name in question.per_pair and isinstance(value, np.ndarray):
            found[field.name] = value[order][:, order]
        elif field.name in question.ids:
            found[field.name] = [names[i] for i in np.atleast_1d(value)]
        elif isinstance(value, (int, float, str, bool)) or value is None:
            found[field.name] = value
    return found


def same(one: dict[str, Any], other: dict[str, Any], within: float = TOLERANCE) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        told = other[name]
        if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
            np.testing.assert_allclose(told, value, atol=within, err_msg=name)
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(told, value, err_msg=name)
        else:
            assert told == value, name


@cache
def fitted(kind: str) -> tl.Fit:
    return tl.fit(study(kind))


@cache
def asked(name: str, kind: str) -> dict[str, Any]:
    """What a question says of the answers; of one kind it fits them itself."""
    data = study(kind) if kind == "central" else fitted(kind)
    return answered(name, data, study(kind).names)


@cache
def shuffled(kind: str) -> tl.Fit:
    """A fit of the same answers, with objects and rows in another order."""
    rng = np.random.default_rng(KINDS.index(kind))
    S = study(kind)
    found = tl.fit(S.subset(rng.permutation(N)).take(rng.permutation(len(S))))
    # whether later questions follow from earlier answers hangs on the order of rows
    assert not found.design.adaptive
    return found


@pytest.fixture(scope="module")
def fits(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[tl.Fit]]:
    """Three fits of the same answers: in memory, loaded, and of a file too large to hold."""
    folder = tmp_path_factory.mktemp("fits")

    @cache
    def of(kind: str) -> list[tl.Fit]:
        S = study(kind)
        held = fitted(kind)
        held.save(folder / f"{kind}.fit")
        tl.write_statements(S, folder / f"{kind}.csv")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(answers_module, "STREAMED_BYTES", 0)
            streamed = tl.fit(tl.Answers(str(folder / f"{kind}.csv")))
        assert streamed.statements is None
        streamed.save(folder / f"{kind}-streamed.fit")
        loaded = (tl.load(folder / f"{kind}{part}.fit") for part in ("", "-streamed"))
        return [held, streamed, *loaded]

    return of


@pytest.mark.parametrize(("name", "kind"), ASKED)
def test_the_same_in_any_order(name: str, kind: str) -> None:
    other = shuffled(kind)
    found = answered(name, other, other.names)
    same(asked(name, kind), found, WITHIN.get(name, TOLERANCE))


@pytest.mark.parametrize(("name", "kind"), ASKED)
def test_the_same_in_memory_by_passes_and_from_a_fit(
    name: str, kind: str, fits: Callable[[str], list[tl.Fit]]
) -> None:
    # of the kinds that are not central the fit in memory was asked already
    for fit in fits(kind)[2 if name in EXPENSIVE else int(kind != "central") :]:
        if name == "neighbors" and fit.source is None:
            with pytest.raises(ParameterError, match="saved without its answers"):
                answered(name, fit, fit.names)
            continue
        found = answered(name, fit, fit.names)
        same(asked(name, kind), found, WITHIN.get(name, TOLERANCE))


@pytest.mark.parametrize("name", [n for n in sorted(QUESTIONS) if QUESTIONS[n].of_counts])
def test_the_same_from_counts(name: str) -> None:
    question, S = QUESTIONS[name], study("central")
    S = Statements(S.triples, N, S.names, "central")
    counts = tl.Answers(S).count(pairs=question.needs_pairs)
    expected, found = (
        answered(name, data, S.names, method=question.by_counting) for data in (S, counts)
    )
    # statements know names and the design; what is counted of each object is the same
    counted = {*question.per_object, *question.per_row, *question.ids} - {"low", "high", "names"}
    same(*({key: facts[key] for key in counted & facts.keys()} for facts in (expected, found)))


#: Which answers of a file are used.
SELECTED: tuple[dict[str, Any], ...] = ({}, {"where": "cond = u"}, {"where": "seconds > 1"})


@pytest.mark.parametrize("used", SELECTED)
def test_a_file_is_the_same_in_memory_and_by_passes(
    used: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the first answers are to chosen questions, under another condition, at times without end
    S, file = study("central"), tmp_path / "answers.csv"
    rows = [
        [
            *S[i],
            ["random", "adaptive"][i < 20 or i % 3 == 0],
            "vu"[i % 4 > 0],
            ["inf", 2][i % 5 > 0],
        ]
        for i in range(len(S))
    ]
    head = ["central", "other_1", "other_2", "reason", "cond", "seconds"]
    file.write_text("\n".join(",".join(map(str, row)) for row in [head, *rows]))

    def road() -> tuple[tl.Fit, tl.Answers]:
        return tl.fit(tl.Answers(file, **used)), tl.Answers(file, **used)

    fit, held = road()
    depths, counts, pairs = tl.lens_depth(held), tl.count_central(held), tl.count_pairs(held)
    monkeypatch.setattr(answers_module, "STREAMED_BYTES", 0)
    streamed, passed = road()
    assert (streamed.n_answers, streamed.names) == (fit.n_answers, fit.names)
    np.testing.assert_allclose(streamed.map.X, fit.map.X, atol=TOLERANCE)
    assert tl.count_central(passed).names == counts.names == held.read().names
    np.testing.assert_array_equal(tl.lens_depth(passed), depths)
    np.testing.assert_array_equal(tl.count_pairs(passed).third, pairs.third)


def test_reliability_is_the_same_in_any_order() -> None:
    S = tl.simulate.study(16, 300, n_raters=6, random_state=1).statements
    rng = np.random.default_rng(2)
    T = S.take(rng.permutation(len(S))).subset(rng.permutation(16))
    assert tl.reliability(S).to_dict() == tl.reliability(T).to_dict()


@pytest.mark.parametrize("method", ["krng", "lensmap"])
def test_groups_of_counts_are_those_of_statements_in_any_order(method: str) -> None:
    S = tl.simulate.study(24, 1200).statements
    shuffled = S.take(np.random.default_rng(1).permutation(len(S))).subset(np.arange(24)[::-1])
    every, *counted = (
        tl.cluster(data, 3, method) for data in (S, tl.count_pairs(S), tl.count_pairs(shuffled))
    )
    for found in counted:
        assert dict(zip(found.names, found.labels, strict=True)) == dict(
            zip(every.names, every.labels, strict=True)
        )
