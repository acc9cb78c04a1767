"""What the answers say about given labels: errors by leave-one-out, labels contradicted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray, Progress
from trilens.counts import count_classes, count_labelled_pairs, count_pairs
from trilens.depth import class_depth
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.tasks.classify.labels import Labels, encode_labels
from trilens.tasks.classify.tuning import NEIGHBOURS

#: Every labelled object is left out by itself up to this many; beyond, in this many groups.
MOST_ROUNDS = 60


@dataclass(frozen=True)
class MethodCheck:
    """One way to classify, tried on the labelled objects.

    Attributes
    ----------
    method : {"lensmap", "krng", "depth"}
    error : float
        The share of labelled objects that the method gets wrong when they are left out. The
        parameters used on an object are those that do best on all others.
    parameters : dict
        The parameters that do best on all labelled objects, used on the unlabelled ones.
    predicted : (n,) array
        A class for every object: of a labelled one the class found when it was left out.
    """

    method: str
    error: float
    parameters: dict[str, int]
    predicted: AnyArray


@dataclass(frozen=True)
class Contradiction:
    """A label that the answers contradict.

    Attributes
    ----------
    index, name
        The object.
    label, answers_say
        Its label, and the class that the best method finds without it.
    methods : int
        How many of the methods say the same class.
    """

    index: int
    name: str
    label: Any
    answers_say: Any
    methods: int


@dataclass(frozen=True)
class LabelCheck:
    """Every method's error, the best method's predictions, and the labels contradicted.

    Attributes
    ----------
    classes : (K,) array
    methods : tuple of MethodCheck
        The least error first.
    baseline : float
        The error of always naming the most frequent class.
    contradictions : tuple of Contradiction
        Those that most methods agree on first.
    left_out : int
        How many labelled objects were left out at a time.
    """

    classes: AnyArray
    methods: tuple[MethodCheck, ...]
    baseline: float
    contradictions: tuple[Contradiction, ...]
    left_out: int

    @property
    def best(self) -> MethodCheck:
        """The method of least error."""
        return self.methods[0]


@dataclass(frozen=True)
class _Votes:
    """What a method finds under each option: classes of labelled objects left out, of others."""

    method: str
    options: list[dict[str, int]]
    held_out: IntArray
    others: IntArray


def check_labels(
    statements: StatementsLike,
    y: Iterable[Any],
    *,
    max_components: int = 8,
    random_state: int = 0,
    progress: Progress | None = None,
) -> LabelCheck:
    """Classify every object by every method that serves the kind of statements.

    ``lensmap``: k nearest labelled objects on the lens map, for every kind of statement.
    ``krng`` (Algorithm 4) and ``depth`` (Algorithm 3 with k-NN on the class depths): for
    ``central`` statements. A labelled object is classified as if it had no label, so the class
    depths are counted anew without it; with more than sixty labelled objects they are left out
    in sixty random groups. Ties of a vote go to the class of the nearest voter.

    Parameters
    ----------
    statements : Statements or (m, 3) array
    y : (n_objects,) iterable
        Labels; -1 or None for an unlabelled object.
    max_components : int
        The lens map's dimension is the best of 1 to this many.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(30, [[0, 0], [9, 0]], random_state=1)
    >>> S = simulate_statements(drawn.points, random_state=2)
    >>> y = drawn.labels.tolist()
    >>> y[0], y[1] = 1 - y[0], None
    >>> found = check_labels(S, y)
    >>> found.best.method, 0 in [c.index for c in found.contradictions]
    ('lensmap', True)
    >>> bool(found.best.predicted[1] == drawn.labels[1])
    True
    """
    given = as_statements(statements)
    labels = encode_labels(y, given.n_objects)
    groups = _groups(labels, random_state)
    tried: list[Callable[[], _Votes]] = [partial(_by_map, given, labels, groups, max_components)]
    if given.kind == "central":
        tried += [partial(_by_graph, given, labels, groups)]
        tried += [partial(_by_depth, given, labels, groups)]
    found = []
    for done, votes in enumerate(tried):
        found.append(_choose(votes(), labels))
        if progress is not None:
            progress((done + 1) / len(tried))
    found.sort(key=lambda check: check.error)
    size = np.bincount(labels.codes[labels.labelled])
    return LabelCheck(
        classes=labels.classes,
        methods=tuple(found),
        baseline=float(1 - size.max() / size.sum()),
        contradictions=_contradictions(found, labels, given.names),
        left_out=len(groups[0]),
    )


def _groups(labels: Labels, random_state: int) -> list[IntArray]:
    """Which labelled objects, as positions among the labelled ones, are left out together."""
    positions = np.arange(len(labels.labelled))
    if len(positions) <= MOST_ROUNDS:
        return list(positions[:, None])
    shuffled = np.random.default_rng(random_state).permutation(positions)
    return [np.sort(group) for group in np.array_split(shuffled, MOST_ROUNDS)]


def _by_map(statements: Statements, labels: Labels, groups: list[IntArray], most: int) -> _Votes:
    from scipy.spatial.distance import cdist

    from trilens.maps import LensMap

    most = min(most, statements.n_objects - 1)
    pairs = count_pairs(statements)
    labelled = labels.labelled
    outside = np.flatnonzero(labels.codes < 0)
    options, held_out, others = [], [], []
    # of options that do equally well the first is taken: the usual ones come first
    for dim in [*range(2, most + 1), 1]:
        points = LensMap(dim).fit_transform(pairs)
        inside = _hide(cdist(points[labelled], points[labelled]), groups)
        beyond = cdist(points[outside], points[labelled])
        for k, first, second in _neighbour_votes(inside, beyond, labels, groups):
            options.append({"dim": dim, "neighbours": k})
            held_out.append(first)
            others.append(second)
    return _Votes("lensmap", options, np.array(held_out), np.array(others))


def _by_depth(statements: Statements, labels: Labels, groups: list[IntArray]) -> _Votes:
    from scipy.spatial.distance import cdist

    labelled = labels.labelled
    n_classes = len(labels.classes)
    inside = np.full((len(labelled), len(labelled)), np.inf)
    for group in groups:
        codes = labels.codes.copy()
        codes[labelled[group]] = -1
        features = class_depth(count_classes(statements, codes, n_classes))[labelled]
        inside[group] = cdist(features[group], features)
    features = class_depth(count_classes(statements, labels.codes, n_classes))
    outside = np.flatnonzero(labels.codes < 0)
    beyond = cdist(features[outside], features[labelled])
    options, held_out, others = [], [], []
    for k, first, second in _neighbour_votes(_hide(inside, groups), beyond, labels, groups):
        options.append({"neighbours": k})
        held_out.append(first)
        others.append(second)
    return _Votes("depth", options, np.array(held_out), np.array(others))


def _by_graph(statements: Statements, labels: Labels, groups: list[IntArray]) -> _Votes:
    labelled = labels.labelled
    counts = count_labelled_pairs(statements, labelled)
    value = np.full(counts.third.shape, np.inf)
    np.divide(counts.third, counts.appears, out=value, where=counts.appears > 0)
    n = len(labelled)
    inside = _hide(value[labelled], groups)
    outside = np.flatnonzero(labels.codes < 0)
    options, held_out, others = [], [], []
    candidates = range(1, n) if n <= 200 else np.unique(np.geomspace(1, n - 1, 100).astype(int))
    for k in candidates:
        options.append({"k": int(k)})
        held_out.append(_threshold_vote(inside, k / max(n - len(groups[0]) - 1, 1), labels))
        others.append(_threshold_vote(value[outside], k / (n - 1), labels))
    return _Votes("krng", options, np.array(held_out), np.array(others))


def _hide(distance: FloatArray, groups: list[IntArray]) -> FloatArray:
    """Infinite distance between objects that are left out together, and to oneself."""
    hidden = distance.copy()
    for group in groups:
        hidden[np.ix_(group, group)] = np.inf
    return hidden


def _neighbour_votes(
    inside: FloatArray, beyond: FloatArray, labels: Labels, groups: list[IntArray]
) -> Iterator[tuple[int, IntArray, IntArray]]:
    most = len(inside) - len(groups[0])
    for k in sorted(NEIGHBOURS, key=lambda k: abs(k - 3)):
        if k <= most:
            yield k, _nearest_vote(inside, k, labels), _nearest_vote(beyond, k, labels)


def _nearest_vote(distance: FloatArray, k: int, labels: Labels) -> IntArray:
    codes = labels.codes[labels.labelled]
    order = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return _majority(codes[order], np.ones(order.shape), len(labels.classes))


def _threshold_vote(value: FloatArray, threshold: float, labels: Labels) -> IntArray:
    """Algorithm 4's vote: the neighbours with V below the threshold, or else the nearest."""
    codes = labels.codes[labels.labelled]
    order = np.argsort(value, axis=1, kind="stable")
    ranked = np.take_along_axis(value, order, axis=1)
    votes = (ranked < threshold) | (ranked == ranked[:, :1]) & (ranked[:, :1] >= threshold)
    return _majority(codes[order], votes.astype(np.float64), len(labels.classes))


def _majority(codes: IntArray, weight: FloatArray, n_classes: int) -> IntArray:
    votes = np.zeros((len(codes), n_classes))
    rows = np.repeat(np.arange(len(codes)), codes.shape[1])
    np.add.at(votes, (rows, codes.ravel()), weight.ravel())
    # far less than a vote for the nearest voter's class: it decides ties and nothing else
    if codes.shape[1]:
        votes[np.arange(len(codes)), codes[:, 0]] += 0.5
    return np.asarray(votes.argmax(axis=1), dtype=np.int64)


def _choose(votes: _Votes, labels: Labels) -> MethodCheck:
    """The options that do best, for each labelled object on all others than itself."""
    labelled = labels.labelled
    truth = labels.codes[labelled]
    wrong = votes.held_out != truth
    total = wrong.sum(axis=1)
    # an object's own outcome has no say in the option that is used on it
    best_without = (total[:, None] - wrong).argmin(axis=0)
    found = votes.held_out[best_without, np.arange(len(labelled))]
    best = int(total.argmin())
    codes = labels.codes.copy()
    codes[labelled] = found
    codes[labels.codes < 0] = votes.others[best]
    return MethodCheck(
        method=votes.method,
        error=float((found != truth).mean()),
        parameters=votes.options[best],
        predicted=labels.classes[codes],
    )


def _contradictions(
    checks: list[MethodCheck], labels: Labels, names: tuple[str, ...]
) -> tuple[Contradiction, ...]:
    best = checks[0].predicted
    found = []
    for i in labels.labelled:
        label = labels.classes[labels.codes[i]]
        if best[i] != label:
            same = sum(bool(check.predicted[i] == best[i]) for check in checks)
            found.append(Contradiction(int(i), names[i], label.item(), best[i].item(), same))
    return tuple(sorted(found, key=lambda c: (-c.methods, c.index)))
