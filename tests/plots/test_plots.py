from __future__ import annotations

import sys
from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.offsetbox import AnnotationBbox
from PIL import Image
from scipy.sparse import csr_array

import trilens as tl
from people import survey
from trilens import plots
from trilens.errors import FormatError, MissingExtraError, ParameterError
from trilens.plots.style import colors, markers
from trilens.questions.compare_groups import ComparedGroups, GroupView
from trilens.questions.hierarchy import Hierarchy
from trilens.questions.reliability import reliability
from trilens.statements import Statements

mpl.use("Agg")


@pytest.fixture(autouse=True)
def ax():
    yield plt.subplots()[1]
    plt.close("all")


@pytest.fixture
def picture(tmp_path):
    Image.new("RGB", (30, 20), "red").save(tmp_path / "picture.png")
    return tmp_path / "picture.png"


def _drawn(ax):
    ax.figure.canvas.draw()
    return ax


def _texts(ax):
    return [text.get_text() for text in ax.texts]


def test_sorted_depths_marks_and_names_the_outliers_or_names_the_lowest(ax):
    depth = np.array([0.4, 0.1, 0.3, 0.05])
    out = plots.sorted_depths(
        depth, low=depth - 0.05, high=depth + 0.05, n_outliers=2, names=list("abcd"), ax=ax
    )
    assert out is ax
    assert _texts(_drawn(ax)) == ["d", "b"]
    inliers, outliers = ax.collections[1], ax.collections[2]
    np.testing.assert_allclose(inliers.get_offsets()[:, 1], [0.3, 0.4])
    np.testing.assert_allclose(outliers.get_offsets(), [[1, 0.05], [2, 0.1]])
    without = plots.sorted_depths([0.4, 0.1, 0.3, 0.05, 0.2], names=list("abcde"))
    assert _texts(without) == ["d", "b", "e"]


def test_names_are_text_not_formulas(ax):
    plots.sorted_depths([0.1, 0.2], n_outliers=1, names=["$\\frac{", "x"], ax=ax)
    plots.object_map([[0, 0], [1, 1]], names=["$\\frac{", "x"], ax=ax)
    _drawn(ax)


def test_map_draws_pictures_where_there_are_any(ax, picture):
    plots.object_map(
        [[0, 0], [1, 1]], names=["a", "b"], groups=[0, 1], pictures={"a": picture}, ax=ax
    )
    assert sum(isinstance(artist, AnnotationBbox) for artist in _drawn(ax).artists) == 1
    assert [text for text in _texts(ax) if text] == ["b"]


def test_graph_drawing_draws_each_edge_once_whatever_its_direction(ax):
    directed = csr_array(np.array([[1, 1, 0], [1, 0, 1], [0, 0, 0]]))
    plots.graph_drawing([[0, 0], [1, 0], [2, 0]], directed, groups=["x", "y", "x"], ax=ax)
    assert len(_drawn(ax).collections[0].get_segments()) == 2
    none = plots.graph_drawing([[0, 0], [1, 0]], np.zeros((2, 2)))
    assert len(_drawn(none).collections[0].get_segments()) == 0


def test_depth_against_depth_shows_unlabelled_objects_apart(ax):
    plots.depth_against_depth([[0.4, 0.1], [0.1, 0.4], [0.2, 0.2]], np.array([0, 1, -1]), ax=ax)
    labels = [text.get_text() for text in _drawn(ax).get_legend().get_texts()]
    assert labels == ["0", "1", "unlabeled"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("depth in class 0", "depth in class 1")


def test_heat_map_cells_are_centred_on_the_grid_and_bars_on_their_values(ax):
    plots.depth_heat_map(np.eye(3), (0.0, 2.0, 0.0, 4.0), points=[[1, 1]], ax=ax)
    assert _drawn(ax).get_images()[0].get_extent() == [-0.5, 2.5, -1.0, 5.0]
    bars = plots.appearances([5, 5, 6])
    assert [bar.get_height() for bar in bars.patches] == [2, 1]
    for few_or_many in ([], np.arange(1000)):
        _drawn(plots.appearances(few_or_many))


def test_colours_are_the_safe_ones_and_groups_differ_by_marker_beyond_them():
    groups = range(40)
    colour, marker = colors(groups), markers(groups)
    assert set(colour.values()) == set(plots.PALETTE)
    assert len({(colour[g], marker[g]) for g in groups}) == 40
    assert colors([2, "b", 1, np.int64(1)]) == dict(zip([1, 2, "b"], plots.PALETTE, strict=False))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: plots.object_map([[0, 0, 0]]), r"it must be \(n, 2\)"),
        (lambda: plots.object_map([[0, 0]], names=["a", "b"]), "2 names for 1 objects"),
        (lambda: plots.sorted_depths([0.1], n_outliers=2), "n_outliers is 2; .* from 0 to 1"),
        (lambda: plots.graph_drawing([[0, 0]], np.eye(2)), "there are 1 points"),
        (lambda: plots.depth_against_depth([[0.1, 0.2]], ["a"]), "there are 1 classes"),
        (
            lambda: plots.depth_against_depth([[0.1]], ["a"]),
            r"features has shape .* must be \(n, 2\)",
        ),
        (lambda: plots.depth_heat_map([0.1], (0, 1, 0, 1)), "a grid of at least 2 x 2"),
    ],
)
def test_wrong_input_is_named(call, said):
    with pytest.raises(ParameterError, match=said):
        call()


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match="pip install 'trilens\\[plots\\]'"):
        plots.appearances([1, 2])


def test_a_tree_has_every_object_and_cuts_long_names_in_the_middle(ax, picture):
    linkage = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 1.0, 4]])
    found = Hierarchy(("a" * 60, "b", "$c$", "d"), linkage, np.array([1.0, 0.6, 1.0]), None)
    assert plots.tree(found, pictures={"b": picture}, ax=ax) is ax
    _drawn(ax)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert set(names) >= {"b", "$c$", "d"}
    assert max(map(len, names)) < 40
    assert len(ax.collections[0].get_segments()) == 9
    assert sum(isinstance(child, AnnotationBbox) for child in ax.get_children()) == 1


def test_group_maps_join_the_places_of_each_object(ax):
    planes = [np.zeros((3, 2)), np.ones((3, 2))]
    groups = tuple(
        GroupView(name, 2, 9, None, None, (), None, None, None, plane)
        for name, plane in zip("xy", planes, strict=True)
    )
    made = ComparedGroups(
        "odd", None, groups, 0.01, True, None, None, "raters", 99, ("b",), None, None, 0, 1 / 3,
        ("a", "b", "c"),
    )  # fmt: skip
    _drawn(plots.group_maps(made, ax=ax))
    assert len(ax.collections[0].get_segments()) == 3
    assert len(np.unique(ax.collections[0].get_colors(), axis=0)) == 2
    assert _texts(ax) == ["a", "b", "c"]


def test_a_figure_appears_whole_or_not_at_all(ax, tmp_path):
    plots.save_figure(ax, tmp_path / "figure.svg")
    with pytest.raises(FormatError, match="cannot be written"):
        plots.save_figure(plots.appearances([1, 2]), tmp_path / "figure.doc")
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]


def test_a_map_of_many_objects_names_some_and_cuts_names_in_the_middle(ax):
    X = np.random.default_rng(0).normal(size=(400, 2))
    names = [f"pictures/round-1/with-a-long-name-{i:04d}.png" for i in range(400)]
    plots.object_map(X, names=names, ax=ax)
    written = _texts(ax)
    assert 30 <= len(written) <= 80
    assert len(set(written)) == len(written)
    assert max(map(len, written)) <= 32
    at = np.array([text.xy for text in ax.texts])
    assert np.ptp(at, axis=0) == pytest.approx(np.ptp(X, axis=0))


# ---- how good the answers are, and models ------------------------------------------------------

POINTS = np.random.default_rng(5).standard_normal((16, 2))


@pytest.fixture(scope="module")
def people():
    return survey(POINTS, raters=16, per=100, seed=1)


@pytest.fixture(scope="module")
def found(people):
    return reliability(people)


def test_raters_stand_on_one_axis_the_most_careful_first(found):
    ax = plots.rater_intervals(found)
    ax.figure.canvas.draw()
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        row.rater for row in sorted(found.raters, key=lambda row: row.blind)
    ]
    drawn = np.concatenate([dots.get_offsets() for dots in ax.collections[1::2]])
    assert sorted(drawn[:, 0]) == pytest.approx(sorted(row.blind for row in found.raters))
    with pytest.raises(ParameterError, match="no raters"):
        plots.rater_intervals(reliability(Statements([[0, 1, 2]], kind="central")))
    unknown = tuple(replace(row, blind=None) for row in found.raters)
    with pytest.raises(ParameterError, match="no raters can be judged"):
        plots.rater_intervals(replace(found, raters=unknown))


def test_the_bar_has_chance_prediction_agreement_and_the_best(found):
    ax = plots.ceiling_bar(found)
    texts = _texts(ax)
    assert len(texts) == 4
    assert f"two raters agree {found.ceiling:.0%}" in texts
    assert len(plots.ceiling_bar(reliability(Statements([[0, 1, 2]], kind="central"))).texts) == 1


def test_models_stand_between_chance_and_the_ceiling(people):
    true = tl.evaluate(people, embedding=POINTS, name="$true")
    models = [true, tl.evaluate(people, answers=people, yardstick=true.yardstick)]
    ax = plots.models_against_ceiling(models)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["model", "$true"]
    ax.figure.canvas.draw()
    with pytest.raises(ParameterError, match="no models"):
        plots.models_against_ceiling([])
