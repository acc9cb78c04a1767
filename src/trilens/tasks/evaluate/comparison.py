"""Several models beside each other: do they differ, and about what?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from trilens._parameters import seed_of, shown
from trilens._tabular import Tabular
from trilens._typing import FloatArray, IntArray
from trilens.errors import ParameterError
from trilens.statements import Statements
from trilens.statements.columns import as_list
from trilens.tasks.evaluate.clusters import Clusters, clusters_of
from trilens.tasks.evaluate.evaluation import Evaluation, bootstrap

_FLIPS = 9999
#: Objects that are listed for two models, from so many answers on.
_LISTED, _LEAST = 5, 10


@dataclass(frozen=True)
class Difference:
    """Two models.

    Attributes
    ----------
    first, second : str
    difference, low, high : float
        The accuracy of the first less that of the second, with its 95 % interval.
    p_value : float
        Of no difference for raters and questions like these: Student's test with the variance
        of two-way clusters (see `Evaluation`). Where fewer than eight raters are known: how
        often the sum of differences would be as large if for each question either model were
        as likely to be the better one, a test by random signs.
    adjusted : float
        The same for all pairs of models together (Holm, 1979).
    disagree : float
        The share of answers that only one of them gives.
    objects : tuple of dict
        Where they differ most: ``object``, ``difference`` over the answers about it, their
        number, and by how many standard errors it is from the difference of all.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    disagree: float
    objects: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return {**asdict(self), "objects": list(self.objects)}


@dataclass(frozen=True)
class Comparison(Tabular):
    """Models in one table.

    Attributes
    ----------
    models : tuple of Evaluation
        The most accurate first.
    differences : tuple of Difference
        Of all pairs, the better one first.
    """

    models: tuple[Evaluation, ...]
    differences: tuple[Difference, ...]

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each model."""
        rows = [model.columns() for model in self.models]
        return {key: [row[key][0] for row in rows] for key in rows[0]}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens evaluate --json`` prints them."""
        return {
            "models": [model.to_dict() for model in self.models],
            "differences": [found.to_dict() for found in self.differences],
        }


def compare_models(evaluations: Sequence[Evaluation], *, random_state: int = 0) -> Comparison:
    """Put evaluations of the same statements beside each other.

    Examples
    --------
    >>> from trilens.simulate import gaussian, simulate_statements
    >>> from trilens.tasks.evaluate import evaluate
    >>> X = gaussian(30, 2, random_state=0).points
    >>> S = simulate_statements(X, 1000, random_state=1)
    >>> blurred = X + np.random.default_rng(2).normal(size=X.shape)
    >>> models = [evaluate(S, embedding=blurred, name="blurred"), evaluate(S, embedding=X)]
    >>> found = compare_models(models)
    >>> [model.name for model in found.models], found.differences[0].p_value
    (['model', 'blurred'], 0.0001)
    """
    listed = as_list(evaluations, "evaluations")
    if not listed or not all(isinstance(each, Evaluation) for each in listed):
        raise ParameterError(f"evaluations is {shown(evaluations)}; it must be a list of them")
    names = [each.name for each in listed]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ParameterError(f"two models have the name {twice[0]!r}; give each its own (name=)")
    S = listed[0].statements
    if any(not _same(S, each.statements) for each in listed[1:]):
        raise ParameterError(
            "the evaluations are of different statements; evaluate all models on the same ones"
        )
    seed = seed_of(random_state)
    models = sorted(listed, key=lambda each: -each.accuracy)
    clusters = clusters_of(S)
    rng = np.random.default_rng([seed, 10])
    found = []
    for a, b in combinations(models, 2):
        gap = a.right - b.right
        found.append((a, b, gap, *_tested(gap, clusters, seed, rng)))
    adjusted = _holm([each[-1] for each in found])
    return Comparison(
        tuple(models),
        tuple(
            Difference(
                first=a.name,
                second=b.name,
                difference=float(gap.mean()),
                low=low,
                high=high,
                p_value=p,
                adjusted=together,
                disagree=float(np.abs(gap).mean()),
                objects=_where(S, gap),
            )
            for (a, b, gap, low, high, p), together in zip(found, adjusted, strict=True)
        ),
    )


def _same(one: Statements, other: Statements) -> bool:
    return one is other or (
        one.kind == other.kind
        and one.names == other.names
        and np.array_equal(one.triples, other.triples)
    )


def _tested(
    gap: FloatArray, clusters: Clusters, seed: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """The interval of the mean, and the p-value of its being 0."""
    variance = 0.0 if clusters.rater is None else clusters.variance(gap)
    if variance == 0.0:  # no raters; or all differences are equal, and signs alone can tell
        copies = bootstrap(gap[:, None], clusters.question, seed)[:, 0]
        low, high = np.quantile(copies, [0.025, 0.975])
        return float(low), float(high), _by_signs(gap, clusters.question, rng)
    from scipy.special import stdtr, stdtrit

    mean, error = float(gap.mean()), float(np.sqrt(variance))
    reach = float(stdtrit(clusters.freedom, 0.975)) * error
    p_value = 2 * float(stdtr(clusters.freedom, -abs(mean) / error))
    return max(mean - reach, -1.0), min(mean + reach, 1.0), p_value


def _by_signs(gap: FloatArray, cluster: IntArray, rng: np.random.Generator) -> float:
    sums = np.bincount(cluster, gap)
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    own, as_much, done = abs(float(sums.sum())), 0, 0
    step = max(1, min(_FLIPS, 20_000_000 // len(sums)))
    while done < _FLIPS:
        count = min(step, _FLIPS - done)
        signs = rng.integers(0, 2, size=(count, len(sums)), dtype=np.int8) * 2 - 1
        as_much += int((np.abs(signs @ sums) >= own * (1 - 1e-9)).sum())
        done += count
    return (1 + as_much) / (1 + _FLIPS)


def _holm(p_values: list[float]) -> list[float]:
    order = np.argsort(p_values, kind="stable")
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, p_values[i] * (len(p_values) - rank)))
        adjusted[i] = largest
    return adjusted


def _where(statements: Statements, gap: FloatArray) -> tuple[dict[str, Any], ...]:
    n = statements.n_objects
    ids = statements.triples.ravel()
    count = np.bincount(ids, minlength=n)
    mean = np.bincount(ids, np.repeat(gap, 3), n) / np.maximum(count, 1)
    spread = max(float(gap.std()), 1e-12)
    beyond = (mean - gap.mean()) * np.sqrt(count) / spread
    enough = np.flatnonzero(count >= _LEAST)
    order = enough[np.argsort(-np.abs(beyond[enough]), kind="stable")][:_LISTED]
    return tuple(
        {
            "object": statements.names[i],
            "difference": float(mean[i]),
            "answers": int(count[i]),
            "beyond": float(beyond[i]),
        }
        for i in order
    )
