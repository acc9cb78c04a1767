# The public names, and where they live: the only list of them.
from . import counts as counts
from . import datasets as datasets
from . import depth as depth
from . import errors as errors
from . import exact as exact
from . import formats as formats
from . import graph as graph
from . import maps as maps
from . import plots as plots
from . import report as report
from . import simulate as simulate
from . import statements as statements
from . import tasks as tasks
from .counts import (
    CentralCounts as CentralCounts,
)
from .counts import (
    ClassCounts as ClassCounts,
)
from .counts import (
    LabelledPairCounts as LabelledPairCounts,
)
from .counts import (
    PairCounts as PairCounts,
)
from .counts import (
    count_central as count_central,
)
from .counts import (
    count_classes as count_classes,
)
from .counts import (
    count_labelled_pairs as count_labelled_pairs,
)
from .counts import (
    count_pairs as count_pairs,
)
from .depth import (
    centrality as centrality,
)
from .depth import (
    class_depth as class_depth,
)
from .depth import (
    depth_intervals as depth_intervals,
)
from .depth import (
    lens_depth as lens_depth,
)
from .errors import (
    DatasetError as DatasetError,
)
from .errors import (
    DissimilarityError as DissimilarityError,
)
from .errors import (
    FormatError as FormatError,
)
from .errors import (
    KindError as KindError,
)
from .errors import (
    LabelError as LabelError,
)
from .errors import (
    MissingExtraError as MissingExtraError,
)
from .errors import (
    ParameterError as ParameterError,
)
from .errors import (
    StatementError as StatementError,
)
from .errors import (
    StudyError as StudyError,
)
from .errors import (
    SurveyError as SurveyError,
)
from .errors import (
    TrilensError as TrilensError,
)
from .formats import (
    read_labels as read_labels,
)
from .formats import (
    read_objects as read_objects,
)
from .formats import (
    read_statements as read_statements,
)
from .formats import (
    scan_statements as scan_statements,
)
from .formats import (
    write_statements as write_statements,
)
from .graph import connecting_k as connecting_k
from .graph import effective_k as effective_k
from .graph import k_rng as k_rng
from .maps import (
    GNMDS as GNMDS,
)
from .maps import (
    SOE as SOE,
)
from .maps import (
    STE as STE,
)
from .maps import (
    TSTE as TSTE,
)
from .maps import (
    LensMap as LensMap,
)
from .simulate import (
    simulate_statements as simulate_statements,
)
from .simulate import (
    stream_statements as stream_statements,
)
from .statements import Statements as Statements
from .statements import concatenate as concatenate
from .tasks.classify.depth import LensDepthClassifier as LensDepthClassifier
from .tasks.classify.graph import KRNGClassifier as KRNGClassifier
from .tasks.classify.map import LensMapClassifier as LensMapClassifier
from .tasks.cluster.graph import KRNGClustering as KRNGClustering
from .tasks.cluster.partition import purity as purity
from .tasks.medoid import Medoid as Medoid
from .tasks.medoid import medoid as medoid
from .tasks.outliers import (
    LensDepthOutlierDetector as LensDepthOutlierDetector,
)
from .tasks.outliers import (
    Outliers as Outliers,
)
from .tasks.outliers import (
    outliers as outliers,
)
from .tasks.outliers import (
    suggest_count as suggest_count,
)

__version__: str
