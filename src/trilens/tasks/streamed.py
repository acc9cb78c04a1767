"""Classes and groups of very many objects, from files that are never held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trilens._typing import Progress
from trilens.answers import Answers
from trilens.counts import Counted
from trilens.files.source import PathLike
from trilens.maps.streamed import StreamedMap, stream_map
from trilens.tasks.classify.classes import Classification, classify
from trilens.tasks.classify.classifiers import DIMENSIONS
from trilens.tasks.cluster.groups import Clusters, cluster


def classify_files(
    source: PathLike | Sequence[PathLike],
    labels: Mapping[str, str],
    *,
    method: str = "auto",
    classifier: str | None = None,
    n_components: int | None = None,
    random_state: Any = 0,
    placed: StreamedMap | None = None,
    **reading: Any,
) -> Classification:
    """The classes on the map of files, as `classify` finds them."""
    chosen = "choice" if method == "auto" else method
    if placed is None:
        width = n_components
        if chosen == "lensmap" and width is None:
            width = max(DIMENSIONS)
        placed = map_of_files(source, width, chosen, random_state, **reading)
    return classify(
        placed.counts,
        labels,
        classifier=classifier,
        n_components=n_components,
        random_state=random_state,
        model=placed,
    )


def cluster_files(
    source: PathLike | Sequence[PathLike],
    n_clusters: int | None = None,
    *,
    method: str = "auto",
    k: int = 10,
    sigma: float = 0.5,
    n_components: int | None = None,
    labels: Mapping[str, str] | None = None,
    random_state: Any = 0,
    placed: StreamedMap | None = None,
    **reading: Any,
) -> Clusters:
    """The groups on the map of files, as `cluster` finds them."""
    chosen = "choice" if method == "auto" else method
    if placed is None:
        width = 2 if chosen == "lensmap" and n_components is None else n_components
        placed = map_of_files(source, width, chosen, random_state, **reading)
    return cluster(
        placed.counts,
        n_clusters,
        k=k,
        sigma=sigma,
        labels=labels,
        random_state=random_state,
        model=placed,
    )


def map_of_files(
    source: Any,
    n_components: int | None,
    method: str,
    seed: int,
    *,
    n_threads: int | None = None,
    cluster: Any = None,
    progress: Progress | None = None,
    counts: Counted | None = None,
    **reading: Any,
) -> StreamedMap:
    """The streamed map of files, by the parameters that `Answers` and `stream_map` take."""
    return stream_map(
        Answers(source, **reading),
        n_components,
        method=method,
        random_state=seed,
        n_threads=n_threads,
        cluster=cluster,
        progress=progress,
        counts=counts,
    )
