"""Wrong arguments to everything public: an error of the tree, or a result, and nothing else."""

from __future__ import annotations

import inspect
import os
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning

import trilens
from trilens.errors import AssumedKindWarning, TrilensError, UnmentionedObjectsWarning
from trilens.statements import Statements

#: Rooms whose public functions take wrong arguments with errors of the tree alone.
ROOMS = (
    *("statements", "files", "counts", "lens", "maps", "questions", "analysis"),
    *("simulate", "datasets"),
)
#: Not tried: `plots` and `report` hand what they are given to matplotlib and to the page, and
#: take what `analyze` returns; `exact` is to be moved to `ROOMS`. `reference` is read rather than
#: called: its loops take what the paper's take, and tests/test_reference.py has what it refuses.
LATER = ("exact", "plots", "report", "reference")

#: Not called: the loaders read whole data sets, and take hardly an argument.
LEFT_OUT = {
    # they read files time after time; tests/questions/test_large_files.py has their bad input
    *("load_cars", "load_usps", "load_ca_hepth", "load_things_odd_one_out", "load_food"),
    *("load_material", "load_musicians", "load_nights", "load_imagenet_similarity"),
    # what loaders return, and are asked about
    *("About", "PublicStudy", "Material", "ImageNetSimilarity", "Musicians", "Nights"),
    # they start processes and wait for addresses and for files
    "follow",
}

#: Values that nobody makes by hand: their fields are what the functions put there.
RESULTS = {
    *("CentralCounts", "ClassCounts", "LabelledPairCounts", "PairCounts", "Labels", "Scan"),
    *("Counted", "Reading", "Fault"),
    *("Summary", "RaterSummary", "Points", "Raters", "Study", "Survey", "Cars", "Things", "USPS"),
    *("Collaboration", "LensValues", "Map", "ModelDepth", "Analysis", "Fit"),
    *("Places", "Selection", "Kind", "StatementsLike", "KINDS"),
}

TRIPLES = np.array([[0, 1, 2], [1, 2, 3], [3, 0, 2], [2, 1, 0]])
S = Statements(TRIPLES, names=["a", "b", "c", "d"], kind="central")
#: So few objects that ``method="auto"`` fits no model, which takes a while.
FEW = Statements([[0, 1, 2], [1, 2, 0], [1, 0, 2]], names=["a", "b", "c"], kind="central")
CHOICE = trilens.ChoiceMap(1, l2=0.1).fit(S)
#: Quick parameters of the iterative maps.
QUICK = {"n_components": 1, "max_iter": 5}

#: What a parameter of that name takes; others have a default, which is taken.
RIGHT: dict[str, Any] = {
    "statements": S,
    "answers": S,
    "S": S,
    "triples": TRIPLES,
    "parts": [S, S],
    "rows": [0, 1],
    "objects": [0, 1, 2],
    "y": [0, 1, 0, 1],
    "n_classes": 2,
    "labelled": [0, 1],
    "n": 20,
    "n_objects": 20,
    "n_raters": 3,
    "n_outliers": 2,
    "means": [[0.0, 0.0], [3.0, 0.0]],
    "outliers": [[4.0, 4.0]],
    "noise_param": 0.1,
    "survey": Statements([[0, 1, 2]], names=["18", "15", "53"], rounds=[1], kind="central"),
    "name": "ALL",
    "X": S,
    "k": 1,
    "graph": [[0, 1, 0], [1, 0, 0], [0, 1, 0]],
    "value": np.array([0.1, 0.5]),
    "error_rate": 0.1,
    "embedding": np.arange(4.0)[:, None],
    "clusters": [0, 0, 1, 1],
    "classes": ["a", "b", "b", "b"],
    "evaluations": [trilens.evaluate(S, embedding=np.arange(4.0))],
    "by": ["x", "x", "y", "y"],
    "estimator": CHOICE,
}
NINE = np.random.default_rng(0).normal(size=(9, 2))
#: Where the same name means something else.
RIGHT_FOR: dict[str, dict[str, Any]] = {
    "Statements": {"n_objects": None},
    "Answers": {"source": S},
    "write_counts": {"counts": S},
    "merge_counts": {"counts": [trilens.counts.counted(S)]},
    "simulate_statements": {"objects": NINE},
    "stream_statements": {"objects": NINE},
    "ask_raters": {"objects": NINE, "raters": trilens.simulate.draw_raters(3)},
    "ask_survey": {"objects": NINE, "raters": trilens.simulate.draw_raters(3), "n_rounds": 2},
    **{
        name: {
            "statements": Statements(TRIPLES, rounds=[1, 1, 2, 2], kind="central"),
            "tests": [[0, 1, 2]],
        }
        for name in ("passed_tests", "keep_passed")
    },
    "distort": {"objects": NINE},
    "far_outliers": {"points": trilens.simulate.gaussian(9)},
    "with_outliers": {"points": trilens.simulate.gaussian(9)},
    "write_table": {"columns": {"x": [1, 2]}},
    "Comparisons": {"rows": [[0, 1, 2, 3]]},
    "answer": {"questions": S, "objects": NINE},
    "procrustes_distance": {"X": np.eye(4)[:, :2], "Y": np.eye(4)[:, 1:3]},
    "violations": {"kind": "central", "statements": TRIPLES},
    "Statements.from_responses": {"X": TRIPLES, "y": [1, -1, 1, 1]},
    "Statements.from_questions": {
        "shown": [["a", "b", "c", "d"], ["b", "c", "d"]],
        "answers": ["a", "c"],
        "asked": "odd",
    },
    "Statements.from_frame": {"table": S.to_arrow()},
    "SOE": QUICK,
    "STE": QUICK,
    "TSTE": QUICK,
    "GNMDS": QUICK,
    "ChoiceMap": {**QUICK, "l2": 0.1},
    "LensMap": {"n_components": 1},
    "MapClassifier": {"map": "lensmap", "n_components": 1},
    "MapClustering": {"X": FEW},
    "MapOutlierDetector": {"X": FEW},
    **{
        name: {"answers": FEW, "labels": [0, 1, 1]}
        for name in ("medoid", "outliers", "neighbors", "cluster", "classify", "analyze", "fit")
    },
}

ARRAYS = [
    np.array(3),
    np.array([]),
    np.array([1, 2, 3]),
    np.array([[1, 2], [3, 4]]),
    np.zeros((4, 3)),
    np.full((4, 3), np.nan),
    np.array([[0, 1, 2]], dtype=np.uint64) + np.uint64(2**63),
    np.array(["a", None], dtype=object),
    np.array([1 + 2j]),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.ones((2, 2, 2), dtype=bool),
]
WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 1, 2, 2**63, 10**30, -(10**30)]),
    st.sampled_from([0.5, -0.5, 1e300, float("nan"), float("inf"), -float("inf"), 1j]),
    st.sampled_from(["", "a", "nonsense", "\ud800", "a\0b", b"bytes"]),
    st.sampled_from([[], [[]], [1, [2, 3]], [[0, 1], [2]], [None], ["a", 1], [[0, 1, "x"]], {}]),
    st.sampled_from(["auto", "depth", "krng", "lensmap", "gap", "loo", "knn", "one"]),
    st.sampled_from([{"a": None}, {1, 2}, (), ("x",) * 4, range(3), object(), Exception]),
    st.sampled_from([[float("nan")] * 4, [True, False, True, True], [10**30] * 4, [-1] * 4]),
    st.integers(0, len(ARRAYS) - 1).map(lambda i: ARRAYS[i]),
    st.just(S),
)


def public() -> dict[str, Any]:
    """What is public at the top and in the rooms; of an estimator, making and fitting it."""
    found: dict[str, Any] = {}
    for module in (trilens, *(import_module(f"trilens.{room}") for room in ROOMS)):
        for name in set(getattr(module, "__all__", ())) - LEFT_OUT - RESULTS:
            value = getattr(module, name)
            is_error = inspect.isclass(value) and issubclass(value, Exception)
            if callable(value) and not is_error:
                found[name] = fitting(value) if hasattr(value, "fit") else value
    return found


def fitting(Estimator: Any) -> Any:
    """Make an estimator and fit it, as one function of the parameters of both."""
    own = inspect.signature(Estimator).parameters
    of_fit = dict(list(inspect.signature(Estimator.fit).parameters.items())[1:])

    def fit(**given: Any) -> Any:
        made = Estimator(**{name: given[name] for name in own if name in given})
        return made.fit(**{name: given[name] for name in of_fit if name in given})

    both = {**own, **of_fit}.values()
    by_name = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in both]
    fit.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
    return fit


def methods() -> dict[str, Any]:
    """The methods of statements and of what is fitted to them, bound."""
    classifier = trilens.MapClassifier(map="lensmap", n_components=1).fit(S, [0, 1, 0, 1])
    detector = trilens.LensDepthOutlierDetector().fit(S)
    names = {
        S: (
            *("take", "subset", "object_ids", "reduce", "from_responses"),
            *("from_questions", "from_frame"),
        ),
        CHOICE: (*("predict_proba", "score", "depth", "predict", "transform", "fit_transform"),),
        CHOICE.fit_.map: ("probabilities", "depth"),
        trilens.lens.lens_values(S): ("below", "connecting_k", "graph"),
        classifier: ("predict", "predict_proba", "score"),
        detector: ("score_samples", "decision_function", "predict"),
    }
    return {f"{type(of).__name__}.{name}": getattr(of, name) for of in names for name in names[of]}


CALLED = public() | methods()


def test_every_public_room_is_tried_or_waits() -> None:
    rooms = {name for name in trilens.__all__ if inspect.ismodule(getattr(trilens, name))}
    assert rooms - {"errors"} <= {*ROOMS, *LATER}
    assert not set(ROOMS) & set(LATER)


OPEN_ENDED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def right_arguments(name: str, signature: inspect.Signature, folder: Path) -> dict[str, Any]:
    given: dict[str, Any] = {}
    special = RIGHT_FOR.get(name, {})
    for parameter in signature.parameters.values():
        if parameter.kind in OPEN_ENDED:
            continue
        if parameter.name in ("path", "path_or_glob", "output"):
            given[parameter.name] = str(folder / ("new.csv" if "write" in name else "s.csv"))
        elif parameter.name in special:
            given[parameter.name] = special[parameter.name]
        elif parameter.default is parameter.empty:
            given[parameter.name] = RIGHT[parameter.name]
    return given


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "s.csv").write_text("a,b,c\nb,c,d\n")
    (folder / "l.csv").write_text("object,label\na,1\n")
    return folder


#: They do much even with few statements, so they are tried less often.
SLOW = {"analyze", "cluster", "medoid", "outliers", "classify", "structure", "hierarchy"}


@pytest.mark.parametrize("name", sorted(set(CALLED) - SLOW))
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_errors_of_the_tree(name: str, data: st.DataObject, folder: Path) -> None:
    call_with_wrong_arguments(name, data, folder)


@pytest.mark.parametrize("name", sorted(SLOW))
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_only_errors_of_the_tree_from_what_is_slow(
    name: str, data: st.DataObject, folder: Path
) -> None:
    call_with_wrong_arguments(name, data, folder)


def call_with_wrong_arguments(name: str, data: st.DataObject, folder: Path) -> None:
    function = CALLED[name]
    signature = inspect.signature(function)
    arguments = right_arguments(name, signature, folder)
    names = [p.name for p in signature.parameters.values() if p.kind not in OPEN_ENDED]
    for wrong in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)):
        arguments[wrong] = data.draw(WRONG)
    before, message = os.getcwd(), ""
    os.chdir(folder)  # where a text is taken for the name of a file
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for told in (AssumedKindWarning, ConvergenceWarning, UnmentionedObjectsWarning):
                warnings.simplefilter("ignore", told)
            result = function(**arguments)
            if inspect.isgenerator(result) or name in ("scan_statements", "stream_statements"):
                next(iter(result), None)
            if hasattr(result, "__enter__"):
                with result:
                    pass
            if isinstance(result, Statements):
                result.summary().to_dict()
            elif hasattr(result, "to_dict"):
                result.to_dict()
    except TrilensError as error:
        message = str(error)
    finally:
        os.chdir(before)
    assert "\n" not in message
