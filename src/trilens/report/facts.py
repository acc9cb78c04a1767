"""Everything the report says, as a plain dict of numbers and names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray, Progress
from trilens.report.collected import Facts, collected
from trilens.report.groups import cluster_facts, graph_facts
from trilens.statements import Statements, StatementsLike, as_statements

if TYPE_CHECKING:
    from trilens.depth import DepthIntervals
    from trilens.tasks.classify.check import LabelCheck
    from trilens.tasks.cluster.stability import ClusterStability
    from trilens.tasks.outliers import Outliers

LEVEL = 0.95
#: An object whose local outlier factor is above this stands alone on the map.
LOCAL_FACTOR = 1.5


def analyze(
    statements: StatementsLike,
    labels: Sequence[str | None] | None = None,
    *,
    n_clusters: int | None = None,
    places: AnyArray | None = None,
    title: str = "What the answers say",
    random_state: int = 0,
    progress: Progress | None = None,
) -> Facts:
    """Answer every question of the report.

    Parameters
    ----------
    statements : Statements or (m, 3) array
        Of any kind.
    labels : (n_objects,) sequence, optional
        The class of each object; None where it is unlabelled.
    n_clusters : int, optional
        By default as many as `suggest_clusters` finds.
    places : (m,) array of int, optional
        Where the chosen object was shown (0, 1, 2), to find raters who always choose the same
        place.
    progress : callable, optional
        Called with the share of the work that is done.

    Returns
    -------
    dict
        Of text, numbers, lists and dicts only, without NaN: what ``trilens analyze --json``
        prints, and what `render` turns into a page. The keys follow the sections of the page:
        ``collected``, ``medoid``, ``outliers``, ``map``, ``clusters``, ``classes``, ``how``;
        ``objects`` has a row for each object.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> facts = analyze(study(n_statements=2000).statements)
    >>> facts["medoid"]["object"] in facts["medoid"]["set"]
    True
    """
    from trilens.counts import count_pairs
    from trilens.maps import LensMap
    from trilens.maps.geometry import local_outliers
    from trilens.tasks.cluster.partition import check_n_clusters
    from trilens.tasks.cluster.stability import cluster_stability, resampled_maps
    from trilens.tasks.cluster.suggest import (
        map_dimension,
        quick_partitions,
        suggest_by_gaps,
        suggest_clusters,
    )
    from trilens.tasks.outliers import outliers
    from trilens.tasks.reliability import diagnose

    given = as_statements(statements)
    n = given.n_objects
    check_n_clusters(1 if n_clusters is None else n_clusters, n)
    step = _steps(progress)
    summary = given.summary()
    step(0.05)
    pairs = count_pairs(given)
    dimension = map_dimension(pairs)
    points = LensMap(dimension).fit_transform(pairs)
    plane = LensMap(min(2, n - 1)).fit_transform(pairs)
    step(0.1)
    diagnosis = diagnose(given, places, n_components=dimension, random_state=random_state)
    step(0.25)
    resamples = resampled_maps(
        given,
        20 if n <= 100 else 10 if n <= 500 else 6,
        n_components=dimension,
        random_state=random_state,
        progress=lambda share: step(0.25 + 0.2 * share),
    )
    suggestion = suggest_clusters(
        points,
        resamples,
        random_state=random_state,
        progress=lambda share: step(0.45 + 0.25 * share),
    )
    by_gaps = suggest_by_gaps(given, random_state=random_state)
    chosen = suggestion.n_clusters if n_clusters is None else n_clusters
    clusters = suggestion.labels.get(chosen)
    if clusters is None:
        from trilens.tasks.cluster.map import coordinate_clusters

        clusters = coordinate_clusters(points, chosen, random_state=random_state)
    stability = suggestion.stability.get(chosen)
    if stability is None and 1 < chosen < n:
        parts = (quick_partitions(found, [chosen], random_state)[chosen] for found in resamples)
        stability = cluster_stability(clusters, parts)
    step(0.8)
    local = local_outliers(plane)
    intervals = _intervals(given)
    out = outliers(given) if intervals is not None else _map_outliers(local, given)
    check = _check_labels(given, labels, random_state, lambda share: step(0.8 + 0.15 * share))
    central = _centrality(intervals, points, resamples)
    facts: Facts = {
        "title": title,
        "kind": given.kind,
        "collected": collected(given, summary, diagnosis),
        "medoid": _medoid(given, central, intervals),
        "outliers": _outliers(given, out, local),
        "map": {
            "method": "lensmap",
            "dimension": dimension,
            "graph": graph_facts(given, pairs, plane),
        },
        "clusters": cluster_facts(
            given, points, clusters, chosen, suggestion, by_gaps, stability, n_clusters, labels
        ),
        "classes": None if check is None else _classes(given, labels or [], check),
        "how": _how(given, dimension, resamples, random_state, n_clusters),
    }
    facts["objects"] = _objects(
        given, plane, central, intervals, out, local, clusters, stability, labels, check
    )
    step(1.0)
    return facts


def _steps(progress: Progress | None) -> Progress:
    return (lambda share: None) if progress is None else progress


def _intervals(statements: Statements) -> DepthIntervals | None:
    from trilens.depth import depth_intervals

    return None if statements.kind == "closer" else depth_intervals(statements, LEVEL)


def _map_outliers(local: FloatArray, statements: Statements) -> Outliers:
    from trilens.tasks.outliers import Outliers, suggest_count

    score = -local
    count = suggest_count(score)
    order = np.argsort(score, kind="stable")[:count]
    names = tuple(statements.names[i] for i in order)
    return Outliers(order, names, score[order], count, (), "lensmap", score)


def _check_labels(
    statements: Statements,
    labels: Sequence[str | None] | None,
    random_state: int,
    progress: Progress,
) -> LabelCheck | None:
    if labels is None:
        return None
    from trilens.tasks.classify.check import check_labels

    return check_labels(statements, labels, random_state=random_state, progress=progress)


def _centrality(
    intervals: DepthIntervals | None, points: FloatArray, resamples: list[FloatArray]
) -> dict[str, AnyArray]:
    """What makes an object central: its depth, or its mean distance to the others on the map."""
    if intervals is not None:
        return {"score": intervals.depth, "set": intervals.medoid_set}
    from trilens.maps.geometry import total_distance
    from trilens.tasks.cluster.stability import medoid_shares

    distance = total_distance(points) / max(len(points) - 1, 1)
    share = medoid_shares(resamples)
    best = np.zeros(len(points), dtype=bool)
    best[distance.argmin()] = True
    return {"score": -distance, "share": share, "set": best | (share > 1 - LEVEL)}


def _medoid(
    statements: Statements, central: dict[str, AnyArray], intervals: DepthIntervals | None
) -> Facts:
    score = central["score"]
    order = np.argsort(-score, kind="stable")
    best = int(order[0])
    inside = [int(i) for i in order if central["set"][i]]
    facts: Facts = {
        "object": statements.names[best],
        "method": "depth" if intervals is not None else "lensmap",
        "level": LEVEL,
        "set": [statements.names[i] for i in inside],
        "depth": None,
        "low": None,
        "high": None,
        "share": None,
    }
    if intervals is None:
        facts["share"] = float(central["share"][best])
    else:
        facts["depth"] = float(intervals.depth[best])
        facts["low"] = float(intervals.low[best])
        facts["high"] = float(intervals.high[best])
    return facts


def _outliers(statements: Statements, out: Outliers, local: FloatArray) -> Facts:
    order = np.argsort(out.all_scores, kind="stable")
    count = len(out)
    cut = None
    if 0 < count < len(order):
        last, first = out.all_scores[order[count - 1]], out.all_scores[order[count]]
        cut = float((last + first) / 2)
    alone = [int(i) for i in np.argsort(-local, kind="stable") if local[i] > LOCAL_FACTOR]
    return {
        "method": out.method,
        "suggested": int(out.suggested),
        "cut": cut,
        "objects": [
            {"object": name, "score": float(score)}
            for name, score in zip(out.names, out.scores, strict=True)
        ],
        "least_central": [statements.names[i] for i in order[:8]],
        "local": [{"object": statements.names[i], "factor": float(local[i])} for i in alone[:12]],
        "local_factor": LOCAL_FACTOR,
    }


def _classes(statements: Statements, labels: Sequence[str | None], check: LabelCheck) -> Facts:
    best = check.best
    unlabelled = [i for i, label in enumerate(labels) if label is None]
    sizes = {str(c): sum(label == c for label in labels) for c in check.classes.tolist()}
    return {
        "classes": sizes,
        "unlabelled": len(unlabelled),
        "baseline": check.baseline,
        "left_out": check.left_out,
        "methods": [
            {"method": m.method, "error": m.error, "parameters": dict(m.parameters)}
            for m in check.methods
        ],
        "best": best.method,
        "predicted": {statements.names[i]: str(best.predicted[i]) for i in unlabelled},
        "contradicted": [
            {
                "object": c.name,
                "label": str(c.label),
                "answers_say": str(c.answers_say),
                "methods": c.methods,
            }
            for c in check.contradictions
        ],
    }


def _how(
    statements: Statements,
    dimension: int,
    resamples: list[FloatArray],
    random_state: int,
    n_clusters: int | None,
) -> Facts:
    from trilens import __version__

    return {
        "version": __version__,
        "source": None,
        "command": None,
        "seed": random_state,
        "level": LEVEL,
        "dimension": dimension,
        "resamples": len(resamples),
        "n_clusters_given": n_clusters,
        "statements": len(statements),
    }


def _objects(
    statements: Statements,
    plane: FloatArray,
    central: dict[str, AnyArray],
    intervals: DepthIntervals | None,
    out: Outliers,
    local: FloatArray,
    clusters: IntArray,
    stability: ClusterStability | None,
    labels: Sequence[str | None] | None,
    check: LabelCheck | None,
) -> list[Facts]:
    appears = np.bincount(statements.triples.ravel(), minlength=statements.n_objects)
    is_out = np.zeros(statements.n_objects, dtype=bool)
    is_out[out.indices] = True
    plane = np.column_stack([plane, np.zeros(len(plane))])[:, :2]
    rows: list[Facts] = []
    for i, name in enumerate(statements.names):
        row: Facts = {"object": name, "appearances": int(appears[i])}
        if intervals is not None:
            row["depth"] = float(intervals.depth[i])
            row["low"], row["high"] = float(intervals.low[i]), float(intervals.high[i])
        else:
            row["mean_distance"] = float(-central["score"][i])
            row["medoid_share"] = float(central["share"][i])
        row["maybe_medoid"] = bool(central["set"][i])
        row["outlier"] = bool(is_out[i])
        row["local_factor"] = float(local[i])
        row["x"], row["y"] = float(plane[i, 0]), float(plane[i, 1])
        row["cluster"] = int(clusters[i]) + 1
        row["stays"] = None if stability is None else float(stability.objects[i])
        if labels is not None and check is not None:
            row["class"] = labels[i]
            row["predicted"] = str(check.best.predicted[i])
        rows.append(row)
    return rows
