"""The paper's figures and tables: experiments as data, one resumable runner, computed verdicts.

>>> from trilens.experiments import EXPERIMENTS
>>> EXPERIMENTS["recovery"].runs
5
"""

from trilens.errors import ParameterError
from trilens.experiments.cars import CARS_COLLECTIONS, CARS_MAP, CARS_MEDOIDS, CARS_OUTLIERS
from trilens.experiments.cars_classification import CARS_CLASSIFICATION
from trilens.experiments.cars_clustering import CARS_CLUSTERING
from trilens.experiments.classification import CLASSIFY_GAUSS, CLASSIFY_USPS
from trilens.experiments.clustering import CLUSTER_MOONS, CLUSTER_USPS
from trilens.experiments.framework.experiment import Cell, Experiment, Measure, Point, Seeds
from trilens.experiments.framework.results import Results
from trilens.experiments.framework.runner import outdated, recorded, run
from trilens.experiments.framework.summary import write_page
from trilens.experiments.framework.verdicts import Claim, Finding
from trilens.experiments.illustrations import ILLUSTRATIONS
from trilens.experiments.medoid import GAUSS2, GAUSS20
from trilens.experiments.network import NETWORK
from trilens.experiments.outliers import OUTLIERS_GAUSS, OUTLIERS_MOONS, OUTLIERS_USPS
from trilens.experiments.recovery import RECOVERY
from trilens.experiments.speed import SPEED

#: Every experiment by its name, in the order of the paper.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        ILLUSTRATIONS,
        GAUSS2,
        GAUSS20,
        NETWORK,
        OUTLIERS_GAUSS,
        OUTLIERS_MOONS,
        OUTLIERS_USPS,
        CLASSIFY_GAUSS,
        CLASSIFY_USPS,
        CLUSTER_MOONS,
        CLUSTER_USPS,
        CARS_COLLECTIONS,
        CARS_MEDOIDS,
        CARS_OUTLIERS,
        CARS_CLASSIFICATION,
        CARS_CLUSTERING,
        CARS_MAP,
        RECOVERY,
        SPEED,
    )
}


def experiment_named(name: str) -> Experiment:
    """The experiment of that name; an unknown name is answered by the list of names."""
    if name not in EXPERIMENTS:
        raise ParameterError(
            f"there is no experiment {name!r}; the names are {', '.join(EXPERIMENTS)}"
        )
    return EXPERIMENTS[name]


__all__ = [
    "EXPERIMENTS",
    "Cell",
    "Claim",
    "Experiment",
    "Finding",
    "Measure",
    "Point",
    "Results",
    "Seeds",
    "experiment_named",
    "outdated",
    "recorded",
    "run",
    "write_page",
]
