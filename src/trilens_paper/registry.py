"""The experiments by their names.

>>> EXPERIMENTS["recovery"].runs
5
"""

from trilens.errors import ParameterError
from trilens_paper.cars import CARS_COLLECTIONS, CARS_MAP, CARS_MEDOIDS, CARS_OUTLIERS
from trilens_paper.cars_classification import CARS_CLASSIFICATION
from trilens_paper.cars_clustering import CARS_CLUSTERING
from trilens_paper.classification import CLASSIFY_GAUSS, CLASSIFY_USPS
from trilens_paper.clustering import CLUSTER_MOONS, CLUSTER_USPS
from trilens_paper.framework.experiment import Experiment
from trilens_paper.illustrations import ILLUSTRATIONS
from trilens_paper.medoid import GAUSS2, GAUSS20
from trilens_paper.network import NETWORK
from trilens_paper.outliers import OUTLIERS_GAUSS, OUTLIERS_MOONS, OUTLIERS_USPS
from trilens_paper.recovery import RECOVERY
from trilens_paper.speed import SPEED

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
