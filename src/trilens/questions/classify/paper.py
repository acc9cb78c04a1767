"""The paper's classifiers: Algorithm 3 (lens depth) and Algorithm 4 (the k-RNG)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import generator, one_of, wrong
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.counts import ClassCounts, LabelledPairCounts, count_classes, count_labelled_pairs
from trilens.errors import KindError, LabelError, ParameterError, option
from trilens.lens import NEAREST, RANDOM, algorithm_3, algorithm_4, labelled_values, share_threshold
from trilens.maps.geometry import some_of
from trilens.questions.classify.transductive import (
    TransductiveClassifier,
    alike,
    labels_of_all,
    objects_of,
)
from trilens.questions.classify.tuning import candidates, chosen_parameters, tuned_classifier
from trilens.questions.error_rate import known_error_rate
from trilens.questions.labels import ClassCodes, LabelsLike, encode_labels
from trilens.statements import Kind, Statements, StatementsLike
from trilens.statements.value import statements_to_fit

#: The rule of Liu (1990): the class in which the object is deepest, without learning.
MAX_DEPTH = "max-depth"
#: How a labeled object came by its label.
GIVEN = "given"
#: Cells of a block of objects against the labeled ones; beyond, V is found block by block.
_MOST_CELLS = 1 << 24
#: Of more labeled objects so many are left out, evenly chosen.
_MOST_LEFT_OUT = 2000


class CountedClassifier(TransductiveClassifier):
    """A classifier that learns from counts of ``central`` statements, which can grow."""

    _only: ClassVar[Kind | None] = "central"
    #: What it does, for those who give it statements of another kind.
    _what: ClassVar[str]

    def partial_fit(
        self,
        X: StatementsLike | ClassCounts | LabelledPairCounts,
        y: LabelsLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """As `fit` to all statements so far: those of `fit`, of earlier calls, and these.

        Parameters
        ----------
        X : as in `fit`
            About the same objects each time.
        y : as in `fit`
            Of the first call; later it may be left out, and must not change.
        classes : array, optional
            As scikit-learn passes it. The labels of the first call tell the classes: theirs
            must be among these.
        """
        if isinstance(getattr(self, "error_rate", 0.0), str):
            raise ParameterError("counts do not tell the error rate; give partial_fit a number")
        counted = hasattr(X, "appears")
        given: Any = X
        given = (
            objects_of(given) if counted else statements_to_fit(given, self.kind, self, self._only)
        )
        self._check_kind(given.kind)
        objects, before = given, None
        if hasattr(self, "transduction_"):
            objects, labels = self.statements_, self._labels
            if objects.n_objects != given.n_objects or (
                not counted and objects.names != given.names
            ):
                raise ParameterError(
                    "these statements are about other objects than those before; give all the "
                    "same names, in the same order"
                )
            again = labels if y is None else encode_labels(labels_of_all(X, y), objects.names)
            if again.given != labels.given:
                raise LabelError("y has other labels than before; fit to all statements anew")
            before = self._counted(labels)
        elif y is None:
            raise LabelError("y is missing; the first partial_fit needs the labels")
        else:
            labels = encode_labels(labels_of_all(X, y), given.names)
        if classes is not None and not set(labels.classes.tolist()) <= set(np.ravel(classes)):
            raise LabelError("y has labels that are not among classes; leave classes out")
        more = self._checked(X, labels) if counted else self._count(given, labels)
        self.counts_ = more if before is None else before + more
        return self._fit(objects.take(np.zeros(0, dtype=np.intp)), labels)

    def _counted(self, labels: ClassCodes) -> Any:
        """The counts of what the classifier was fitted to."""
        if self.counts_ is None:
            return self._count(self.statements_, labels)
        return self._checked(self.counts_, labels)

    def _check_kind(self, kind: str) -> None:
        if kind != "central":
            raise KindError(
                f"classification by {self._what} needs statements of kind central, not {kind}; "
                f"maps serve every kind: use {option('method', 'auto')}, or MapClassifier"
            )

    @abstractmethod
    def _count(self, statements: Statements, labels: ClassCodes) -> Any:
        """The counts that the algorithm is made of."""

    @abstractmethod
    def _checked(self, counts: Any, labels: ClassCodes) -> Any:
        """Counts that a caller made, if they are of this kind and under these labels."""


@dataclass(eq=False, repr=False)
class LensDepthClassifier(CountedClassifier):
    """Classification by lens depth with respect to each class (Algorithm 3).

    Every object is described by its estimated lens depth within each class; an ordinary
    classifier works on these K features.

    Parameters
    ----------
    classifier : str or scikit-learn classifier, optional
        ``"knn"`` (the default), ``"svm-linear"`` or ``"svm-gauss"``, as in the paper, tuned
        over its grids by cross-validation; any other classifier; or ``"max-depth"``, the rule
        of the paper's Section 3.1 without learning: the class in which the object is deepest.
    random_state : int, Generator or None
        Of the folds, and of the ties of ``"max-depth"``.
    kind : {"central", "odd", "closer"}, optional
        What was asked, for arrays, which do not tell; by default ``"central"``, which the
        algorithm needs.

    Notes
    -----
    `fit` takes statements of kind ``central``, or their `ClassCounts` under these labels. A
    class with one labeled object has no pair of labeled objects: every depth in it is 0.

    Attributes
    ----------
    classes_ : (K,) array
    features_ : (n_objects, K) array
        LD of every object with respect to every class.
    classifier_ : the fitted classifier
    chosen_parameters_ : dict
        The classifier and what cross-validation chose.
    transduction_ : (n_objects,) array
        The label of every object: as given, or else predicted.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(40, [[0, 0], [9, 0]], random_state=1)
    >>> S = simulate_statements(drawn.points, random_state=2)
    >>> y = ["left" if x < 4.5 else "right" for x in drawn.points[:, 0]]
    >>> model = LensDepthClassifier().fit(S, [*y[:30], *[None] * 10])
    >>> int((model.predict(range(30, 40)) == y[30:]).sum())
    10
    """

    _what = "lens depth"
    classifier: Any = None
    _: KW_ONLY
    random_state: RandomState = 0
    kind: Kind | None = None

    def _learn(self, labels: ClassCodes, wanted: IntArray | None = None) -> IntArray:
        asked = wanted
        if asked is None or self._is_max_depth:  # whose ties are broken for all objects at once
            asked = np.flatnonzero(labels.codes < 0)
        self.features_, fitted, inferred = algorithm_3(
            self._counted(labels), labels.codes, self._train, asked
        )
        self.classifier_ = None if self._is_max_depth else fitted
        self.chosen_parameters_ = chosen_parameters(self._on_top, fitted)
        codes = labels.codes.copy()
        codes[asked] = inferred
        return codes

    @property
    def _on_top(self) -> Any:
        return "knn" if self.classifier is None else self.classifier

    @property
    def _is_max_depth(self) -> bool:
        return isinstance(self.classifier, str) and self.classifier == MAX_DEPTH

    def _train(self, LD: FloatArray, y: IntArray) -> Any:
        """The classifier on top, fitted to the depths of the labeled objects."""
        if self._is_max_depth:
            return _MaxDepth(self.random_state)
        return tuned_classifier(self._on_top, LD[y >= 0], y[y >= 0], self.random_state)

    def _count(self, statements: Statements, labels: ClassCodes) -> ClassCounts:
        return count_classes(statements, labels.codes, len(labels.classes))

    def _checked(self, counts: Any, labels: ClassCodes) -> ClassCounts:
        n_classes = len(labels.classes)
        if not isinstance(counts, ClassCounts):
            raise ParameterError(
                f"Algorithm 3 needs ClassCounts, not {type(counts).__name__}; count_classes() "
                f"makes them"
            )
        same = counts.labels is None or np.array_equal(counts.labels, labels.codes)
        if not same or counts.appears.shape[1] != n_classes:
            raise LabelError(
                "the counts are under other labels than y; count again, with classes numbered "
                "from 0 on in the order of the sorted labels"
            )
        return counts

    def _agreeing(self, labels: ClassCodes, objects: IntArray, k: int) -> FloatArray:
        return alike(self.features_, labels, objects, k).astype(float)


@dataclass(frozen=True)
class _MaxDepth:
    """The rule of Liu (1990): the class in which an object is deepest, without learning."""

    random_state: RandomState
    best_params_: ClassVar[dict[str, Any]] = {}

    def predict(self, LD: FloatArray) -> IntArray:
        """The class of highest depth; of several, one at random."""
        rng = generator(self.random_state)
        highest = LD.max(axis=1, keepdims=True) == LD
        return np.asarray((highest * (1 + rng.random(LD.shape))).argmax(axis=1), dtype=np.int64)


@dataclass(eq=False, repr=False)
class KRNGClassifier(CountedClassifier):
    """Classification by a vote of the neighbors in the estimated k-RNG (Algorithm 4).

    Parameters
    ----------
    k : int, "loo" or sequence of int
        ``"loo"`` takes the k of least leave-one-out error among 1, ..., |L| - 1; a sequence
        names the candidates instead. Every labeled object is left out once, of more than 2000
        so many, where the paper samples twenty: its threshold is then k / (|L| - 2).
    error_rate : float or "estimate"
        The share of wrong answers (Noise model I), for which V is corrected as in eq. (16);
        ``"estimate"`` takes what `trilens.reliability` finds. Where k is chosen by
        leave-one-out it changes which k are tried rather than what comes out.
    alone : {"nearest", "random"}
        What becomes of an object without a labeled object below the threshold: those of least
        V vote, or, as the paper's empty vote has it, a class is drawn at random.
    random_state : int, Generator or None
        Ties of the vote are broken at random.
    kind : {"central", "odd", "closer"}, optional
        What was asked, for arrays, which do not tell; by default ``"central"``, which the
        algorithm needs.

    Notes
    -----
    `fit` takes statements of kind ``central``, or the `LabelledPairCounts` of these labeled
    objects in the order of their ids.

    Attributes
    ----------
    k_ : int
    loo_error_ : float
        The leave-one-out error at ``k_`` (a tie of m classes counts as 1 - 1/m when it holds
        the true one); the average is over all labeled objects.
    loo_errors_ : dict of int to float
        The same for every candidate k.
    error_rate_ : float
    chosen_parameters_ : dict
        ``k``, ``loo_error`` and ``error_rate``.
    classes_, transduction_
        As in `LensDepthClassifier`.
    how_ : (n_objects,) array of str
        ``"given"``; ``"neighbours"``: by the vote; ``"nearest"``: no neighbor in the graph,
        so the labeled objects of least V voted; ``"unknown"``: no statement compares the
        object with two labeled ones, so it gets the most frequent class; ``"random"``: no
        neighbor and ``alone="random"``.

    Examples
    --------
    >>> S = [
    ...     [0, 1, 4],
    ...     [1, 0, 4],
    ...     [2, 3, 5],
    ...     [3, 2, 5],
    ...     [0, 4, 2],
    ...     [2, 5, 1],
    ...     [4, 0, 3],
    ...     [0, 1, 2],
    ...     [1, 0, 3],
    ...     [2, 3, 0],
    ...     [3, 2, 1],
    ... ]
    >>> model = KRNGClassifier(k=1, random_state=0).fit(S, ["a", "a", "b", "b", None, None])
    >>> model.predict([4, 5]).tolist(), model.how_[[0, 4]].tolist()
    (['a', 'b'], ['given', 'neighbours'])
    """

    _what = "the k-RNG"
    k: Any = "loo"
    _: KW_ONLY
    error_rate: Any = 0.0
    alone: str = NEAREST
    random_state: RandomState = 0
    kind: Kind | None = None

    def _prepare(self, statements: Statements) -> None:
        # once: labels that are hidden in turn change nothing about it
        self.error_rate_ = known_error_rate(self.error_rate, statements, self.random_state)

    def _learn(self, labels: ClassCodes, wanted: IntArray | None = None) -> IntArray:
        one_of("alone", self.alone, (NEAREST, RANDOM))
        V = self._values(labels)
        votes_for = np.eye(len(labels.classes), dtype=np.int64)[labels.codes[labels.labelled]]
        self._choose_k(V, labels.labelled, votes_for)
        unlabelled = np.flatnonzero(labels.codes < 0)
        asked = unlabelled if wanted is None else wanted
        votes = np.empty((len(asked), len(labels.classes)), dtype=np.int64)
        self.how_ = np.full(len(labels.codes), GIVEN, dtype="<U10")
        for part in _blocks(len(asked), len(labels.labelled)):
            u = asked[part]
            votes[part], self.how_[u] = algorithm_4(
                V(u), votes_for, self.k_, self.error_rate_, self.alone
            )
        # below one vote: decides between equal votes and nothing else
        rng = generator(self.random_state)
        less = rng.random((len(unlabelled), votes.shape[1]))[np.searchsorted(unlabelled, asked)] / 2
        codes = labels.codes.copy()
        codes[asked] = (votes + less).argmax(axis=1)
        return codes

    def _values(self, labels: ClassCodes) -> Callable[[IntArray], FloatArray]:
        """V of some objects against all labeled ones."""
        labelled = labels.labelled
        if self.counts_ is not None or len(labels.codes) * len(labelled) <= _MOST_CELLS:
            every = labelled_values(self._counted(labels))
            return lambda objects: every[objects]
        # other statements have no part in any V, and each block of rows looks at all of these
        known = labels.codes >= 0
        both = known[self.statements_.triples].sum(axis=1) >= 2
        some = self.statements_.take(np.flatnonzero(both))
        return lambda objects: labelled_values(
            count_labelled_pairs(some, labelled, objects=objects)
        )

    def _choose_k(
        self, V: Callable[[IntArray], FloatArray], labelled: IntArray, votes_for: IntArray
    ) -> None:
        """The k of least leave-one-out error; of equals the smallest."""
        grid = self._grid(len(labelled))
        # without the one that is left out there are |L| - 1 labeled objects
        others = max(len(labelled) - 2, 1)
        thresholds = [float(share_threshold(k, self.error_rate_, others)) for k in grid]
        errors = _leave_one_out(V, labelled, votes_for, thresholds, self.alone)
        self.loo_errors_ = dict(zip(grid, errors, strict=True))
        self.k_ = min(self.loo_errors_, key=lambda k: (self.loo_errors_[k], k))
        self.loo_error_ = self.loo_errors_[self.k_]
        self.chosen_parameters_ = {"k": self.k_, "loo_error": self.loo_error_}
        if self.error_rate_:
            self.chosen_parameters_["error_rate"] = self.error_rate_

    def _count(self, statements: Statements, labels: ClassCodes) -> LabelledPairCounts:
        return count_labelled_pairs(statements, labels.labelled)

    def _checked(self, counts: Any, labels: ClassCodes) -> LabelledPairCounts:
        if not isinstance(counts, LabelledPairCounts):
            raise ParameterError(
                f"Algorithm 4 needs LabelledPairCounts, not {type(counts).__name__}; "
                f"count_labelled_pairs() makes them"
            )
        if not np.array_equal(counts.labelled, labels.labelled):
            raise LabelError(
                "the counts are against other labeled objects than those of y; count again, "
                "with the labeled ids in increasing order"
            )
        return counts

    def _grid(self, n_labelled: int) -> list[int]:
        if isinstance(self.k, str):
            if self.k != "loo":
                raise wrong("k", self.k, "'loo' or whole numbers from 1 on")
            return list(range(1, n_labelled))
        return candidates("k", self.k)


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Rows that are looked at together."""
    size = max(1, _MOST_CELLS // max(n_columns, 1))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _leave_one_out(
    V: Callable[[IntArray], FloatArray],
    labelled: IntArray,
    votes_for: IntArray,
    thresholds: Sequence[float],
    alone: str,
) -> list[float]:
    """The leave-one-out error of every threshold, from V of the labeled objects.

    One sorting of an object's values serves every k: the votes below a threshold are those of
    a first part of the sorted voters.
    """
    n, n_classes = votes_for.shape
    right = np.zeros(len(thresholds))
    left_out = some_of(n, _MOST_LEFT_OUT)
    for part in _blocks(len(left_out), n):
        for i, own in zip(left_out[part], V(labelled[left_out[part]]), strict=True):
            # the object that is left out has no voice in its own vote
            others = np.delete(np.arange(n), i)
            order = others[np.argsort(own[others], kind="stable")]
            ranked = own[order]
            voices = np.zeros((n, n_classes), dtype=np.int64)
            np.cumsum(votes_for[order], axis=0, out=voices[1:])
            # without a neighbor below the threshold those of least V vote, or nobody
            least = np.searchsorted(ranked, ranked[0], side="right") if alone == NEAREST else 0
            votes = voices[np.maximum(np.searchsorted(ranked, thresholds, side="left"), least)]
            winners = votes == votes.max(axis=1, keepdims=True)
            right += winners[:, votes_for[i].argmax()] / winners.sum(axis=1)
    errors: list[float] = (1 - right / len(left_out)).tolist()
    return errors
