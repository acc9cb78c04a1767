"""Learning from ordinal data: medoids, outliers, classes, clusters and maps.

>>> import trilens as tl
>>> S = tl.Statements([[0, 1, 2], [0, 1, 3], [2, 1, 3]], names=["a", "b", "c", "d"])
>>> tl.medoid(S).name
'a'

Names are imported when they are first used, so that ``import trilens`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trilens import datasets, exact, graph, maps, plots, report, simulate
    from trilens.counts import (
        CentralCounts,
        ClassCounts,
        LabelledPairCounts,
        PairCounts,
        count_central,
        count_classes,
        count_labelled_pairs,
        count_pairs,
    )
    from trilens.depth import centrality, class_depth, depth_intervals, lens_depth
    from trilens.errors import (
        DatasetError,
        DissimilarityError,
        FormatError,
        KindError,
        LabelError,
        MissingExtraError,
        ParameterError,
        StatementError,
        TrilensError,
    )
    from trilens.formats import (
        read_labels,
        read_objects,
        read_statements,
        scan_statements,
        write_statements,
    )
    from trilens.graph import connecting_k, effective_k, k_rng
    from trilens.maps import GNMDS, SOE, STE, TSTE, LensMap
    from trilens.simulate import simulate_statements, stream_statements
    from trilens.statements import Statements, concatenate
    from trilens.tasks.clustering import KRNGClustering, purity
    from trilens.tasks.depth_classifier import LensDepthClassifier
    from trilens.tasks.krng_classifier import KRNGClassifier
    from trilens.tasks.map_classifier import LensMapClassifier
    from trilens.tasks.medoid import Medoid, medoid
    from trilens.tasks.outlier_detector import LensDepthOutlierDetector
    from trilens.tasks.outliers import Outliers, outliers, suggest_count

__version__ = "0.1.0"

_ROOMS = ("datasets", "exact", "graph", "maps", "plots", "report", "simulate")

_HOME = {
    "counts": (
        "CentralCounts",
        "ClassCounts",
        "LabelledPairCounts",
        "PairCounts",
        "count_central",
        "count_classes",
        "count_labelled_pairs",
        "count_pairs",
    ),
    "depth": ("centrality", "class_depth", "depth_intervals", "lens_depth"),
    "errors": (
        "DatasetError",
        "DissimilarityError",
        "FormatError",
        "KindError",
        "LabelError",
        "MissingExtraError",
        "ParameterError",
        "StatementError",
        "TrilensError",
    ),
    "formats": (
        "read_labels",
        "read_objects",
        "read_statements",
        "scan_statements",
        "write_statements",
    ),
    "graph": ("connecting_k", "effective_k", "k_rng"),
    "maps": ("GNMDS", "SOE", "STE", "TSTE", "LensMap"),
    "simulate": ("simulate_statements", "stream_statements"),
    "statements": ("Statements", "concatenate"),
    "tasks.clustering": ("KRNGClustering", "purity"),
    "tasks.depth_classifier": ("LensDepthClassifier",),
    "tasks.krng_classifier": ("KRNGClassifier",),
    "tasks.map_classifier": ("LensMapClassifier",),
    "tasks.medoid": ("Medoid", "medoid"),
    "tasks.outlier_detector": ("LensDepthOutlierDetector",),
    "tasks.outliers": ("Outliers", "outliers", "suggest_count"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "GNMDS",
    "SOE",
    "STE",
    "TSTE",
    "CentralCounts",
    "ClassCounts",
    "DatasetError",
    "DissimilarityError",
    "FormatError",
    "KRNGClassifier",
    "KRNGClustering",
    "KindError",
    "LabelError",
    "LabelledPairCounts",
    "LensDepthClassifier",
    "LensDepthOutlierDetector",
    "LensMap",
    "LensMapClassifier",
    "Medoid",
    "MissingExtraError",
    "Outliers",
    "PairCounts",
    "ParameterError",
    "StatementError",
    "Statements",
    "TrilensError",
    "centrality",
    "class_depth",
    "concatenate",
    "connecting_k",
    "count_central",
    "count_classes",
    "count_labelled_pairs",
    "count_pairs",
    "datasets",
    "depth_intervals",
    "effective_k",
    "exact",
    "graph",
    "k_rng",
    "lens_depth",
    "maps",
    "medoid",
    "outliers",
    "plots",
    "purity",
    "read_labels",
    "read_objects",
    "read_statements",
    "report",
    "scan_statements",
    "simulate",
    "simulate_statements",
    "stream_statements",
    "suggest_count",
    "write_statements",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"trilens.{name}")
    if name in _MODULE_OF:
        value = getattr(import_module(f"trilens.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'trilens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
