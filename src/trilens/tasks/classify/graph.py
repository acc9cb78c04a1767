"""`KRNGClassifier`: Algorithm 4, with k by exhaustive leave-one-out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from trilens._parameters import generator, one_of, shown, whole_number
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.counts import LabelledPairCounts, count_labelled_pairs
from trilens.errors import LabelError, ParameterError
from trilens.graph import share_threshold
from trilens.statements import Statements
from trilens.tasks.classify.labels import Labels
from trilens.tasks.classify.transduction import CountedClassifier, central_only
from trilens.tasks.error_rate import known_error_rate

#: How an object came by its label.
GIVEN, NEIGHBOURS, NEAREST, UNKNOWN = "given", "neighbours", "nearest", "unknown"
#: Cells of a block of objects against the labelled ones; beyond, V is found block by block.
_MOST_CELLS = 1 << 24
#: Of more labelled objects so many are left out, evenly chosen.
_MOST_LEFT_OUT = 2000
#: The paper's rule for an object without a neighbour below the threshold.
RANDOM = "random"


class KRNGClassifier(CountedClassifier):
    """Classification by a vote of the neighbours in the estimated k-RNG (Algorithm 4).

    Parameters
    ----------
    k : int, "loo" or sequence of int
        ``"loo"`` takes the k of least leave-one-out error among 1, ..., |L| - 1; a sequence
        names the candidates instead. Every labelled object is left out once, of more than 2000
        so many, where the paper samples twenty: its threshold is then k / (|L| - 2).
    error_rate : float or "estimate"
        The share of wrong answers (Noise model I), for which V is corrected as in eq. (16);
        ``"estimate"`` takes what `trilens.reliability` finds. Where k is chosen by
        leave-one-out it changes which k are tried rather than what comes out.
    alone : {"nearest", "random"}
        What becomes of an object without a labelled object below the threshold: those of least
        V vote, or, as the paper's empty vote has it, a class is drawn at random.
    random_state : int, Generator or None
        Ties of the vote are broken at random.

    Notes
    -----
    `fit` takes statements of kind ``central``, or the `LabelledPairCounts` of these labelled
    objects in the order of their ids.

    Attributes
    ----------
    k_ : int
    loo_error_ : float
        The leave-one-out error at ``k_`` (a tie of m classes counts as 1 - 1/m when it holds
        the true one); the average is over all labelled objects.
    loo_errors_ : dict of int to float
        The same for every candidate k.
    error_rate_ : float
    chosen_parameters_ : dict
        ``k``, ``loo_error`` and ``error_rate``.
    classes_, transduction_
        As in `LensDepthClassifier`.
    how_ : (n_objects,) array of str
        ``"given"``; ``"neighbours"``: by the vote; ``"nearest"``: no neighbour in the graph,
        so the labelled objects of least V voted; ``"unknown"``: no statement compares the
        object with two labelled ones, so it gets the most frequent class; ``"random"``: no
        neighbour and ``alone="random"``.

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

    def __init__(
        self,
        k: Any = "loo",
        *,
        error_rate: Any = 0.0,
        alone: str = NEAREST,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.error_rate = error_rate
        self.alone = alone
        self.random_state = random_state

    def _check_kind(self, kind: str) -> None:
        central_only(kind, "classification by the k-RNG")

    def _prepare(self, statements: Statements) -> None:
        # once: labels that are hidden in turn change nothing about it
        self.error_rate_ = known_error_rate(self.error_rate, statements, self.random_state)

    def _learn(self, labels: Labels) -> IntArray:
        one_of("alone", self.alone, (NEAREST, RANDOM))
        labelled = labels.labelled
        n_labelled = len(labelled)
        candidates = self._candidates(n_labelled)
        values = self._values(labels)
        of_class = np.eye(len(labels.classes), dtype=np.int64)[labels.codes[labelled]]
        # rounded once, and so are the shares: equal fractions are equal floats
        thresholds = [
            float(share_threshold(k, self.error_rate_, max(n_labelled - 2, 1))) for k in candidates
        ]
        errors = _leave_one_out(values, labelled, of_class, thresholds, self.alone)
        self.loo_errors_ = dict(zip(candidates, errors, strict=True))
        self.k_ = min(self.loo_errors_, key=lambda k: (self.loo_errors_[k], k))
        self.loo_error_ = self.loo_errors_[self.k_]
        self.chosen_parameters_ = {"k": self.k_, "loo_error": self.loo_error_}
        if self.error_rate_:
            self.chosen_parameters_["error_rate"] = self.error_rate_

        unlabelled = np.flatnonzero(labels.codes < 0)
        codes = labels.codes.copy()
        how = np.full(len(codes), GIVEN, dtype="<U10")
        threshold = float(share_threshold(self.k_, self.error_rate_, n_labelled - 1))
        votes = np.empty((len(unlabelled), len(labels.classes)), dtype=np.int64)
        for part in _blocks(len(unlabelled), n_labelled):
            rows = unlabelled[part]
            votes[part], how[rows] = _votes(values(rows), of_class, threshold, self.alone)
        rng = generator(self.random_state)
        # below one vote: decides between equal votes and nothing else
        codes[unlabelled] = (votes + rng.random(votes.shape) / 2).argmax(axis=1)
        self.how_ = how
        return codes

    def _values(self, labels: Labels) -> Callable[[IntArray], FloatArray]:
        """V of some objects against all labelled ones, infinite where nothing is known."""
        labelled = labels.labelled
        if self.counts_ is not None or len(labels.codes) * len(labelled) <= _MOST_CELLS:
            every = _shares(self._counted(labels))
            return lambda objects: every[objects]
        # other statements have no part in any V, and each block of rows looks at all of these
        known = labels.codes >= 0
        both = known[self.statements_.triples].sum(axis=1) >= 2
        some = self.statements_.take(np.flatnonzero(both))
        return lambda objects: _shares(count_labelled_pairs(some, labelled, objects=objects))

    def _refuse_unknown(self) -> None:
        if isinstance(self.error_rate, str):
            raise ParameterError("counts do not tell the error rate; give partial_fit a number")

    def _count(self, statements: Statements, labels: Labels) -> LabelledPairCounts:
        return count_labelled_pairs(statements, labels.labelled)

    def _checked(self, counts: Any, labels: Labels) -> LabelledPairCounts:
        if not isinstance(counts, LabelledPairCounts):
            raise ParameterError(
                f"Algorithm 4 needs LabelledPairCounts, not {type(counts).__name__}; "
                f"count_labelled_pairs() makes them"
            )
        if not np.array_equal(counts.labelled, labels.labelled):
            raise LabelError(
                "the counts are against other labelled objects than those of y; count again, "
                "with the labelled ids in increasing order"
            )
        return counts

    def _candidates(self, n_labelled: int) -> list[int]:
        if isinstance(self.k, str):
            if self.k != "loo":
                raise ParameterError(
                    f"k is {shown(self.k)}; it must be 'loo' or whole numbers from 1 on"
                )
            return list(range(1, n_labelled))
        several = isinstance(self.k, Sequence) or getattr(self.k, "ndim", 0) == 1
        listed = self.k if several else [self.k]
        if not len(listed):
            raise ParameterError("k names no candidates; give at least one")
        return [whole_number("k", k, least=1) for k in listed]


def _shares(counts: LabelledPairCounts) -> FloatArray:
    value = np.full(counts.third.shape, np.inf)
    np.divide(counts.third, counts.appears, out=value, where=counts.appears > 0)
    return value


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Rows that are looked at together."""
    size = max(1, _MOST_CELLS // max(n_columns, 1))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _leave_one_out(
    values: Callable[[IntArray], FloatArray],
    labelled: IntArray,
    of_class: IntArray,
    thresholds: Sequence[float],
    alone: str,
) -> list[float]:
    """The leave-one-out error of every threshold, from V of the labelled objects.

    One sorting of an object's values serves every k: the votes below a threshold are those of
    a first part of the sorted voters.
    """
    n, n_classes = of_class.shape
    right = np.zeros(len(thresholds))
    left_out = np.arange(n)
    if n > _MOST_LEFT_OUT:
        left_out = np.linspace(0, n - 1, _MOST_LEFT_OUT).astype(np.int64)
    for part in _blocks(len(left_out), n):
        for i, own in zip(left_out[part], values(labelled[left_out[part]]), strict=True):
            # the object that is left out has no voice in its own vote
            others = np.delete(np.arange(n), i)
            order = others[np.argsort(own[others], kind="stable")]
            ranked = own[order]
            voices = np.zeros((n, n_classes), dtype=np.int64)
            np.cumsum(of_class[order], axis=0, out=voices[1:])
            # without a neighbour below the threshold those of least V vote, or nobody
            least = np.searchsorted(ranked, ranked[0], side="right") if alone == NEAREST else 0
            votes = voices[np.maximum(np.searchsorted(ranked, thresholds, side="left"), least)]
            winners = votes == votes.max(axis=1, keepdims=True)
            right += winners[:, of_class[i].argmax()] / winners.sum(axis=1)
    errors: list[float] = (1 - right / len(left_out)).tolist()
    return errors


def _votes(
    value: FloatArray, of_class: IntArray, threshold: float, alone: str
) -> tuple[IntArray, AnyArray]:
    """Votes of the labelled objects with V < threshold; where there are none, as ``alone`` says."""
    near = value < threshold
    how = np.full(len(value), NEIGHBOURS, dtype="<U10")
    empty = ~near.any(axis=1)
    if alone == RANDOM:
        how[empty] = RANDOM
    elif empty.any():
        least = np.nanmin(value[empty], axis=1, keepdims=True)
        how[empty] = np.where(np.isfinite(least[:, 0]), NEAREST, UNKNOWN)
        # where even the least is infinite, all labelled objects vote: the most frequent class
        near[empty] = value[empty] == least
    return near.astype(np.int64) @ of_class, how
