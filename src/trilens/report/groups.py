"""Section 4 of the report: the edges to draw, and the groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from trilens._typing import FloatArray, IntArray
from trilens.report.collected import Facts
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.counts import PairCounts
    from trilens.tasks.cluster.stability import ClusterStability
    from trilens.tasks.cluster.suggest import ClusterSuggestion, SecondOpinion

_MOST_EDGES = 4000


def graph_facts(statements: Statements, pairs: PairCounts, plane: FloatArray) -> Facts:
    """The k-RNG's edges, the strongest first; of other kinds the neighbours on the map."""
    n = statements.n_objects
    if statements.kind == "central" and len(statements):
        from trilens.graph import lens_value
        from trilens.graph.krng import connecting_k_of

        value = lens_value(pairs)
        connecting = connecting_k_of(value, n)
        k = connecting if connecting is not None else max(n - 2, 1)
        near = np.flatnonzero(value.data < k / max(n - 2, 1))
        near = near[np.argsort(value.data[near], kind="stable")]
        i, j = value.coords[0][near], value.coords[1][near]
        name = "k-RNG"
    else:
        from trilens.tasks.cluster.map import neighbour_graph

        connecting, k = None, min(5, n - 1)
        near_map = neighbour_graph(plane, k).tocoo() if k > 0 else None
        i = j = np.zeros(0, dtype=np.int64)
        if near_map is not None:
            upper = near_map.coords[0] < near_map.coords[1]
            first = np.argsort(-near_map.data[upper], kind="stable")
            i, j = near_map.coords[0][upper][first], near_map.coords[1][upper][first]
        name = "k-NN on the map"
    return {
        "name": name,
        "k": int(k),
        "connecting_k": None if connecting is None else int(connecting),
        "n_edges": len(i),
        "edges": np.stack([i, j], axis=1)[:_MOST_EDGES].tolist(),
    }


def cluster_facts(
    statements: Statements,
    points: FloatArray,
    clusters: IntArray,
    number: int,
    suggestion: ClusterSuggestion,
    by_gaps: SecondOpinion | None,
    stability: ClusterStability | None,
    forced: int | None,
    labels: Sequence[str | None] | None,
) -> Facts:
    from trilens.maps.geometry import total_distance
    from trilens.tasks.cluster.suggest import silhouettes

    width = silhouettes(points, clusters) if len(points) <= 5000 else np.zeros(len(points))
    groups = []
    for c in range(int(clusters.max(initial=-1)) + 1):
        members = np.flatnonzero(clusters == c)
        medoid = int(members[total_distance(points[members]).argmin()])
        first = members[np.argsort(-width[members], kind="stable")]
        groups.append(
            {
                "cluster": c + 1,
                "size": len(members),
                "medoid": statements.names[medoid],
                "silhouette": float(width[members].mean()) if number > 1 else None,
                "stability": None if stability is None else float(stability.clusters[c]),
                "objects": [statements.names[i] for i in first],
                "classes": _composition(members, labels),
            }
        )
    return {
        "n_clusters": number,
        "suggested": suggestion.n_clusters,
        "best": suggestion.best,
        "forced": forced is not None,
        "cloud_silhouette": suggestion.cloud,
        "by_gaps": None if by_gaps is None else asdict(by_gaps),
        "silhouette": float(width.mean()) if number > 1 else None,
        "agreement": None if stability is None else stability.agreement,
        "resamples": 0 if stability is None else stability.resamples,
        "candidates": [
            {
                "n_clusters": c.n_clusters,
                "silhouette": c.silhouette,
                "gap": c.gap,
                "agreement": c.agreement,
            }
            for c in suggestion.candidates
        ],
        "clusters": groups,
        "purity": _purity(clusters, labels),
    }


def _composition(members: IntArray, labels: Sequence[str | None] | None) -> Facts | None:
    if labels is None:
        return None
    names = [labels[i] for i in members if labels[i] is not None]
    return {str(name): names.count(name) for name in sorted(set(map(str, names)))}


def _purity(clusters: IntArray, labels: Sequence[str | None] | None) -> float | None:
    from trilens.tasks.cluster.partition import purity

    if labels is None:
        return None
    known = [i for i, label in enumerate(labels) if label is not None]
    return purity(clusters[known], [str(labels[i]) for i in known]) if known else None
