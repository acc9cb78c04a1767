# The public names, and where they live: the only list of them.
from . import (
    analysis as analysis,
    counts as counts,
    datasets as datasets,
    errors as errors,
    exact as exact,
    files as files,
    lens as lens,
    maps as maps,
    plots as plots,
    questions as questions,
    reference as reference,
    report as report,
    simulate as simulate,
    statements as statements,
)
from .analysis import (
    Analysis as Analysis,
    analyze as analyze,
)
from .answers import Answers as Answers
from .counts import (
    count_central as count_central,
    count_pairs as count_pairs,
    merge_counts as merge_counts,
    read_counts as read_counts,
    write_counts as write_counts,
)
from .exact import LensDepth as LensDepth
from .files import (
    read_statements as read_statements,
    scan_statements as scan_statements,
    write_statements as write_statements,
)
from .lens import (
    centrality as centrality,
    k_rng as k_rng,
    lens_depth as lens_depth,
)
from .maps import (
    GNMDS as GNMDS,
    SOE as SOE,
    STE as STE,
    TSTE as TSTE,
    ChoiceMap as ChoiceMap,
    Fit as Fit,
    LensMap as LensMap,
    fit as fit,
    load as load,
    neg_log_loss as neg_log_loss,
    procrustes_distance as procrustes_distance,
    violations as violations,
)
from .questions.classify.classes import (
    classify as classify,
)
from .questions.classify.map_classifier import (
    MapClassifier as MapClassifier,
)
from .questions.classify.paper import (
    KRNGClassifier as KRNGClassifier,
    LensDepthClassifier as LensDepthClassifier,
)
from .questions.cluster.groups import (
    MapClustering as MapClustering,
    cluster as cluster,
    structure as structure,
)
from .questions.cluster.krng import KRNGClustering as KRNGClustering
from .questions.cluster.spectral import purity as purity
from .questions.compare_groups import (
    compare_groups as compare_groups,
)
from .questions.depth import (
    depth_intervals as depth_intervals,
)
from .questions.distances import (
    distances as distances,
)
from .questions.evaluate import (
    compare_models as compare_models,
    evaluate as evaluate,
)
from .questions.graph import (
    neighbors as neighbors,
)
from .questions.hierarchy import (
    hierarchy as hierarchy,
)
from .questions.individuals import (
    individuals as individuals,
)
from .questions.local_depth import (
    local_depth as local_depth,
)
from .questions.medoid import (
    medoid as medoid,
)
from .questions.next_questions import (
    next_questions as next_questions,
)
from .questions.outliers import (
    LensDepthOutlierDetector as LensDepthOutlierDetector,
    MapOutlierDetector as MapOutlierDetector,
    outliers as outliers,
)
from .questions.plan import (
    plan as plan,
)
from .questions.reliability import (
    reliability as reliability,
)
from .questions.stopping import (
    stopping as stopping,
)
from .simulate import simulate_statements as simulate_statements
from .statements import (
    Statements as Statements,
    concatenate as concatenate,
)
from .study_design import (
    design as design,
)

__version__: str
