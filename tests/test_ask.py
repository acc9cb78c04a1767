"""Every registered question: the same numbers in any order, and wherever the answers lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import trilens as tl
from trilens import analysis, answers as answers_module, ask  # noqa: F401  (registers them all)
from trilens.ask import QUESTIONS, Question
from trilens.errors import ParameterError
from trilens.questions.embed import embed
from trilens.statements import Statements

#: How far numbers may differ between orders, and between memory and passes: rounding alone.
TOLERANCE = 1e-6
#: Of answers `embed` fits two dimensions; a fit found its own by another way, and has two as well.
WITHIN = {"embed": 0.05}
KINDS = ("central", "odd", "closer")
LABELS = ["red", "blue", "red", None] * 4
#: What a question needs beside the answers.
NEEDED: dict[str, dict[str, Any]] = {
    "classify": {"labels": LABELS},
    "cluster": {"n_clusters": 2},
    "neighbors": {"k": 3},
    "stopping": {"goal": "medoid"},
}


#: Questions that look at single answers, which are not kept of files too large to hold.
NEEDS_ANSWERS = ("reliability", "individuals")


def study(kind: str, seed: int = 3) -> Statements:
    """16 objects in two groups, 600 answers of which a tenth are wrong, names in no order."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((16, 2))
    X[8:] += 5.0
    asked = np.array([rng.choice(16, 3, replace=False) for _ in range(600)])
    a, b, c = asked.T

    def far(i: Any, j: Any) -> Any:
        return np.linalg.norm(X[i] - X[j], axis=1)

    rows = np.arange(len(asked))
    if kind == "closer":
        swap = (far(a, b) > far(a, c)) ^ (rng.random(len(asked)) < 0.1)
        triples = np.where(swap[:, None], asked[:, [0, 2, 1]], asked)
    else:
        opposite = np.stack([far(b, c), far(a, c), far(a, b)], axis=1)
        chosen = opposite.argmax(axis=1) if kind == "central" else opposite.argmin(axis=1)
        wrong = rng.random(len(asked)) < 0.1
        chosen = np.where(wrong, rng.integers(3, size=len(asked)), chosen)
        triples = np.stack([asked[rows, (chosen + i) % 3] for i in range(3)], axis=1)
    names = [f"object {i}" for i in rng.permutation(16)]
    return Statements(triples, 16, names=names, kind=kind, raters=[f"r{i % 6}" for i in rows])


def answered(question: Question, data: Any, names: tuple[str, ...], **more: Any) -> Any:
    needed = dict(NEEDED.get(question.name, {}))
    if "labels" in needed:
        own = dict(zip(study("central").names, needed["labels"], strict=True))
        needed["labels"] = [own[name] for name in names]
    if question.name == "embed":
        return embed(data, **needed, **more)
    if "labels" in needed:
        return getattr(tl, question.name)(data, needed.pop("labels"), **needed, **more)
    return getattr(tl, question.name)(data, **needed, **more)


def by_name(result: Any, question: Question, names: tuple[str, ...]) -> dict[str, Any]:
    """What a result says of each object, and everything else, whatever the order of objects."""
    found: dict[str, Any] = {}
    for field in fields(result):
        value = getattr(result, field.name)
        if field.name in question.per_object and value is not None:
            order = np.argsort(names)
            if isinstance(value, np.ndarray):
                found[field.name] = value[..., order]
            else:
                found[field.name] = [value[i] for i in order]
        elif field.name in question.ids:
            ids = np.atleast_1d(value)
            found[field.name] = [names[i] for i in ids]
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
def asked(name: str, kind: str) -> dict[str, Any]:
    """What a question says of the answers."""
    question, S = QUESTIONS[name], study(kind)
    return by_name(answered(question, S, S.names), question, S.names)


@pytest.fixture(scope="module")
def fits(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, tl.Fit]]:
    """Three fits of the same answers: in memory, loaded, and of a file too large to hold."""
    folder = tmp_path_factory.mktemp("fits")

    @cache
    def of(kind: str) -> dict[str, tl.Fit]:
        S = study(kind)
        fitted = tl.fit(S)
        fitted.save(folder / f"{kind}.fit")
        tl.write_statements(S, folder / f"{kind}.csv")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(answers_module, "STREAMED_BYTES", 0)
            streamed = tl.fit(tl.Answers(str(folder / f"{kind}.csv")))
        assert streamed.statements is None
        return {"fit": fitted, "loaded": tl.load(folder / f"{kind}.fit"), "streamed": streamed}

    return of


NAMES = sorted(QUESTIONS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_in_any_order(name: str, kind: str) -> None:
    question, S = QUESTIONS[name], study(kind)
    expected = asked(name, kind)

    @settings(max_examples=2, deadline=None)
    @given(st.integers(0, 2**31))
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        other = S.subset(rng.permutation(16)).take(rng.permutation(len(S)))
        # whether later questions follow from earlier answers hangs on the order of rows
        design = tl.fit(other).design
        if design.adaptive:
            return
        same(expected, by_name(answered(question, other, other.names), question, other.names))

    check()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_in_memory_by_passes_and_from_a_fit(
    name: str, kind: str, fits: Callable[[str], dict[str, tl.Fit]]
) -> None:
    question = QUESTIONS[name]
    if question.of_fit is None:
        return
    for way, fitted in fits(kind).items():
        if way == "streamed" and name in NEEDS_ANSWERS:
            with pytest.raises(ParameterError, match="too large to hold"):
                answered(question, fitted, fitted.names)
            continue
        found = by_name(answered(question, fitted, fitted.names), question, fitted.names)
        same(asked(name, kind), found, WITHIN.get(name, TOLERANCE))


@pytest.mark.parametrize("name", [n for n in NAMES if QUESTIONS[n].by_counting is not None])
def test_the_same_from_counts(name: str) -> None:
    question, S = QUESTIONS[name], study("central")
    if question.of_counts is None:
        return
    method = question.by_counting
    counts = tl.Answers(S).count(pairs=question.needs_pairs)
    expected = by_name(answered(question, S, S.names, method=method), question, S.names)
    found = by_name(answered(question, counts, S.names, method=method), question, S.names)
    # statements know names, raters and the design; what is counted of each object is the same
    counted = {*question.per_object, *question.per_row, *question.ids} - {"low", "high", "names"}
    same(*({key: facts[key] for key in counted & facts.keys()} for facts in (expected, found)))
