"""All questions at once: what the answers say, as one value.

`analyze` asks each question of `trilens.questions` once; the parts of an `Analysis` are what those
functions return and what the commands print. The report, the notebook and the survey's
dashboard read it, and compute nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import check_progress, seed_of
from trilens._tabular import Tabular, counted, facts, plain, records, table
from trilens._typing import AnyArray, FloatArray, IntArray, Progress, RandomState
from trilens.answers import Answers
from trilens.ask import Data, answers_of, is_enough, opened, statements_of
from trilens.counts import Counted
from trilens.maps.fitted import Fit, fit
from trilens.maps.registry import coordinates
from trilens.maps.support import Reason, support_of_answers
from trilens.questions.classify.classes import Classification, classify
from trilens.questions.cluster.groups import Clusters, cluster
from trilens.questions.cluster.spectral import check_n_clusters
from trilens.questions.compare_groups import By, ComparedGroups, compare_groups, groups_given
from trilens.questions.feature_gain import LEAST, FeatureGain, feature_gain
from trilens.questions.graph import Graph, neighbors
from trilens.questions.hierarchy import Hierarchy, hierarchy
from trilens.questions.individuals import Individuals, can_compare, individuals
from trilens.questions.labels import LabelsLike, label_of_each
from trilens.questions.medoid import Medoid, medoid
from trilens.questions.object_facts import ObjectFacts, object_facts
from trilens.questions.outliers import Outliers, outliers
from trilens.questions.reliability import Reliability, reliability
from trilens.questions.structure import Structure
from trilens.shares import DepthIntervals, counted_shares
from trilens.statements import Statements, Summary
from trilens.words import about_depth, listed

if TYPE_CHECKING:
    from trilens.report import Pictures

Facts = dict[str, Any]

#: Objects of a tree that a page can show.
MOST_IN_TREE = 150
#: Edges that a page can show.
_MOST_EDGES = 4000
#: Objects of which it is told how far their places may be off.
_MOST_PLACES = 5000


@dataclass(frozen=True)
class Analysis(Tabular):
    """What the answers say.

    Attributes
    ----------
    describe : Summary
        What was collected.
    reliability : Reliability
        How good the answers are, and what they can support.
    medoid : Medoid
        The most central object, of all and of each class.
    outliers : Outliers
    depth : DepthIntervals
        How central each object is: the numbers by which ``medoid`` is the most central one, by
        the model or by counting.
    counted : (n,) array
        The share of the questions about each object that single it out (`trilens.centrality`).
    support : str or None
        Why nothing can be claimed of the objects; None where claims can be made.
    plane : (n, 2) array
        A map to look at.
    plane_cov : (n, 2, 2) array or None
        How far the places on it may be off; None where that is not known.
    graph : Graph
        Which objects are neighbors.
    clusters : Clusters
        The groups, and how many there are.
    structure : Structure or None
        The shape that the objects form; None where the map cannot tell.
    hierarchy : Hierarchy or None
        The tree of the objects, where these form groups and are few enough to be drawn.
    dimension : int or None
        The number of dimensions by which held-out answers are predicted best.
    individuals : Individuals or None
        Whether raters see different things; None where raters are not known, or have too few
        answers.
    compared_groups : ComparedGroups or None
        Groups of raters, or conditions, compared; None where none were given.
    classes : Classification or None
        None where no labels were given.
    features : FeatureGain or None
        What features add to the answers; None where none were given, or answers are too few.
    facts : tuple of ObjectFacts
        What is near each object, what was asked about it, and who saw it otherwise; empty where
        there are very many objects.
    appearances : (n,) array
        How often each object was asked about.
    seconds : (m,) array or None
        How long each answer took.
    title : str
    seed : int
    source, command : str or None
        The file, and the command line that makes the same analysis again.
    """

    describe: Summary
    reliability: Reliability
    medoid: Medoid
    outliers: Outliers
    depth: DepthIntervals
    counted: FloatArray = field(repr=False)
    support: Reason | None
    plane: FloatArray = field(repr=False)
    plane_cov: FloatArray | None = field(repr=False)
    plane_method: str
    graph: Graph
    clusters: Clusters
    structure: Structure | None
    hierarchy: Hierarchy | None
    dimension: int | None
    individuals: Individuals | None
    compared_groups: ComparedGroups | None
    classes: Classification | None
    features: FeatureGain | None
    facts: tuple[ObjectFacts, ...] = field(repr=False)
    appearances: IntArray = field(repr=False)
    seconds: FloatArray | None = field(repr=False)
    title: str
    seed: int
    source: str | None = None
    command: str | None = None

    def to_dict(self) -> Facts:
        """The facts as ``trilens analyze --json`` prints them.

        Text, numbers, lists and dicts only, without NaN. ``describe``, ``medoid``, ``outliers``,
        ``graph``, ``cluster``, ``structure``, ``individuals`` (without predictions) and
        ``classify`` hold what the commands of these names print; ``objects`` has a row for each
        object.
        """
        from trilens import __version__

        return {
            "title": self.title,
            "kind": self.describe.kind,
            **facts(self, "support", "describe", "reliability"),
            "appearances": histogram(self.appearances, whole=True),
            "seconds": _seconds(self.seconds),
            **facts(self, "medoid", "outliers"),
            "map": {"method": self.plane_method, "edges": plain(self.graph.edges()[:_MOST_EDGES])},
            "graph": self.graph.to_dict(),
            "cluster": self.clusters.to_dict(),
            **facts(self, "structure", "hierarchy", "dimension"),
            "depth": facts(self.depth, "method", "about", "level"),
            "individuals": plain(self.individuals),
            "compare_groups": plain(self.compared_groups),
            "classify": plain(self.classes),
            "features": plain(self.features),
            "objects": records(self._objects()),
            "about_objects": plain(self.facts),
            "how": {"version": __version__, **facts(self, "source", "command", "seed")},
        }

    def write(self, path: str | Path, images: str | Path | Pictures | None = None) -> None:
        """Write the report: one HTML page that needs nothing else.

        Parameters
        ----------
        path
        images : folder or Pictures, optional
            One picture for each object, the file named like the object.
        """
        from trilens.report import Pictures, load_pictures, picture_size, write_report

        names = self.graph.names
        if images is not None and not isinstance(images, Pictures):
            images = load_pictures(images, names, picture_size(len(names)))
        write_report(self.to_dict(), path, images)

    def columns(self) -> dict[str, list[Any]]:
        """A row for each object; groups are counted from 1."""
        found = {"group" if key == "cluster" else key: x for key, x in self._objects().items()}
        return found | {"group": [label + 1 for label in found["group"]]}

    def __repr__(self) -> str:
        found = self.describe
        return (
            f"Analysis: {counted(found.statements, 'answer')} about "
            f"{counted(found.objects, 'object')}; most central {self._most_central}, "
            f"{counted(len(self.outliers.names), 'outlier')}, "
            f"{counted(self.clusters.n_clusters, 'group')}\n"
            f"  (.medoid, .outliers, .clusters, ...; .to_dict(), .write('report.html'))"
        )

    @property
    def _most_central(self) -> str:
        if self.clusters.shape == "ring":
            return "none (a ring)"
        known = self.medoid.stands_out and self.medoid.reason is None
        return listed(self.medoid.candidates) if known else "not known"

    def _repr_html_(self) -> str:
        rows = [("answers", self.describe.statements), ("objects", self.describe.objects)]
        found = [
            ("most central", self._most_central),
            ("outliers", ", ".join(self.outliers.names) or "none confirmed"),
            ("groups", self.clusters.n_clusters),
        ]
        if self.classes is not None and self.classes.check is not None:
            found.append(("error on hidden labels", self.classes.check.error))
        return table(["", ""], [*rows, *found], caption=self.title)

    def _objects(self) -> dict[str, list[Any]]:
        """What is told of each object, by what it is."""
        names = self.graph.names
        outlying, maybe = set(self.outliers.names), set(self.medoid.candidates)
        stays = None if self.clusters.stability is None else self.clusters.stability.objects
        found = {
            "object": list(names),
            **facts(self, "appearances"),
            **facts(self.depth, "depth", "low", "high"),
            **facts(self, "counted"),
            "maybe_medoid": [name in maybe for name in names],
            "outlier": [name in outlying for name in names],
            "outlier_score": plain(self.outliers.all_scores),
            "x": plain(self.plane[:, 0]),
            "y": plain(self.plane[:, 1]),
        }
        if self.plane_cov is not None:
            found["place_cov"] = plain(self.plane_cov)
        found["cluster"] = plain(self.clusters.labels)
        found["stays"] = [None] * len(names) if stays is None else plain(stays)
        if self.classes is not None:
            sure = self.classes.probabilities or {}
            found["class"] = plain(self.classes.given)
            found["answers_say"] = plain(self.classes.found)
            found["probability"] = [sure.get(name) for name in names]
        return found


def analyze(
    answers: Data,
    labels: LabelsLike | None = None,
    *,
    by: By | None = None,
    n_clusters: int | None = None,
    title: str = "What the answers say",
    source: str | None = None,
    command: str | None = None,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Analysis:
    """Ask every question.

    The parts are what the functions of the same names say. What is not looked at in files too
    large to hold is None: single raters and repeated questions.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
        Of any kind. Of a fit with features it is also told what these add.
    labels : dict by name, or (n_objects,) iterable, optional
        The class of each object; None where it is unlabeled.
    by : str, dict or list, optional
        Groups of raters, or conditions, to compare: see `compare_groups`.
    n_clusters : int, optional
        By default as many as the answers suggest.
    title, source, command : str, optional
        For the page; the source is by default the file of the answers.
    progress : callable, optional
        Called with the share of the work that is done.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> found = analyze(study(n_objects=16, n_statements=200).statements)
    >>> found.medoid.name in found.medoid.candidates
    True
    """
    seed = seed_of(random_state)
    check_progress(progress)
    step: Progress = (lambda share: None) if progress is None else progress
    given = opened(answers)
    if isinstance(given, Fit) and given.is_of_few:
        given = answers_of(given)
    if isinstance(given, Answers) and given.in_counts:
        statements_of(given, "analyze")  # refuses
    if by is not None:
        groups_given(given, by)  # refuses, before anything is fitted
    fitted = given if isinstance(given, Fit) else None
    if isinstance(given, Answers | Statements) and is_enough(given):
        fitted = fit(given, random_state=seed, progress=lambda share: step(0.25 * share))
    handle = given if fitted is None else fitted.source
    if source is None and isinstance(handle, Answers) and isinstance(handle.source, str):
        source = handle.source
    data: Fit | Statements | Counted
    held: Statements | None
    if fitted is not None:
        data, held = fitted, fitted.statements
    else:
        data = held = statements_of(given, "analyze")
    names = data.names
    if labels is None and isinstance(handle, Answers) and handle.object_table is not None:
        labels = handle.object_table.labels or None
    known = None if labels is None else label_of_each(labels, names)
    if n_clusters is not None:
        check_n_clusters(n_clusters, len(names))
    step(0.3)
    added = None
    if fitted is not None and fitted.features is not None and fitted.n_answers >= LEAST:
        added = feature_gain(fitted, random_state=seed)
    # a file knows more than its answers: what was repeated, and left out
    reliable = reliability(given if fitted is None else fitted, random_state=seed)
    step(0.45)
    # only statements tell the medoid of each class
    central = medoid(data, labels=known if held is not None else None, random_state=seed)
    outlying = outliers(data, random_state=seed)
    step(0.6)
    graph = neighbors(data, random_state=seed)
    groups = cluster(data, n_clusters, labels=known, random_state=seed)
    step(0.9)
    classes = None if known is None else classify(data, known, random_state=seed)
    people = None
    if fitted is not None and held is not None and can_compare(held):
        people = individuals(fitted, predict=False, random_state=seed)
    compared = None if by is None else compare_groups(data, by, random_state=seed)
    shape = groups.structure
    tree = None
    if shape is not None and shape.has_groups and len(names) <= MOST_IN_TREE:
        tree = hierarchy(data, random_state=seed)
    plane = _plane(data, seed)
    counted = counted_of(fitted) if held is None and fitted is not None else held
    assert counted is not None
    step(1.0)
    return Analysis(
        describe=counted.summary(),
        reliability=reliable,
        medoid=central,
        outliers=outlying,
        depth=_depth(central, names, fitted),
        counted=counted_shares(counted),
        support=_support(fitted, held),
        plane=plane,
        plane_cov=None if fitted is None or len(names) > _MOST_PLACES else fitted.plane_cov,
        plane_method="lensmap" if fitted is None else "choice",
        graph=graph,
        clusters=groups,
        structure=shape,
        hierarchy=tree,
        dimension=None if fitted is None else fitted.map.n_components,
        individuals=people,
        compared_groups=compared,
        classes=classes,
        features=added,
        facts=() if held is None else object_facts(held, plane, fitted),
        appearances=counted.appearances,
        seconds=None if held is None else held.seconds,
        title=title,
        seed=seed,
        source=source,
        command=command,
    )


def counted_of(fitted: Fit) -> Counted:
    """What was counted of files too large to hold, in the caller's order."""
    assert fitted.passes is not None
    order = np.arange(fitted.n_objects) if fitted.rank is None else fitted.rank
    return fitted.passes.among(order).counts


def _depth(found: Medoid, names: tuple[str, ...], fitted: Fit | None) -> DepthIntervals:
    """The numbers by which the most central object was found, with their intervals."""
    n = len(names)
    low, high = (np.full(n, np.nan) if end is None else end for end in (found.low, found.high))
    candidates = set(found.candidates)
    return DepthIntervals(
        depth=found.scores,
        low=low,
        high=high,
        medoid_set=np.array([name in candidates for name in names], dtype=np.bool_),
        level=found.level,
        names=names,
        method=found.method,
        about=about_depth(found.method, fitted.design if fitted is not None else None),
    )


def _support(fitted: Fit | None, held: Statements | None) -> Reason | None:
    """Why nothing can be claimed of the objects."""
    if held is not None and 0 < len(held) < held.n_objects:
        return "few answers"
    if fitted is not None:
        return fitted.support.reason
    assert held is not None
    return support_of_answers(held).reason or "few answers"


def _plane(data: Fit | Statements | Counted, seed: int) -> FloatArray:
    """Coordinates to look at, (n, 2)."""
    if isinstance(data, Fit):
        return data.plane
    n = data.n_objects
    plane = np.zeros((n, 2))
    if isinstance(data, Statements) and n > 1 and len(data):
        found = coordinates(data, "lensmap", min(2, n - 1), seed)
        plane[:, : found.shape[1]] = found
    return plane


def histogram(values: AnyArray, *, whole: bool = False) -> list[Facts]:
    """Bins for people, at most 24; those of whole numbers have their edges between them.

    >>> histogram(np.array([1.0, 1.0, 2.0]), whole=True)
    [{'from': 0.5, 'to': 1.5, 'count': 2}, {'from': 1.5, 'to': 2.5, 'count': 1}]
    """
    if not len(values):
        return []
    bins: int | FloatArray = 24
    if whole:
        width = max(1, int(np.ceil((np.ptp(values) + 1) / 24)))
        starts = np.arange(values.min(), values.max() + 1, width)
        bins = np.append(starts, values.max() + 1) - 0.5  # the last ends with the largest
    count, edge = np.histogram(values, bins=bins)
    return [
        {"from": float(edge[i]), "to": float(edge[i + 1]), "count": int(count[i])}
        for i in range(len(count))
    ]


def _seconds(seconds: FloatArray | None) -> Facts | None:
    known = np.zeros(0) if seconds is None else seconds[np.isfinite(seconds)]
    if not len(known):
        return None
    low, middle, high, most = np.quantile(known, [0.1, 0.5, 0.9, 0.98])
    return {
        "p10": float(low),
        "median": float(middle),
        "p90": float(high),
        # the longest answers, taken over a cup of coffee, would squeeze all others into one bin
        "histogram": histogram(known[known <= most]),
    }
