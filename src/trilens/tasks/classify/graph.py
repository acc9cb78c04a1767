"""`KRNGClassifier`: Algorithm 4, with k by exhaustive leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trilens._parameters import generator, shown, whole_number
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.counts import count_labelled_pairs
from trilens.errors import ParameterError
from trilens.tasks.classify.labels import Labels
from trilens.tasks.classify.transduction import TransductiveClassifier, central_only

#: How an object came by its label.
GIVEN, NEIGHBOURS, NEAREST, UNKNOWN = "given", "neighbours", "nearest", "unknown"


class KRNGClassifier(TransductiveClassifier):
    """Classification by a vote of the neighbours in the estimated k-RNG (Algorithm 4).

    Parameters
    ----------
    k : int, "loo" or sequence of int
        ``"loo"`` takes the k of least leave-one-out error among 1, ..., |L| - 1; a sequence
        names the candidates instead. Every labelled object is left out once, where the paper
        samples twenty of them: its threshold is then k / (|L| - 2).
    random_state : int, Generator or None
        Ties of the vote are broken at random.

    Attributes
    ----------
    k_ : int
    loo_error_ : float
        The leave-one-out error at ``k_`` (a tie of m classes counts as 1 - 1/m when it holds
        the true one); the average is over all labelled objects.
    loo_errors_ : dict of int to float
        The same for every candidate k.
    chosen_parameters_ : dict
        ``k`` and ``loo_error``.
    classes_, transduction_
        As in `LensDepthClassifier`.
    how_ : (n_objects,) array of str
        ``"given"``; ``"neighbours"``: by the vote; ``"nearest"``: no neighbour in the graph,
        so the labelled objects of least V voted; ``"unknown"``: no statement compares the
        object with two labelled ones, so it gets the most frequent class.

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

    def __init__(self, k: Any = "loo", random_state: Any = None) -> None:
        self.k = k
        self.random_state = random_state

    def _check_kind(self, kind: str) -> None:
        central_only(kind, "classification by the k-RNG")

    def _learn(self, labels: Labels) -> IntArray:
        labelled = labels.labelled
        n_labelled = len(labelled)
        candidates = self._candidates(n_labelled)
        counts = count_labelled_pairs(self.statements_, labelled)
        value = np.full(counts.third.shape, np.inf)
        np.divide(counts.third, counts.appears, out=value, where=counts.appears > 0)
        of_class = np.eye(len(labels.classes), dtype=np.int64)[labels.codes[labelled]]
        self.loo_errors_ = _leave_one_out(
            value[labelled], of_class, candidates, max(n_labelled - 2, 1)
        )
        self.k_ = min(self.loo_errors_, key=lambda k: (self.loo_errors_[k], k))
        self.loo_error_ = self.loo_errors_[self.k_]
        self.chosen_parameters_ = {"k": self.k_, "loo_error": self.loo_error_}

        unlabelled = np.flatnonzero(labels.codes < 0)
        codes = labels.codes.copy()
        how = np.full(len(codes), GIVEN, dtype="<U10")
        votes, how[unlabelled] = _votes(value[unlabelled], of_class, self.k_ / (n_labelled - 1))
        rng = generator(self.random_state)
        # below one vote: decides between equal votes and nothing else
        codes[unlabelled] = (votes + rng.random(votes.shape) / 2).argmax(axis=1)
        self.how_ = how
        return codes

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


def _leave_one_out(
    value: FloatArray, of_class: IntArray, candidates: list[int], denominator: int
) -> dict[int, float]:
    """The leave-one-out error of every k, from V of the labelled objects among themselves.

    One sorting of an object's values serves every k: the votes below a threshold are those of
    a first part of the sorted voters.
    """
    n, n_classes = of_class.shape
    thresholds = np.array(candidates) / denominator
    right = np.zeros(len(candidates))
    for i in range(n):
        # the object that is left out has no voice in its own vote
        others = np.delete(np.arange(n), i)
        order = others[np.argsort(value[i, others], kind="stable")]
        ranked = value[i, order]
        voices = np.zeros((n, n_classes), dtype=np.int64)
        np.cumsum(of_class[order], axis=0, out=voices[1:])
        # without a neighbour below the threshold those of least V vote
        least = np.searchsorted(ranked, ranked[0], side="right")
        votes = voices[np.maximum(np.searchsorted(ranked, thresholds, side="left"), least)]
        winners = votes == votes.max(axis=1, keepdims=True)
        right += winners[:, of_class[i].argmax()] / winners.sum(axis=1)
    return dict(zip(candidates, (1 - right / n).tolist(), strict=True))


def _votes(value: FloatArray, of_class: IntArray, threshold: float) -> tuple[IntArray, AnyArray]:
    """Votes of the labelled objects with V < threshold, or of the nearest where there are none."""
    near = value < threshold
    how = np.full(len(value), NEIGHBOURS, dtype="<U10")
    alone = ~near.any(axis=1)
    if alone.any():
        least = np.nanmin(value[alone], axis=1, keepdims=True)
        how[alone] = np.where(np.isfinite(least[:, 0]), NEAREST, UNKNOWN)
        # where even the least is infinite, all labelled objects vote: the most frequent class
        near[alone] = value[alone] == least
    return near.astype(np.int64) @ of_class, how
