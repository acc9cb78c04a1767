"""Classes and groups of very many objects, from files that are never held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._parameters import one_of, seed_of, shown, whole_number
from trilens._typing import FloatArray, IntArray, Progress
from trilens.answers import Answers
from trilens.counts import Counted
from trilens.errors import LabelError
from trilens.files.source import PathLike
from trilens.maps.geometry import rescaled
from trilens.maps.streamed import StreamedMap, stream_map
from trilens.statements import Statements
from trilens.tasks.classify.check import check_labels
from trilens.tasks.classify.classes import Classification, Contradiction
from trilens.tasks.classify.labels import Labels
from trilens.tasks.classify.map import DIMENSIONS, MapClassifier
from trilens.tasks.classify.tuning import chosen_parameters, cross_validated, tuned_classifier
from trilens.tasks.cluster.groups import Clusters, clusters_on_map
from trilens.tasks.cluster.suggest import ClusterSuggestion

#: Labelled objects that choose the parameters; all of them are learnt from.
_MOST_TUNED = 2000
#: The maps that files have.
MAPS_OF_FILES = ("auto", "choice", "lensmap")
#: Why a number of groups is not claimed.
NO_NUMBER = (
    "whether there are groups, and how many, cannot be told: a map of files this large has no "
    "copies from answers drawn anew to judge by; give the number with --n-clusters (n_clusters), "
    "or look at a random part of the statements"
)


@dataclass(frozen=True, eq=False)
class StreamedClasses(Classification):
    """The class of every object of files: a `Classification` with its map.

    Attributes
    ----------
    map : StreamedMap
    """

    map: StreamedMap | None = None

    @property
    def labels(self) -> Any:
        """The class of each object, as given or else predicted."""
        pairs = zip(self.given, self.found.tolist(), strict=True)
        return np.array([str(found if given is None else given) for given, found in pairs])


@dataclass(frozen=True, eq=False)
class StreamedClusters(Clusters):
    """The groups of the objects of files: `Clusters` with their map.

    Attributes
    ----------
    map : StreamedMap
    """

    map: StreamedMap | None = None


class _OnMap(MapClassifier):
    """A classifier on maps that are there already, however many labels there are."""

    def _prepare(self, statements: Statements) -> None:
        """Nothing: the maps are given."""

    def on(self, maps: list[FloatArray], seed: int) -> _OnMap:
        self._maps, self._seed = maps, seed
        return self

    def _learn(self, labels: Labels) -> IntArray:
        labelled = labels.labelled
        codes = labels.codes[labelled]
        name = "knn" if self.classifier is None else self.classifier
        some = np.arange(len(labelled))
        if len(some) > _MOST_TUNED:
            rng = np.random.default_rng(self._seed)
            some = np.sort(rng.choice(len(labelled), _MOST_TUNED, replace=False))
            if len(np.unique(codes[some])) < 2:
                some = np.arange(len(labelled))
        tried = []
        for points in self._maps:
            model = tuned_classifier(name, points[labelled[some]], codes[some], self._seed)
            score = 0.0
            if len(self._maps) > 1:
                score = cross_validated(model, points[labelled[some]], codes[some], self._seed)
            tried.append((score, points, model))
        _, self.embedding_, model = max(tried, key=lambda each: each[0])
        self.chosen_parameters_ = {
            **chosen_parameters(name, model),
            "map": self.map,
            "n_components": int(self.embedding_.shape[1]),
        }
        model.fit(self.embedding_[labelled], codes)
        everywhere = labels.codes.copy()
        missing = np.flatnonzero(everywhere < 0)
        if len(missing):
            everywhere[missing] = model.predict(self.embedding_[missing])
        return everywhere


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
) -> StreamedClasses:
    """The class of every object of files, by a classifier on their streamed map.

    The map needs no labels, so these are hidden in turn, ten groups of them, and found again:
    that is the error, and its interval.

    Parameters
    ----------
    source
        As in `Answers`, and so are ``reading``.
    labels : dict by name
        The classes of some objects; names that no statement has are left out.
    method : {"auto", "choice", "lensmap"}
        The map; ``"auto"`` is the choice map.
    classifier : {"knn", "svm-linear", "svm-gauss"}, optional
    n_components : int, optional
        By default as the answers suggest (choice map), or cross-validated by the labels: the
        lens map is then made once, in 20 dimensions, and its leading ones are tried.
    placed : StreamedMap, optional
        The map of these files, where it has been made already.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import trilens as tl
    >>> drawn = tl.simulate.mixture(200, [[0, 0], [9, 0]], random_state=1)
    >>> S = tl.simulate_statements(drawn.points, 9000, random_state=2)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "answers.parquet"
    >>> tl.write_statements(S, file)
    >>> found = classify_files(file, {str(i): "ab"[drawn.labels[i]] for i in range(40)})
    >>> len(found.predicted), found.check.learnable
    (160, True)
    """
    one_of("method", method, MAPS_OF_FILES)
    seed = seed_of(random_state)
    method = "choice" if method == "auto" else method
    if n_components is not None:
        n_components = whole_number("n_components", n_components, least=1)
    if placed is None:
        width = n_components
        if method == "lensmap" and width is None:
            width = max(DIMENSIONS)
        placed = map_of_files(source, width, method, seed, **reading)
    names = placed.names
    known = _labels_of(labels, names)
    classes, codes = _coded(known)
    encoded = Labels(codes, classes)
    X = placed.embedding
    wanted = [X.shape[1]]
    if method == "lensmap" and n_components is None:
        wanted = [d for d in DIMENSIONS if d <= X.shape[1]]
    maps = [rescaled(X[:, :d]) for d in wanted]
    learner = _OnMap(classifier, map=method).on(maps, seed)
    found = classes[learner._learn(encoded)]
    labelled = encoded.labelled
    # hidden labels concern labelled objects alone: the others need no guess each time
    inner = _OnMap(classifier, map=method).on([points[labelled] for points in maps], seed)
    inner.embedding_ = learner.embedding_[labelled]
    check = check_labels(inner, Labels(codes[labelled], classes), seed)
    found[labelled] = classes[check.codes]
    return StreamedClasses(
        names=names,
        given=tuple(known),
        found=found,
        method=method,
        parameters=learner.chosen_parameters_,
        check=check,
        contradictions=tuple(
            Contradiction(names[i], str(known[i]), str(found[i]))
            for i in labelled[check.contradicted]
        ),
        map=placed,
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


def _labels_of(labels: Mapping[str, str], names: Sequence[str]) -> list[Any]:
    """The label of each object, None where there is none; a class may be called 0."""
    if not isinstance(labels, Mapping):
        raise LabelError(
            f"labels must be a dict by name, such as that of read_labels, not {shown(labels)}"
        )
    return [None if labels.get(name) in (None, "") else labels[name] for name in names]


def _coded(known: list[Any]) -> tuple[Any, IntArray]:
    given = np.array(["" if label is None else str(label) for label in known], dtype=str)
    classes = np.unique(given[given != ""])
    if len(classes) == 0:
        raise LabelError("no object of the statements has a label; are the names the same?")
    if len(classes) == 1:
        raise LabelError(
            f"all labelled objects are {str(classes[0])!r}; classification needs at least two "
            f"classes"
        )
    codes = np.where(given == "", -1, np.searchsorted(classes, given))
    return classes, codes.astype(np.int64)


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
) -> StreamedClusters:
    """Groups of the objects of files, by spectral clustering on their streamed map.

    Of more than 10,000 objects so many, drawn at random, are clustered, and each of the others
    joins the nearest of them: the memory grows with the number of objects and no faster.

    Parameters
    ----------
    source
        As in `Answers`, and so are ``reading``.
    n_clusters : int, optional
        Without it nothing is claimed: all objects are one group, and the ``caution`` of the
        suggestion says why.
    method, n_components, placed
        As in `classify_files`; the lens map has two dimensions by default.
    k, sigma
        Of the k-NN graph on the map.
    labels : dict by name, optional
        Classes to compare the groups with.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import trilens as tl
    >>> drawn = tl.simulate.mixture(200, [[0, 0], [9, 0], [0, 9]], random_state=1)
    >>> S = tl.simulate_statements(drawn.points, 9000, random_state=2)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "answers.parquet"
    >>> tl.write_statements(S, file)
    >>> tl.purity(cluster_files(file, 3).labels, drawn.labels) > 0.95
    True
    """
    one_of("method", method, MAPS_OF_FILES)
    seed = seed_of(random_state)
    method = "choice" if method == "auto" else method
    if placed is None:
        width = 2 if method == "lensmap" and n_components is None else n_components
        placed = map_of_files(source, width, method, seed, **reading)
    suggestion = None
    if n_clusters is None:
        suggestion = ClusterSuggestion(1, (), 1, None, NO_NUMBER)
    known = None if labels is None else _labels_of(labels, placed.names)
    objects = Statements(
        np.empty((0, 3), dtype=np.int32), len(placed.names), placed.names, placed.counts.kind
    )
    found = clusters_on_map(
        objects, placed.embedding, method, n_clusters, k, sigma, known, suggestion, seed
    )
    return StreamedClusters(**vars(found), map=placed)
