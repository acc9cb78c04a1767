"""How well the labels can be learnt from the answers, and which of them the answers contradict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import generator
from trilens._typing import BoolArray, IntArray
from trilens.tasks.classify.labels import Labels

if TYPE_CHECKING:
    from trilens.tasks.classify.transduction import TransductiveClassifier

#: Every labelled object is left out by itself up to this many; beyond, in ten groups.
MOST_ROUNDS = 60
_GROUPS = 10
#: Labels count as learnable when chance would do as well less often than this.
SIGNIFICANCE = 0.02
#: How often labels are dealt out anew, and among how many objects at most.
_DEALS, _MOST_DEALT = 999, 2000
#: A label is contradicted when at most this share of so many neighbours have it.
FEW_AGREE = 0.25
NEAREST, NEAREST_OF_FEW = 11, 7


@dataclass(frozen=True)
class LabelCheck:
    """What a classifier says of labelled objects whose labels it was not shown.

    Attributes
    ----------
    codes : (n_labelled,) array of int
        The class found for each labelled object when its label was hidden.
    error : float
        The share of these that differ from the labels.
    baseline : float
        The error of always naming the most frequent class.
    p_value : float
        How often chance would do as well: the larger of two shares. Naming classes without
        looking would be right so often (binomial law); labels dealt out anew among the same
        objects would agree as often with those of their nearest (on maps only). Errors on
        neighbours come together, so that the first alone is too small.
    learnable : bool
        Whether the answers say something about the labels at all.
    contradicted : (n_labelled,) array of bool
        Whether the answers contradict the label: the labels can be learnt, another class was
        found, and of the nearest labelled objects (11, or 7 where fewer than 40 objects are
        labelled) at most a quarter have the label; on the choice map, in the mean over maps
        of answers drawn anew. The k-RNG knows no nearest: there another class is enough. An
        object that is alone in its class is not contradicted.
    left_out : int
        How many labels were hidden at a time.
    """

    codes: IntArray
    error: float
    baseline: float
    p_value: float
    learnable: bool
    contradicted: BoolArray
    left_out: int


def check_labels(
    model: TransductiveClassifier, labels: Labels, random_state: Any = 0
) -> LabelCheck:
    """Hide the labels in turn, and learn and choose everything from the others alone.

    Parameters
    ----------
    model : TransductiveClassifier
        Fitted to the statements and these labels; it is fitted again without the map.
    """
    from copy import copy

    from scipy.special import bdtrc

    labelled = labels.labelled
    truth = labels.codes[labelled]
    found = np.empty(len(labelled), dtype=np.int64)
    groups = _groups(len(labelled), random_state)
    learner = copy(model)  # what it learns on the way is not the model's
    for group in groups:
        codes = labels.codes.copy()
        codes[labelled[group]] = -1
        if len(np.unique(codes[codes >= 0])) < 2:
            found[group] = np.bincount(codes[codes >= 0], minlength=len(labels.classes)).argmax()
        else:
            found[group] = learner._learn(Labels(codes, labels.classes))[labelled[group]]
    right = int((found == truth).sum())
    most = np.bincount(truth).max() / len(truth)
    p_value = float(bdtrc(right - 1, len(truth), most)) if right else 1.0
    p_value = max(p_value, _dealt_anew(model, labels, random_state))
    learnable = p_value < SIGNIFICANCE
    return LabelCheck(
        codes=found,
        error=1 - right / len(truth),
        baseline=float(1 - most),
        p_value=p_value,
        learnable=learnable,
        contradicted=_clearly_other(model, labels, found) if learnable else found != found,
        left_out=len(groups[0]),
    )


def _dealt_anew(model: TransductiveClassifier, labels: Labels, random_state: Any) -> float:
    """How often labels dealt out at random agree as well with those of their neighbours."""
    rng = generator(random_state)
    if len(labels.labelled) > _MOST_DEALT:
        some = rng.choice(labels.labelled, _MOST_DEALT, replace=False)
        hidden = np.full_like(labels.codes, -1)
        hidden[some] = labels.codes[some]
        labels = Labels(hidden, labels.classes)
    own = labels.codes[labels.labelled]
    nearest = model._neighbours(labels, _nearest_of(len(own)))
    if nearest is None:
        return 0.0

    def agreement(codes: IntArray) -> int:
        return int((codes[nearest] == codes[:, None]).sum())

    seen = agreement(own)
    as_well = sum(agreement(rng.permutation(own)) >= seen for _ in range(_DEALS))
    return (1 + as_well) / (1 + _DEALS)


def _nearest_of(n_labelled: int) -> int:
    return NEAREST if n_labelled >= 40 else NEAREST_OF_FEW


def _clearly_other(model: TransductiveClassifier, labels: Labels, found: IntArray) -> BoolArray:
    """Where another class was found, and hardly any neighbour speaks for the label."""
    labelled = labels.labelled
    own = labels.codes[labelled]
    size = np.bincount(own, minlength=len(labels.classes))
    other: BoolArray = (found != own) & (size[own] > 1)
    nearest = _nearest_of(len(labelled))
    if other.any():
        agreeing = model._agreeing(labels, labelled[other], nearest)
        if agreeing is not None:
            # a small class cannot have half of so many neighbours
            could = np.minimum(nearest, 2 * (size - 1))[own[other]]
            other[other] = agreeing <= FEW_AGREE * could
    return other


def _groups(n: int, random_state: Any) -> list[IntArray]:
    """Which of n labelled objects are left out together."""
    positions = np.arange(n)
    if n <= MOST_ROUNDS:
        return list(positions[:, None])
    shuffled = generator(random_state).permutation(positions)
    return [np.sort(group) for group in np.array_split(shuffled, _GROUPS)]
