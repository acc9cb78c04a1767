"""Wrong uses that people try: each message says what was given, and what to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import trilens as tl
from trilens import plots
from trilens.errors import TrilensError

X = np.random.default_rng(0).normal(size=(8, 2))
S = tl.simulate_statements(X, 50)
TRIPLES = np.array(S.triples)
FRAME = pd.DataFrame({"central": ["a"], "other_1": ["b"], "other_2": ["c"]})
MAP = tl.LensMap(2).fit(S)


class LazyFrame:
    """A table of polars that is not computed yet, as it looks from outside."""

    columns = FRAME.columns

    def collect(self) -> pd.DataFrame:
        return FRAME


@dataclass(frozen=True)
class Tensor:
    """What PyTorch's tensors are asked for, as they answer."""

    values: np.ndarray
    has_gradient: bool = False
    is_floating_point: bool = True
    size: int = 8
    is_empty: bool = False

    @property
    def dtype(self) -> Tensor:
        return self

    def element_size(self) -> int:
        return self.size

    def detach(self) -> Tensor:
        return replace(self, has_gradient=False)

    def cpu(self) -> Tensor:
        if self.is_empty:
            raise RuntimeError("Cannot copy out of meta tensor; no data!")
        return self

    def float(self) -> Tensor:
        return replace(self, values=self.values.astype(np.float32), size=4)

    def numpy(self) -> np.ndarray:
        if self.has_gradient:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        if self.size < 4:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Tensor]:
        return (replace(self, values=row) for row in self.values)


#: What is no collection of statements, and what the message has to say.
STRANGE: dict[str, tuple[Any, str, str]] = {
    "None": (None, "got None", "give Statements"),
    "path": ("answers.csv", "the path 'answers.csv'", r"trilens.Answers\(path\)"),
    "Path": (Path("answers.csv"), "answers.csv", r"trilens.read_statements\(path\)"),
    "lazy": (LazyFrame(), "a LazyFrame", r"give .collect\(\)"),
    "generator": ((row for row in TRIPLES), "a generator", r"give list\("),
    "zip": (zip([0], [1], [2], strict=True), "a zip", r"give list\("),
    "sparse": (sp.csr_array(TRIPLES), r"a csr_array of shape \(50, 3\)", r".toarray\(\)"),
    "map": (MAP, r"got LensMap\(\)", "model="),
    "class": (tl.SOE, "trilens.maps.embedding.SOE", "give Statements"),
    "set": ({(0, 1, 2)}, "a set", "a list of rows"),
    "number": (5, "got 5 of type int", "give Statements"),
    "function": (len, "built-in function len", "give Statements"),
    "pair": ((TRIPLES, np.ones(50)), "questions and answers", "from_responses"),
    "one row": ([0, 1, 2], r"shape \(3,\)", r"\[\[a, b, c\]\]"),
    "distances": (np.abs(X[:, None] - X).sum(axis=2), r"shape \(8, 8\)", "trilens.exact"),
    "points": (X, r"shape \(8, 2\)", "metric="),
    "vectors": (np.c_[X, X[:, :1]], "float64", "trilens.exact"),
    "column": (pd.Series(["a", "b"]), "the Series", "statements need three"),
    "no data": (Tensor(np.zeros((2, 3)), is_empty=True), "the Tensor", r"\(m, 3\) array"),
}
#: Of these the first four take no paths.
TAKERS = (
    tl.Statements,
    MAP.score,
    lambda given: tl.ChoiceMap(2).fit(given),
    lambda given: tl.LensDepthOutlierDetector().fit(given),
    lambda given: tl.Answers(given).read(),
    tl.medoid,
    tl.lens_depth,
    tl.count_pairs,
    tl.analyze,
)


@pytest.mark.parametrize("given", STRANGE)
def test_what_is_no_collection_of_statements(given: str) -> None:
    value, seen, advice = STRANGE[given]
    for take in TAKERS[:4] if given in ("path", "Path") else TAKERS:
        refused(lambda take=take: take(value), seen).match(advice)


def refused(call: Callable[[], Any], said: str) -> pytest.ExceptionInfo[TrilensError]:
    with pytest.raises(TrilensError, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)
    return caught


#: What was called, and what the message has to say.
REFUSED = (
    (
        lambda: tl.Statements(TRIPLES, names=["a", "b"], kind="central"),
        "2 names, but .* ids up to 7.*at least 8 objects",
    ),
    *(
        (lambda given=given: tl.read_statements(given), f"a file, got {type(given).__name__}")
        for given in (FRAME, S, None)
    ),
    (lambda: tl.violations(MAP, S), "LensMap.*embedding_"),
    (lambda: tl.evaluate(S, embedding=MAP), "LensMap.*embedding_"),
    (lambda: tl.evaluate(S, {"mine": MAP}), "LensMap.*embedding_"),
    (lambda: tl.simulate_statements(MAP, 10), "LensMap.*embedding_"),
    (lambda: tl.exact.lens_depth(S), r"got Statements.*trilens\.lens_depth"),
    (lambda: tl.exact.medoid(None), "got None"),
    (lambda: plots.object_map(tl.LensMap(3).fit(S)), r"\(8, 3\).*n_components=2"),
    (lambda: plots.object_map(tl.SOE(2)), "SOE.*embedding_ once it is fitted"),
    (lambda: plots.sorted_depths(S), "depth is Statements"),
    *(
        (lambda draw=draw: draw(S), rf"trilens\.{function}.*got Statements")
        for draw, function in (
            (plots.tree, "hierarchy"),
            (plots.rater_map, "individuals"),
            (plots.group_maps, "compare_groups"),
            (plots.rater_intervals, "reliability"),
            (plots.ceiling_bar, "reliability"),
            (lambda given: plots.models_against_ceiling([given]), "evaluate"),
        )
    ),
)


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_is_given_in_place_of_another_thing(call: Callable[[], Any], said: str) -> None:
    refused(call, said)


@pytest.mark.parametrize(
    "tensor", [Tensor(X, has_gradient=True), Tensor(np.round(X, 2).astype(np.float32), size=2)]
)
def test_tensors_are_arrays(tensor: Tensor) -> None:
    array = tensor.values.astype(np.float64)
    D = tl.exact.dissimilarities(array)
    found, plain = (tl.evaluate(S, embedding=given) for given in (tensor, array))
    assert found.to_dict() == plain.to_dict()
    assert tl.violations(tensor, S) == tl.violations(array, S)
    assert tl.simulate_statements(tensor, 30) == tl.simulate_statements(array, 30)
    np.testing.assert_array_equal(
        tl.exact.lens_depth(tensor, metric="euclidean"), tl.exact.lens_depth(D)
    )
    assert plots.object_map(tensor).collections[0].get_offsets().tolist() == array.tolist()
    by_name = dict(zip(S.names, tensor, strict=True))
    assert tl.evaluate(S, embedding=by_name).log_loss == plain.log_loss
    triples = Tensor(TRIPLES, is_floating_point=False)
    assert tl.Statements(triples, kind="central") == tl.Statements(TRIPLES, kind="central")
    places = [
        tl.ChoiceMap(2, l2=1.0, feature_share=0.5).fit(S, features=given).embedding_
        for given in (tensor, array)
    ]
    np.testing.assert_array_equal(*places)


def test_labels_may_be_a_tensor_and_what_is_plotted_a_fitted_map() -> None:
    labels = [0, 1, 0, 1, -1, 0, 1, 1]
    found = tl.classify(S, Tensor(np.array(labels), is_floating_point=False), method="lensmap")
    assert found.given == tl.classify(S, labels, method="lensmap").given
    assert set(found.found.tolist()) <= {0, 1}
    named = tl.Statements(TRIPLES, names=list("abcdefgh"), kind="central")
    ax = plots.object_map(tl.LensMap(2).fit(named))
    assert [text.get_text() for text in ax.texts] == list("abcdefgh")
    assert len(plots.graph_drawing(MAP, tl.k_rng(S, 3)).collections) == 2
