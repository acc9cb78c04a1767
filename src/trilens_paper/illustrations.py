"""Lenses, graphs and depth functions: the paper's illustrations (Sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import FloatArray
from trilens.simulate import mixture
from trilens_paper.framework.experiment import Experiment, Measure, Point, Seeds
from trilens_paper.framework.figures import new_figure
from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import (
    Claim,
    Finding,
    Verdict,
    above,
    at_least,
    at_most,
    below,
    each,
    near,
    quorum,
    share_within,
    within,
)
from trilens_paper.ingredients.methods import LOSS, ten_fold_knn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "illustrations"
#: Points of the heat map, of the graphs, and of the samples that stand for a distribution.
N_HEAT, N_GRAPH, N_SAMPLE = 18, 80, 400
KS = (1, 3, 10)
KRNG, KNN = "k-RNG", "k-NN graph"
CONNECTED, ACROSS = "connected", "edges between the components"
HALFSPACE, LENS, FUNCTION_F = "halfspace depth", "lens depth", "F of Crowd-Median"
AT_CENTRE = "share of places less deep than the centre"
LENSES, GRAPHS, DEPTHS = (Point(panel=p) for p in ("lenses", "graphs", "depths"))
SYMMETRIC, DD = Point(panel="symmetric"), Point(panel="DD-plots")
THRESHOLD, LOCAL = Point(panel="correction"), Point(panel="local depth")
SPARSE, SHARED = Point(panel="sparse graphs"), Point(panel="shared lenses")
MAX_DEPTH, ON_DD = "max-depth", "k-NN on the DD-plot"
#: Two classes of the plane, and where the second differs: in its place, or in its width.
CLASSES = {"location": ((2.0, 0.0), 1.0), "width": ((0.0, 0.0), 3.0)}
N_CLASS = 100
#: The graph that wrong answers are to give back: points, share of the statements, errorprob, k.
N_BIASED, ASKED, WRONG, K_BIASED = 60, 0.3, 0.3, 10
BIAS, SLOPE = "estimated minus true share", "slope of estimated on true share"
#: Pairs with a small true share of points in their lens.
FEW_INSIDE, BIAS_OF_FEW = 0.2, "estimated minus true share, small shares"
#: The least loss that any classifier can have on two N(., I) at a distance of 2: Phi(-1).
BAYES_RISK = 0.1587
#: Local lens depth counts the nearest pairs alone, this share of them.
SHARE = 0.02
LOCAL_DEPTH = "local lens depth"
WITH_DENSITY, FROM_MODE = "rank correlation with the density", "distance from a mode"
#: Points of the RNG whose edges are counted, and the spaces they lie in.
N_SPARSE, PLANE, SPACE, MAXIMUM = 400, "2 dimensions", "3 dimensions", "maximum norm"
EDGES = "edges of the RNG by those of the complete graph"
PLANAR = (3 * N_SPARSE - 6) / (N_SPARSE * (N_SPARSE - 1) / 2)
#: Points that share lenses, and the share of their pairs that are called near.
N_SHARED, SHARED_SHARE = 200, 0.1
BY_SHARED, WITH_DISTANCE = "pairs near by shared lenses", "rank correlation with the distance"


def beta_sample(rng: np.random.Generator, n: int = N_SAMPLE) -> FloatArray:
    """Two independent Beta(2, 4) coordinates."""
    return rng.beta(2, 4, size=(n, 2))


def gauss_sample(rng: np.random.Generator, n: int = N_SAMPLE) -> FloatArray:
    """An equal mixture of N((-2, 0), I) and N((2, 0), I)."""
    return mixture(n, [[-2, 0], [2, 0]], random_state=rng).points


#: The paper's two distributions: a sample, the density, and the part of the plane that is drawn.
DISTRIBUTIONS: dict[str, tuple[Any, Any, tuple[float, float, float, float]]] = {
    "Beta(2, 4) x Beta(2, 4)": (
        beta_sample,
        lambda x, y: 400 * x * (1 - x) ** 3 * y * (1 - y) ** 3,
        (0.0, 1.0, 0.0, 1.0),
    ),
    "two Gaussians": (
        gauss_sample,
        lambda x, y: (
            (np.exp(-((x - 2) ** 2) / 2) + np.exp(-((x + 2) ** 2) / 2))
            * np.exp(-(y**2) / 2)
            / (4 * np.pi)
        ),
        (-5.0, 5.0, -3.5, 3.5),
    ),
}


def halfspace_depth(queries: FloatArray, sample: FloatArray) -> FloatArray:
    """The smallest share of a sample of the plane in a closed half-plane that holds the query.

    Tukey (1975). Only lines through the query and a point of the sample matter: turned a little,
    such a line leaves that point on either side.

    >>> square = np.array([[1.0, 0.1], [-0.1, 1.0], [-1.0, -0.1], [0.1, -1.0]])
    >>> halfspace_depth(np.array([[0.0, 0.0], [3.0, 0.0]]), square).tolist()
    [0.25, 0.0]
    """
    n = len(sample)
    depth = np.empty(len(queries))
    for i, x in enumerate(queries):
        off = sample - x
        angle = np.sort(np.arctan2(off[:, 1], off[:, 0]))
        # how many follow each point within half a turn
        ahead = np.searchsorted(np.r_[angle, angle + 2 * np.pi], angle + np.pi) - np.arange(n) - 1
        depth[i] = min(ahead.min(), (n - 1 - ahead).min()) / n
    return depth


def f_of_crowd_median(queries: FloatArray, sample: FloatArray) -> FloatArray:
    """F(x), the paper's eq. (19): the share of pairs of which x is not the odd one."""
    from scipy.spatial.distance import cdist

    away, sides = cdist(queries, sample), cdist(sample, sample)
    i, j = np.triu_indices(len(sample), 1)
    return np.array([1 - np.mean(np.minimum(d[i], d[j]) > sides[i, j]) for d in away])


def lens_depth_at(queries: FloatArray, sample: FloatArray) -> FloatArray:
    """The share of pairs of the sample whose lens holds the query."""
    from trilens.exact import lens_depth

    found: FloatArray = lens_depth(sample, queries, metric="euclidean", normalise=True, n_threads=1)
    return found


#: Symmetric about 0: a cloud, a ring, a square, two modes on the line far from each other.
SYMMETRICAL: dict[str, Callable[[np.random.Generator], FloatArray]] = {
    "Gaussian": lambda rng: rng.standard_normal((N_SAMPLE // 2, 2)),
    "square": lambda rng: rng.uniform(-1, 1, (N_SAMPLE // 2, 2)),
    "ring": lambda rng: _turned(rng, 1 + 0.1 * rng.standard_normal(N_SAMPLE // 2)),
    "two modes": lambda rng: np.column_stack(
        [6 + rng.standard_normal(N_SAMPLE // 2), 0.01 * rng.standard_normal(N_SAMPLE // 2)]
    ),
}


#: The number of each of them.
_ITEMS = {name: item for item, name in enumerate(SYMMETRICAL)}


def _turned(rng: np.random.Generator, radius: FloatArray) -> FloatArray:
    angle = 2 * np.pi * rng.random(len(radius))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def measure_illustrations(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """What the illustrations show, as numbers."""
    return _MEASURES[point.panel](seeds)


def _measure_lenses(seeds: Seeds) -> Iterator[Measure]:
    """The middle of 18 points is in more lenses than their rim."""
    X = seeds.rng("points").standard_normal((N_HEAT, 2))
    depth = lens_depth_at(X, X)
    order = np.argsort(np.linalg.norm(X - X.mean(axis=0), axis=1))
    yield Measure(
        LENS, "middle minus rim", float(depth[order[:6]].mean() - depth[order[-6:]].mean())
    )


def graph_points(seeds: Seeds) -> Any:
    """80 points of two Gaussians, and the component of each."""
    return mixture(N_GRAPH, [[0, 0], [5, 0]], random_state=seeds.rng("points"))


def graphs(X: FloatArray, k: int) -> dict[str, FloatArray]:
    """The k-RNG and the symmetric k-NN graph."""
    from scipy.spatial.distance import cdist

    from trilens.exact import k_rng

    D = cdist(X, X)
    near = np.zeros_like(D)
    order = (D + np.diag(np.full(len(D), np.inf))).argsort(axis=1)[:, :k]
    np.put_along_axis(near, order, 1.0, axis=1)
    return {KRNG: k_rng(D, k, n_threads=1).toarray(), KNN: np.maximum(near, near.T)}


def _measure_graphs(seeds: Seeds) -> Iterator[Measure]:
    from scipy.sparse.csgraph import connected_components

    drawn = graph_points(seeds)
    across = drawn.labels[:, None] != drawn.labels
    for k in KS:
        for method, graph in graphs(drawn.points, k).items():
            parts = connected_components(graph, directed=False)[0]
            yield Measure(method, CONNECTED, float(parts == 1), k=k)
            yield Measure(method, ACROSS, float(graph[across].sum() / 2), k=k)


def _measure_depths(seeds: Seeds) -> Iterator[Measure]:
    """How deep the middle between two modes is, beside the modes."""
    sample = gauss_sample(seeds.rng("points"))
    places = np.array([[0.0, 0.0], [-2.0, 0.0], [2.0, 0.0]])
    for method, depth in ((HALFSPACE, halfspace_depth), (LENS, lens_depth_at)):
        found = depth(places, sample)
        yield Measure(method, "middle minus modes", float(found[0] - found[1:].max()))
    density = DISTRIBUTIONS["two Gaussians"][1](places[:, 0], places[:, 1])
    yield Measure("density", "middle minus modes", float(density[0] - density[1:].max()))


def _measure_symmetric(seeds: Seeds) -> Iterator[Measure]:
    """How many places of a symmetric sample are less deep than its centre."""
    for item, (name, draw) in enumerate(SYMMETRICAL.items()):
        half = draw(seeds.rng(name))
        sample = np.r_[half, -half]
        places = np.r_[[[0.0, 0.0]], sample[::4]]
        for method, depth in (
            (HALFSPACE, halfspace_depth),
            (LENS, lens_depth_at),
            (FUNCTION_F, f_of_crowd_median),
        ):
            found = depth(places, sample)
            yield Measure(method, AT_CENTRE, float((found[1:] <= found[0]).mean()), item=item)


def dd_plot(seeds: Seeds, name: str) -> tuple[FloatArray, FloatArray]:
    """The depths of 400 points in each of two classes of 100, and the class of each point.

    The first 200 are the classes themselves, the others are new.
    """
    rng = seeds.rng(f"classes of {name}")
    centre, width = CLASSES[name]
    first = rng.standard_normal((2 * N_CLASS, 2))
    second = np.array(centre) + width * rng.standard_normal((2 * N_CLASS, 2))
    X = np.r_[first[:N_CLASS], second[:N_CLASS], first[N_CLASS:], second[N_CLASS:]]
    y = np.tile(np.repeat([0.0, 1.0], N_CLASS), 2)
    depths = [lens_depth_at(X, X[c * N_CLASS : (c + 1) * N_CLASS]) for c in (0, 1)]
    return np.column_stack(depths), y


def _measure_dd(seeds: Seeds) -> Iterator[Measure]:
    """The loss of the class of the higher depth, and of a classifier on both depths."""
    for item, name in enumerate(CLASSES):
        depth, y = dd_plot(seeds, name)
        known, new = depth[: 2 * N_CLASS], depth[2 * N_CLASS :]
        model = ten_fold_knn((1, 3, 5, 7, 11, 15, 23), seeds.integer(name))
        found = {
            MAX_DEPTH: new.argmax(axis=1),
            ON_DD: model.fit(known, y[: 2 * N_CLASS]).predict(new),
        }
        for method, predicted in found.items():
            yield Measure(method, LOSS, float((predicted != y[2 * N_CLASS :]).mean()), item=item)


def _measure_thresholding(seeds: Seeds) -> Iterator[Measure]:
    """The corrected estimate of the share of points in a lens, and the graph made from it."""
    from scipy.spatial.distance import cdist

    from trilens.exact import k_rng, lens_counts
    from trilens.lens import correct_errors, lens_values
    from trilens.simulate import simulate_statements

    X = seeds.rng("points").standard_normal((N_BIASED, 2))
    D = cdist(X, X)
    n_all = N_BIASED * (N_BIASED - 1) * (N_BIASED - 2) // 6
    S = simulate_statements(
        D,
        int(ASKED * n_all),
        error_rate=WRONG,
        random_state=seeds.rng("statements"),
        n_threads=1,
    )
    values = lens_values(S)
    inside = lens_counts(D, n_threads=1)[values.i, values.j] / (N_BIASED - 2)
    estimated = correct_errors(values.V, WRONG)
    yield Measure(KRNG, BIAS, float((estimated - inside).mean()))
    # the mean over all pairs is 1/3 whatever is answered: a bias shows in how it goes with p
    yield Measure(KRNG, SLOPE, float(np.polyfit(inside, estimated, 1)[0]))
    few = inside < FEW_INSIDE
    yield Measure(KRNG, BIAS_OF_FEW, float((estimated - inside)[few].mean()))
    true = k_rng(D, K_BIASED, n_threads=1).nnz / 2
    found = values.graph(K_BIASED, WRONG).nnz / 2
    yield Measure(KRNG, "estimated minus true edges", float((found - true) / true))


def _measure_local(seeds: Seeds) -> Iterator[Measure]:
    """Lens depth and local lens depth of a sample, beside the density it was drawn from."""
    from scipy.stats import spearmanr

    sample, density, depths = local_depths(seeds)
    modes = np.array([[-2.0, 0.0], [2.0, 0.0]])
    for method, depth in depths.items():
        yield Measure(method, WITH_DENSITY, float(spearmanr(depth, density)[0]))
        off = np.linalg.norm(modes - sample[depth.argmax()], axis=1).min()
        yield Measure(method, FROM_MODE, float(off))


def local_depths(seeds: Seeds) -> tuple[FloatArray, FloatArray, dict[str, FloatArray]]:
    """A sample of two Gaussians, the density at its points, and their two depths."""
    from trilens.exact import local_lens_depth

    sample = gauss_sample(seeds.rng("points"))
    density: FloatArray = DISTRIBUTIONS["two Gaussians"][1](sample[:, 0], sample[:, 1])
    local = local_lens_depth(sample, share=SHARE, metric="euclidean", n_threads=1)
    depths = {LENS: lens_depth_at(sample, sample), LOCAL_DEPTH: local.astype(np.float64)}
    return sample, density, depths


def _measure_sparse(seeds: Seeds) -> Iterator[Measure]:
    """How many edges the RNG has in the plane, in space, and by the maximum norm."""
    from scipy.spatial.distance import cdist

    from trilens.exact import k_rng

    rng = seeds.rng("points")
    # by the maximum norm all points of one column are equally far from all of the other
    columns = np.column_stack([np.repeat([0.0, 2.0], N_SPARSE // 2), rng.random(N_SPARSE)])
    plane, space = (rng.standard_normal((N_SPARSE, d)) for d in (2, 3))
    for name, D in (
        (PLANE, cdist(plane, plane)),
        (SPACE, cdist(space, space)),
        (MAXIMUM, cdist(columns, columns, "chebyshev")),
    ):
        edges = k_rng(D, 1, n_threads=1).nnz / 2
        yield Measure(name, EDGES, float(edges / (N_SPARSE * (N_SPARSE - 1) / 2)))


def shared_lenses(inside: FloatArray) -> FloatArray:
    """Probability(x in Lens(X, Y) | y in Lens(X, Y)) of the paper's Section 7, (n, n).

    ``inside`` has a row for each pair (X, Y) and 1 where an object lies in its lens. Row x and
    column y of the result: of the lenses that hold y, the share that holds x.

    >>> shared_lenses(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])).tolist()
    [[1.0, 0.5, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    both, hold = inside.T @ inside, inside.sum(axis=0)
    return np.asarray(np.divide(both, hold, out=np.zeros_like(both), where=hold > 0))


def _measure_shared(seeds: Seeds) -> Iterator[Measure]:
    """Local lens depth where the lenses that two objects share say whether they are near."""
    from scipy.spatial.distance import cdist
    from scipy.stats import spearmanr

    X = gauss_sample(seeds.rng("points"), N_SHARED)
    D = cdist(X, X)
    i, j = np.triu_indices(N_SHARED, 1)
    length = D[i, j]
    inside = (np.maximum(D[i], D[j]) < length[:, None]).astype(np.float64)
    P = shared_lenses(inside)
    together = P[i, j] + P[j, i]
    yield Measure(BY_SHARED, WITH_DISTANCE, float(spearmanr(together, length)[0]))
    density = DISTRIBUTIONS["two Gaussians"][1](X[:, 0], X[:, 1])
    n_near = int(SHARED_SHARE * len(length))
    for method, order in ((LOCAL_DEPTH, length), (BY_SHARED, -together)):
        local = inside[np.argsort(order, kind="stable")[:n_near]].sum(axis=0)
        yield Measure(method, WITH_DENSITY, float(spearmanr(local, density)[0]))


_MEASURES: dict[str, Callable[[Seeds], Iterator[Measure]]] = {
    LENSES.panel: _measure_lenses,
    GRAPHS.panel: _measure_graphs,
    DEPTHS.panel: _measure_depths,
    SYMMETRIC.panel: _measure_symmetric,
    DD.panel: _measure_dd,
    THRESHOLD.panel: _measure_thresholding,
    LOCAL.panel: _measure_local,
    SPARSE.panel: _measure_sparse,
    SHARED.panel: _measure_shared,
}


def _dd(results: Results, name: str) -> FloatArray:
    """Run by run, the loss of max-depth minus that of the classifier on the DD-plot."""
    mine = results.where(panel=DD.panel, item=list(CLASSES).index(name))
    return mine.differences(MAX_DEPTH, ON_DD)


def _with_density(results: Results) -> Finding:
    mine = results.where(metric=WITH_DENSITY, panel=LOCAL.panel)
    found = above(mine.differences(LOCAL_DEPTH, LENS))
    if found.verdict == "not judged":
        return found
    means = [mine.where(method=method).values.mean() for method in (LOCAL_DEPTH, LENS)]
    return Finding(f"{found.ours}: {means[0]:.2f} and {means[1]:.2f}", found.verdict)


def _outside(found: Finding) -> Finding:
    """The contrary of a finding."""
    turned: dict[Verdict, Verdict] = {"agrees": "differs", "differs": "agrees"}
    return Finding(found.ours, turned.get(found.verdict, found.verdict))


def _figure(results: Results) -> Figure:
    """Lenses and graphs, depth functions for each distribution, DD-plots and local depth."""
    figure, axes = new_figure(5, 4, (2.6, 2.4))
    _draw_dd(axes[16:18])
    _draw_local(axes[18:])
    _draw_lenses(axes[0], axes[4])
    for column, k in enumerate(KS, start=1):
        X = graph_points(Seeds(NAME, GRAPHS, 0)).points
        for row, (name, graph) in enumerate(graphs(X, k).items()):
            _draw_graph(axes[4 * row + column], X, graph, f"{name}, k = {k}")
    for row, (name, (draw, density, box)) in enumerate(DISTRIBUTIONS.items(), start=2):
        sample = draw(Seeds(NAME, DEPTHS, 0).rng("points"))
        x, y = np.meshgrid(np.linspace(*box[:2], 45), np.linspace(*box[2:], 45))
        places = np.column_stack([x.ravel(), y.ravel()])
        fields = {
            f"density, {name}": density(x, y),
            HALFSPACE: halfspace_depth(places, sample).reshape(x.shape),
            LENS: lens_depth_at(places, sample).reshape(x.shape),
            FUNCTION_F: f_of_crowd_median(places, sample[:200]).reshape(x.shape),
        }
        for ax, (title, values) in zip(axes[4 * row :], fields.items(), strict=False):
            ax.contourf(x, y, values, levels=14, cmap="viridis")
            ax.set_title(title, fontsize="small")
            ax.set_xticks([])
            ax.set_yticks([])
    return figure


def _draw_dd(axes: Sequence[Axes]) -> None:
    from trilens.plots.style import PALETTE, plain

    for ax, name in zip(axes, CLASSES, strict=True):
        depth, y = dd_plot(Seeds(NAME, DD, 0), name)
        for label in (0, 1):
            mine = depth[y == label]
            ax.scatter(mine[:, 0], mine[:, 1], s=5, color=PALETTE[label])
        ax.axline((0, 0), slope=1, color="black", linewidth=0.6)
        ax.set_title(f"DD-plot, classes differ in {name}", fontsize="x-small")
        ax.set_xlabel("depth in the first", fontsize="x-small")
        ax.set_ylabel("in the second", fontsize="x-small")
        plain(ax)


def _draw_local(axes: Sequence[Axes]) -> None:
    from trilens.plots.style import PALETTE, plain

    _, density, depths = local_depths(Seeds(NAME, LOCAL, 0))
    for ax, (name, depth) in zip(axes, depths.items(), strict=True):
        ax.scatter(density, depth / depth.max(), s=4, color=PALETTE[0])
        ax.set_title(f"{name} against density", fontsize="x-small")
        ax.set_xlabel("density", fontsize="x-small")
        plain(ax)


def _draw_lenses(sketch: Axes, heat: Axes) -> None:
    from trilens.plots.style import ACCENT, PALETTE, bare

    x, y = np.meshgrid(np.linspace(-1.2, 2.2, 200), np.linspace(-1.7, 1.7, 200))
    inside = np.maximum(np.hypot(x, y), np.hypot(x - 1, y)) < 1
    sketch.contourf(x, y, inside, levels=[0.5, 1], colors=[PALETTE[5]], alpha=0.5)
    angle = np.linspace(0, 2 * np.pi, 100)
    for centre in (0, 1):
        sketch.plot(centre + np.cos(angle), np.sin(angle), color=PALETTE[6], linewidth=0.8)
    sketch.scatter([0, 1], [0, 0], s=14, color="black", zorder=3)
    sketch.scatter([0.4], [0.4], s=14, color=ACCENT, zorder=3)
    sketch.set_title("a lens: the point in it is the most central", fontsize="x-small")
    bare(sketch)
    X = Seeds(NAME, LENSES, 0).rng("points").standard_normal((N_HEAT, 2))
    x, y = np.meshgrid(np.linspace(-3, 3, 120), np.linspace(-3, 3, 120))
    depth = lens_depth_at(np.column_stack([x.ravel(), y.ravel()]), X).reshape(x.shape)
    heat.contourf(x, y, depth, levels=14, cmap="viridis")
    heat.scatter(X[:, 0], X[:, 1], s=8, color="white")
    heat.set_title("lens depth of 18 points", fontsize="small")
    bare(heat)


def _draw_graph(ax: Axes, X: FloatArray, graph: FloatArray, title: str) -> None:
    from matplotlib.collections import LineCollection

    from trilens.plots.style import FAINT, PALETTE, bare

    i, j = np.nonzero(np.triu(graph))
    lines = list(np.stack([X[i], X[j]], axis=1))
    ax.add_collection(LineCollection(lines, colors=FAINT, linewidths=0.7))
    ax.scatter(X[:, 0], X[:, 1], s=6, color=PALETTE[0], zorder=3)
    ax.set_title(title, fontsize="small")
    bare(ax)


ILLUSTRATIONS = Experiment(
    name=NAME,
    title="Lenses, graphs and depth functions",
    paper="Sections 3, 5 and 7, Figures 2, 3 and 4",
    drawn="18 points; 80 points of two Gaussians; samples of 400 points of a product of two "
    "Beta(2, 4) and of a mixture of two Gaussians; samples that are symmetric about 0; two "
    "classes of 100 Gaussian points; 60 Gaussian points; 400 Gaussian points in 2 and in 3 "
    "dimensions, and in two columns; 200 points of the mixture of two Gaussians",
    asked="nothing: the true distances are known; of the 60 points 30 % of the statements",
    spoiled="not at all; of the 60 points Noise model I, errorprob 0.3",
    compared="the k-RNG and the symmetric k-NN graph; the density, halfspace depth, lens depth and "
    "the function F of Crowd-Median; max-depth and k-NN on the DD-plot; local lens depth",
    grid=(LENSES, GRAPHS, DEPTHS, SYMMETRIC, DD, THRESHOLD, LOCAL, SPARSE, SHARED),
    runs=20,
    measure=measure_illustrations,
    claims=(
        Claim(
            "Points in the middle are deeper than points at the rim (18 points, six of each).",
            "lie in the lenses of many pairs; lie in only a few lenses",
            "difference of the mean lens depths above 0 beyond 2 se",
            lambda r: above(r.where(metric="middle minus rim").per_run()),
        ),
        Claim(
            "A k-NN graph is often not connected, as opposed to a k-RNG (k = 1 and 3).",
            "-",
            "connected in at most 0.9 of the runs, k = 1 and 3",
            lambda r: each(
                {"k 1": 1, "k 3": 3},
                lambda k: share_within(
                    r.where(method=KNN, metric=CONNECTED, k=k).per_run(), 0.0, 0.9
                ),
            ),
        ),
        Claim(
            "The k-RNG has more edges between the two components than the k-NN graph.",
            "tend to have more connections",
            "above beyond 2 se, k = 1, 3 and 10",
            lambda r: quorum(
                {f"k {k}": above(r.where(metric=ACROSS, k=k).differences(KRNG, KNN), 1) for k in KS}
            ),
            main="k-RNGs link components more than k-NN graphs do",
        ),
        Claim(
            "Depth does not see two modes: the middle between them is deeper than either.",
            "intended to be unimodal",
            "depth of the middle above that of the deeper mode beyond 2 se, both depths",
            lambda r: quorum(
                {
                    m: above(r.where(metric="middle minus modes", method=m).per_run())
                    for m in (HALFSPACE, LENS)
                }
            ),
        ),
        Claim(
            "Lens depth is highest at the center of a symmetric distribution (not proved).",
            "we still believe",
            "at least 0.99 of the sampled places are no deeper, each of four distributions",
            lambda r: each(
                _ITEMS,
                lambda item: at_least(
                    r.where(metric=AT_CENTRE, method=LENS, item=item).per_run(), 0.99, 2
                ),
            ),
            main="Lens depth is highest at a center of symmetry",
        ),
        Claim(
            "The function F of Crowd-Median is not highest there: with two modes far from each "
            "other the center is where F is least.",
            "in fact a minimizer",
            "at most 0.01 of the sampled places have a lower F",
            lambda r: at_most(
                r.where(metric=AT_CENTRE, method=FUNCTION_F, item=_ITEMS["two modes"]).per_run(),
                0.01,
                2,
            ),
        ),
        Claim(
            "Classes that differ in location alone: the class of the higher depth has the least "
            "possible loss (here by lens depth).",
            "asymptotically achieves Bayes risk",
            f"loss of max-depth within 0.016 of the Bayes risk {BAYES_RISK} of N(0, I) and "
            "N((2, 0), I), a tenth of it",
            lambda r: near(
                r.where(panel=DD.panel, method=MAX_DEPTH, item=0).per_run(), BAYES_RISK, 0.016
            ),
        ),
        Claim(
            "Classes that differ in width: max-depth works badly, and a classifier on the DD-plot "
            "has less loss.",
            "severe limitations; overcoming some of its original limitations",
            "loss of max-depth above that of k-NN on both depths beyond 2 se",
            lambda r: above(_dd(r, "width")),
            main="Classes of unequal width: the DD-plot beats max-depth",
        ),
        Claim(
            "errorprob 0.3, known: for every pair the corrected estimate of the share of points in "
            "its lens is not biased.",
            "an unbiased estimator of p(x_i,x_j) for every x_i and x_j",
            "slope of estimated on true share, over the pairs, in [0.98, 1.02] (0.55 without "
            "correction); mean of estimated minus true in [-0.005, 0.005], of all pairs and of "
            f"those with a true share below {FEW_INSIDE}",
            lambda r: quorum(
                {
                    "slope": within(r.where(metric=SLOPE).per_run(), 0.98, 1.02),
                    "all pairs": within(r.where(metric=BIAS).per_run(), -0.005, 0.005, 4),
                    "small shares": within(r.where(metric=BIAS_OF_FEW).per_run(), -0.005, 0.005, 4),
                }
            ),
            main="Known errorprob: corrected lens shares are unbiased",
        ),
        Claim(
            "errorprob 0.3, known: the k-RNG that comes from this estimate by thresholding is "
            "biased (k = 10).",
            "still not an unbiased estimator",
            "(estimated - true number of edges) / true number outside of [-0.01, 0.01]",
            lambda r: _outside(
                within(r.where(metric="estimated minus true edges").per_run(), -0.01, 0.01)
            ),
        ),
        Claim(
            "Local lens depth of near pairs goes with the density (two Gaussians), as lens depth "
            "does not.",
            "we believe",
            "rank correlation with the density above that of lens depth beyond 2 se",
            _with_density,
        ),
        Claim(
            "The object of highest local lens depth is near a mode.",
            "reasonable estimates of the distribution's modes",
            "distance from the nearest mode at most 1, half of that of the middle between them",
            lambda r: at_most(r.where(metric=FROM_MODE, method=LOCAL_DEPTH).per_run(), 1.0),
        ),
        Claim(
            "The RNG is sparse in the Euclidean space of two and three dimensions (400 points).",
            "guaranteed to be sparse",
            "at most as many edges as a planar graph can have, 3 n - 6: 0.0150 of all pairs, both",
            lambda r: quorum(
                {
                    name: at_most(r.where(metric=EDGES, method=name).per_run(), PLANAR, 4)
                    for name in (PLANE, SPACE)
                }
            ),
        ),
        Claim(
            "By the maximum norm the RNG can be dense (two columns of 200 points).",
            "can be dense",
            "at least half of all pairs are edges",
            lambda r: at_least(r.where(metric=EDGES, method=MAXIMUM).per_run(), 0.5),
        ),
        Claim(
            "The share of the lenses of y that hold x falls with d(x, y).",
            "f monotonically decreasing",
            "rank correlation with the distance, over all pairs, at most -0.8",
            lambda r: at_most(r.where(metric=WITH_DISTANCE).per_run(), -0.8),
        ),
        Claim(
            "It does not serve to tell near pairs: local lens depth by it goes less with the "
            "density than by the distances.",
            "none of them was promising",
            "rank correlation with the density below that by the distances beyond 2 se, the "
            "nearest 10 % of all pairs",
            lambda r: below(
                r.where(panel=SHARED.panel, metric=WITH_DENSITY).differences(BY_SHARED, LOCAL_DEPTH)
            ),
        ),
    ),
    figure=_figure,
    notes=(
        "The paper does not say where its two Gaussians lie: here at a distance of 5 (graphs) and "
        "of 4 (depths).",
        "The figure shows the first run. F is drawn from 200 points of the sample.",
        "DD-plots: N(0, I) against N((2, 0), I), and against N(0, 9 I); 200 new points are "
        "classified. Local lens depth counts the nearest 2 % of all pairs.",
    ),
)
