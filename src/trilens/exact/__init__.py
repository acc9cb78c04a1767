"""The truth, from dissimilarities: lens counts, lens depth, the k-RNG and the medoid.

What the paper estimates from statements, computed by its definition; the ground truth of
experiments, and a tool in its own right. No triangle inequality is assumed, and ties are exact.

>>> import numpy as np
>>> D = np.array([[0, 2, 3], [2, 0, 1], [3, 1, 0]])
>>> lens_depth(D)
array([0., 1., 0.])
"""

from typing import TYPE_CHECKING, Any

from trilens.exact.depth import lens_counts, lens_depth, local_lens_depth
from trilens.exact.graphs import k_rng
from trilens.exact.sampling import Deepest, DepthEstimate, deepest
from trilens.exact.semimetrics import (
    check_dissimilarities,
    dissimilarities,
    fermat_dissimilarities,
    graph_dissimilarities,
    medoid,
)

if TYPE_CHECKING:
    from trilens.exact.detector import LensDepth

__all__ = [
    "Deepest",
    "DepthEstimate",
    "LensDepth",
    "check_dissimilarities",
    "deepest",
    "dissimilarities",
    "fermat_dissimilarities",
    "graph_dissimilarities",
    "k_rng",
    "lens_counts",
    "lens_depth",
    "local_lens_depth",
    "medoid",
]


def __getattr__(name: str) -> Any:
    # scikit-learn is loaded with the estimator, and not with the functions
    if name == "LensDepth":
        from trilens.exact.detector import LensDepth

        return LensDepth
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
