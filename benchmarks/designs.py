"""Studies as labs have them, simulated with a known truth; shares no code with the package.

A study is a *shape* (where the objects lie), a *design* (who is asked what) and *people* (how
they answer):

    study(kind="central", shape="plane", design="one list", people="hard", seed=0)

Everything is drawn from ``numpy.random.default_rng`` with the setting and the seed, so that a
study can be made again. Only NumPy is used.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

Array = np.ndarray

#: Sharpness of a soft choice, in units of the mean distance between two objects.
SHARPNESS = 6.0


@dataclass(frozen=True)
class Study:
    """Answers and the truth behind them.

    Attributes
    ----------
    kind : "central", "odd" or "closer"
    triples : (m, 3) int
        The chosen object first; for ``closer`` the anchor, the nearer, the farther one.
    raters : (m,) str
        The answers of a rater stand in the order in which they were given.
    places : (m,) int
        Where the chosen object stood on the screen: 0, 1, 2 (``closer``: 0, 1).
    points : (n, d) float or None
    distances : (n, n) float
        As most people see them (of people who weigh the axes: with all weights 1).
    depth : (n,) float
        The truth about centrality: over all questions about an object and all people of this
        population, how often it is chosen (``odd``: how often it is not) by attentive answers.
    expected : (n,) float
        The same with the wrong answers of the population.
    nearest, deepest : int
        The object of the least total distance, and that of the highest depth.
    wrong : float
        How many answers to clear questions are expected to be wrong: by lapses, not by a soft
        choice and not by another view.
    labels : (n,) int or None
        Groups, where there are any; -1 stands apart from all.
    view : (m,) int
        Which view the answer was given with.
    sort : dict of rater to str
        "careful", "other view", "clicker" or "inverted".
    branches : tuple of sets of objects
        Of a tree; of groups, these.
    moved : tuple of int
        The objects that the other view has elsewhere, where these are some.
    """

    kind: str
    triples: Array
    raters: Array
    places: Array
    points: Array | None
    distances: Array
    depth: Array
    expected: Array
    nearest: int
    deepest: int
    wrong: float
    labels: Array | None
    view: Array
    sort: dict[str, str]
    #: The key of `PEOPLE`.
    people: str = "right"
    branches: tuple[frozenset[int], ...] = ()
    moved: tuple[int, ...] = ()

    @property
    def n(self) -> int:
        return len(self.distances)


# --- shapes -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """Objects: coordinates, or distances alone; groups where there are any."""

    points: Array | None
    labels: Array | None = None
    graph: Array | None = None
    tree: tuple[frozenset[int], ...] = ()

    @property
    def branches(self) -> tuple[frozenset[int], ...]:
        """Sets of objects that belong together: the branches of a tree, or groups."""
        if self.labels is None:
            return self.tree
        return tuple(frozenset(np.flatnonzero(self.labels == g).tolist()) for g in set(self.labels))

    def distances(self, weights: Array | None = None) -> Array:
        if self.points is None:
            assert self.graph is not None
            return self.graph
        X = self.points if weights is None else self.points * weights
        return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))


def _gaussian(dimension: int) -> Callable[[int, np.random.Generator], Shape]:
    return lambda n, rng: Shape(rng.standard_normal((n, dimension)))


def _square(n: int, rng: np.random.Generator) -> Shape:
    return Shape(rng.uniform(-1, 1, (n, 2)))


def _log_normal(n: int, rng: np.random.Generator) -> Shape:
    return Shape(np.exp(rng.standard_normal((n, 2))))


def _t3(n: int, rng: np.random.Generator) -> Shape:
    return Shape(rng.standard_normal((n, 2)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3))


def _core_in_halo(n: int, rng: np.random.Generator) -> Shape:
    """Two thirds in a dense core, one third in a halo four times as wide."""
    scale = np.where(np.arange(n) < 2 * n // 3, 1.0, 4.0)
    return Shape(rng.standard_normal((n, 2)) * scale[:, None])


def _ring(n: int, rng: np.random.Generator) -> Shape:
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1 + 0.08 * rng.standard_normal(n)
    return Shape(np.c_[radius * np.cos(angle), radius * np.sin(angle)])


def _arms(n: int, rng: np.random.Generator) -> Shape:
    """Sparse features: every object has much of one of three, and little of the others."""
    X = 0.12 * np.abs(rng.standard_normal((n, 3)))
    X[np.arange(n), np.arange(n) % 3] += rng.uniform(0, 2, n)
    return Shape(X)


def _line(n: int, rng: np.random.Generator) -> Shape:
    return Shape(np.c_[rng.uniform(0, 4, n), 0.05 * rng.standard_normal(n)])


def _groups(number: int, apart: float) -> Callable[[int, np.random.Generator], Shape]:
    """Groups of standard deviation 1 on a circle, neighbours so far apart."""

    def draw(n: int, rng: np.random.Generator) -> Shape:
        labels = np.arange(n) % number
        angle = 2 * np.pi * np.arange(number) / number
        radius = apart / (2 * np.sin(np.pi / number)) if number > 1 else 0.0
        centres = radius * np.c_[np.cos(angle), np.sin(angle)]
        return Shape(centres[labels] + rng.standard_normal((n, 2)), labels)

    return draw


def _unequal(n: int, rng: np.random.Generator) -> Shape:
    """Four fifths and one fifth, six standard deviations apart: 24 and 6 of thirty."""
    labels = (np.arange(n) >= 4 * n // 5).astype(int)
    return Shape(rng.standard_normal((n, 2)) + np.c_[6.0 * labels, np.zeros(n)], labels)


def _far_from_cloud(
    number: int, far: float, together: bool = False
) -> Callable[[int, np.random.Generator], Shape]:
    """A Gaussian cloud and some objects so far from its middle, each by itself or in one place.

    Three together stand apart; four are a group.
    """

    def draw(n: int, rng: np.random.Generator) -> Shape:
        X = rng.standard_normal((n, 2))
        angle = rng.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(number) / number
        if together:
            angle[:] = angle[0]
        X[:number] = far * np.c_[np.cos(angle), np.sin(angle)]
        if together:
            X[:number] += 0.5 * rng.standard_normal((number, 2))
        outside = 1 if number > 3 and together else -1
        return Shape(X, np.where(np.arange(n) < number, outside, 0))

    return draw


def _far_from_groups(number: int, far: float) -> Callable[[int, np.random.Generator], Shape]:
    """Three groups of standard deviation 1, 7 apart, and objects so far from the nearest centre."""

    def draw(n: int, rng: np.random.Generator) -> Shape:
        drawn = _groups(3, 7.0)(n, rng)
        assert drawn.points is not None
        assert drawn.labels is not None
        X, labels = drawn.points, drawn.labels.copy()
        centres = np.array([X[labels == g].mean(axis=0) for g in range(3)])
        angle = rng.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(number) / number
        for i in range(number):
            way = np.array([np.cos(angle[i]), np.sin(angle[i])])
            out = 0.0
            while np.linalg.norm(centres - out * way, axis=1).min() < far or out < far:
                out += 0.05
            X[i] = out * way
            labels[i] = -1
        return Shape(X, labels)

    return draw


def _even_steps(n: int, rng: np.random.Generator) -> Shape:
    """Equal steps in one dimension, numbered at random."""
    return Shape(rng.permutation(n)[:, None].astype(float))


def _tree(least: float, most: float) -> Callable[[int, np.random.Generator], Shape]:
    """Distances along a random tree: how far up two objects meet, and 3 % of noise.

    Every branch divides into two or three; a branch's height is that of the one above times a
    number between ``least`` and ``most``.
    """

    def draw(n: int, rng: np.random.Generator) -> Shape:
        D, branches = np.zeros((n, n)), []

        def grow(members: Array, height: float) -> None:
            branches.append(frozenset(members.tolist()))
            if len(members) < 2:
                return
            number = min(int(rng.integers(2, 4)), len(members))
            cuts = np.sort(rng.choice(np.arange(1, len(members)), number - 1, replace=False))
            if len(members) >= 8:  # no branch of a large one is tiny
                share = rng.dirichlet(np.full(number, 4.0))
                cuts = np.clip(np.cumsum(share)[:-1] * len(members), 2, len(members) - 2)
                cuts = np.unique(cuts.astype(int))
            parts = np.split(members, cuts)
            for part in parts:
                rest = np.setdiff1d(members, part)
                D[np.ix_(part, rest)] = height
            for part in parts:
                grow(part, height * rng.uniform(least, most))

        grow(rng.permutation(n), 1.0)
        noise = np.triu(1 + 0.03 * rng.standard_normal((n, n)), 1)
        inside = tuple(each for each in branches if 1 < len(each) < n)
        return Shape(None, graph=D * (noise + noise.T), tree=inside)

    return draw


SHAPES: dict[str, Callable[[int, np.random.Generator], Shape]] = {
    "plane": _gaussian(2),
    "five dimensions": _gaussian(5),
    "square": _square,
    "log-normal": _log_normal,
    "t3": _t3,
    "core in a halo": _core_in_halo,
    "ring": _ring,
    "arms": _arms,
    "line": _line,
    "three groups": _groups(3, 6.0),
    "three groups, 4 apart": _groups(3, 4.0),
    "24 and 6": _unequal,
    "cloud, one at 7": _far_from_cloud(1, 7.0),
    "cloud, three at 6.7": _far_from_cloud(3, 6.7),
    "cloud, two together at 7": _far_from_cloud(2, 7.0, together=True),
    "cloud, three together at 7": _far_from_cloud(3, 7.0, together=True),
    "cloud, four together at 6": _far_from_cloud(4, 6.0, together=True),
    "three groups, one at 8": _far_from_groups(1, 8.0),
    "three groups, one at 10": _far_from_groups(1, 10.0),
    "three groups, two at 10": _far_from_groups(2, 10.0),
    "three groups, 7 apart": _groups(3, 7.0),
    "even steps": _even_steps,
    "tree": _tree(0.4, 0.7),
}


# --- designs ----------------------------------------------------------------------------------


def _distinct(p: Array, size: int, rng: np.random.Generator) -> Array:
    """Triples of different objects, drawn one after the other with the given weights."""
    found = np.empty((0, 3), dtype=np.int64)
    while len(found) < size:
        more = rng.choice(len(p), size=(2 * size + 10, 3), p=p)
        a, b, c = more.T
        found = np.r_[found, more[(a != b) & (b != c) & (a != c)]]
    return found[:size]


def _amounts(design: str, answers: int, raters: int, rng: np.random.Generator) -> Array:
    if design == "one rater half":
        rest = answers // 2 // (raters - 1)
        return np.r_[answers - rest * (raters - 1), np.full(raters - 1, rest)]
    return np.full(raters, answers // raters)


def _asked(
    design: str, n: int, answers: int, raters: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The questions in the order in which they are asked, and the number of the rater."""
    even = np.full(n, 1 / n)
    if design == "one list":
        questions = _distinct(even, max(answers // raters, 1), rng)
        rows = np.concatenate([rng.permutation(len(questions)) for _ in range(raters)])
        return questions[rows], np.repeat(np.arange(raters), len(questions))
    if design == "pool":  # half from a pool of questions, half of one's own
        pool = _distinct(even, max(answers // raters, 10), rng)
        rows = []
        for _ in range(raters):
            each = answers // raters
            own = _distinct(even, each - each // 2, rng)
            rows.append(np.r_[pool[rng.choice(len(pool), each // 2, replace=False)], own])
        return np.concatenate(rows), np.repeat(np.arange(raters), answers // raters)
    amounts = _amounts(design, answers, raters, rng)
    total = int(amounts.sum())
    if design == "blocks":  # questions stay in a block of ten; one in twenty crosses
        number = max(2, n // 10)
        block = np.arange(n) % number
        questions = _distinct(even, total, rng)
        inside = rng.random(total) >= 0.05
        for i in np.flatnonzero(inside):
            own = np.flatnonzero(block == block[questions[i, 0]])
            questions[i] = rng.choice(own, 3, replace=False)
    elif design == "landmarks":  # two of five landmarks in every question
        marks = rng.choice(n, 5, replace=False)
        others = np.setdiff1d(np.arange(n), marks)
        questions = np.empty((total, 3), dtype=np.int64)
        for i in range(total):
            questions[i, :2] = rng.choice(marks, 2, replace=False)
        questions[:, 2] = rng.choice(others, total)
        questions = rng.permuted(questions, axis=1)
    elif design == "uneven":  # log-normal frequencies of the objects
        p = np.exp(rng.standard_normal(n))
        questions = _distinct(p / p.sum(), total, rng)
    else:  # every rater draws triples of their own
        questions = _distinct(even, total, rng)
    return questions, np.repeat(np.arange(raters), amounts)


# --- people -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class People:
    """How a population answers.

    Attributes
    ----------
    sharpness : float
        Of a soft choice; infinite for answers that the distances decide.
    wrong : (low, high)
        Each rater's share of wrong answers at random, uniform between these.
    weights : float
        Standard deviation of the logarithm of each rater's weights of the axes.
    other_view : float
        The share of raters with another view of the objects.
    elsewhere : int
        How many objects the other view has elsewhere; 0 for all.
    clickers, inverted : float
        Shares of raters.
    left : float
        The share of answers that are the object on the left, whatever it is.
    noise : float
        Noise on the distances themselves, the same for everybody, by their mean.
    """

    sharpness: float = np.inf
    wrong: tuple[float, float] = (0.0, 0.0)
    weights: float = 0.0
    other_view: float = 0.0
    elsewhere: int = 0
    clickers: float = 0.0
    inverted: float = 0.0
    left: float = 0.0
    noise: float = 0.0


PEOPLE: dict[str, People] = {
    "right": People(),
    "right 95": People(wrong=(0.05, 0.05)),
    "hard": People(wrong=(0.15, 0.15)),
    "hard 30": People(wrong=(0.3, 0.3)),
    "soft": People(sharpness=SHARPNESS, wrong=(0.05, 0.05)),
    "soft, unequal": People(sharpness=SHARPNESS, wrong=(0.0, 0.3)),
    "weights": People(sharpness=SHARPNESS, wrong=(0.05, 0.05), weights=0.7),
    "weights, hard": People(wrong=(0.1, 0.1), weights=0.7),
    "another view": People(wrong=(0.1, 0.1), other_view=0.2),
    "two factions": People(sharpness=SHARPNESS, wrong=(0.05, 0.05), other_view=0.5),
    "three elsewhere": People(
        sharpness=SHARPNESS, wrong=(0.05, 0.05), weights=0.3, other_view=0.5, elsewhere=3
    ),
    "clickers": People(sharpness=SHARPNESS, wrong=(0.05, 0.05), clickers=0.2),
    "inverted": People(sharpness=SHARPNESS, wrong=(0.05, 0.05), inverted=0.1),
    "left": People(sharpness=SHARPNESS, wrong=(0.02, 0.02), left=0.15),
    "noisy": People(noise=0.3),
    "guesses": People(clickers=1.0),
}


def _scores(kind: str, D: Array, questions: Array) -> Array:
    """How much speaks for each answer to (shown in this order) questions.

    ``central`` and ``odd``: for each of the three; ``closer``, whose first object is the
    anchor: for each of the other two.
    """
    a, b, c = questions.T
    if kind == "closer":
        return -np.c_[D[a, b], D[a, c]]
    opposite = np.c_[D[b, c], D[a, c], D[a, b]]
    return opposite if kind == "central" else -opposite


def _choose(scores: Array, sharpness: float, rng: np.random.Generator) -> Array:
    """Answers that are not wrong at random."""
    if np.isinf(sharpness):
        tie_break = 1e-12 * rng.random(scores.shape)
        return (scores + tie_break).argmax(axis=1)
    return (sharpness * scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def _chances(scores: Array, sharpness: float) -> Array:
    if np.isinf(sharpness):
        best = scores >= scores.max(axis=1, keepdims=True) - 1e-12
        return best / best.sum(axis=1, keepdims=True)
    e = np.exp(sharpness * (scores - scores.max(axis=1, keepdims=True)))
    return e / e.sum(axis=1, keepdims=True)


def _all_questions(kind: str, n: int) -> Array:
    i, j, k = (x.ravel() for x in np.meshgrid(*[np.arange(n)] * 3, indexing="ij"))
    keep = (j < k) & (i != j) & (i != k) if kind == "closer" else (i < j) & (j < k)
    return np.c_[i, j, k][keep]


def centrality_of(kind: str, D: Array, sharpness: float = np.inf) -> Array:
    """How often each object is chosen (``odd``: not chosen) over all questions about it."""
    n = len(D)
    scores = D if kind == "central" else -D
    share = np.empty(n)
    for i in range(n):
        others = np.arange(n) != i
        own, between = scores[i, others], scores[np.ix_(others, others)]
        # what speaks for it and for the other ones, of all pairs of others
        mine, rest = between, [own[:, None], own]
        if kind == "closer":  # the first of the pair is the anchor
            mine, rest = own[:, None], [between]
        chance = _chance_of_first(mine, rest, sharpness)
        share[i] = chance[~np.eye(n - 1, dtype=bool)].mean()
    return 1 - share if kind == "odd" else share


def _chance_of_first(mine: Array, rest: list[Array], sharpness: float) -> Array:
    """How often an answer is given for which so much speaks, and so much for the others."""
    if np.isinf(sharpness):
        best = reduce(np.maximum, [mine, *rest]) - 1e-12
        is_best = mine >= best
        return is_best / (is_best + sum(other >= best for other in rest)).clip(1)
    e = np.exp(sharpness * mine)
    return e / (e + sum(np.exp(sharpness * other) for other in rest))


def answers_to(made: Study, questions: Array, rng: np.random.Generator) -> Array:
    """What people of a study, who see alike, answer to further questions; as `Study.triples`."""
    crowd = PEOPLE[made.people]
    scores = _scores(made.kind, made.distances, questions)
    answer, options = _choose(scores, crowd.sharpness, rng), scores.shape[1]
    wrong = rng.random(len(questions)) < rng.uniform(*crowd.wrong, len(questions))
    answer = np.where(wrong, (answer + rng.integers(1, options, len(answer))) % options, answer)
    return with_answers(made.kind, questions, answer)


def with_answers(kind: str, questions: Array, answer: Array) -> Array:
    """Questions with the object that was chosen in its place."""
    if kind == "closer":
        return np.where(answer[:, None] == 0, questions, questions[:, [0, 2, 1]])
    order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[answer]
    return np.take_along_axis(questions, order, axis=1)


def study(
    kind: str = "central",
    shape: str = "plane",
    design: str = "random",
    people: str = "hard",
    seed: int = 0,
    n: int = 40,
    answers: int = 4000,
    raters: int = 20,
) -> Study:
    """Simulate one study."""
    setting = f"{kind}|{shape}|{design}|{people}|{n}|{answers}|{raters}"
    rng = np.random.default_rng([zlib.crc32(setting.encode()), seed])
    crowd = PEOPLE[people]
    objects = SHAPES[shape](n, rng)
    D = objects.distances()
    scale = D[np.triu_indices(n, 1)].mean()
    D = D / scale
    clear = D
    if crowd.noise:
        moved_by = np.triu(crowd.noise * rng.standard_normal((n, n)), 1)
        D = np.abs(D + moved_by + moved_by.T)
    # every rater's own distances
    sort, own = {}, []
    another = SHAPES[shape](n, rng)
    other = another.distances()
    other = other[np.ix_(*[rng.permutation(n)] * 2)]
    moved: Array = np.zeros(0, dtype=np.int64)
    elsewhere = objects
    if crowd.elsewhere:
        assert objects.points is not None
        assert another.points is not None
        moved, places = rng.choice(n, crowd.elsewhere, replace=False), objects.points.copy()
        places[moved] = another.points[moved]
        elsewhere = Shape(places)
        other = elsewhere.distances()
    other /= other[np.triu_indices(n, 1)].mean()
    n_other, n_click = round(crowd.other_view * raters), round(crowd.clickers * raters)
    n_inverted = round(crowd.inverted * raters)
    sorts = ["other view"] * n_other + ["clicker"] * n_click + ["inverted"] * n_inverted
    sorts += ["careful"] * (raters - len(sorts))
    sorts = list(rng.permutation(sorts)) if crowd.other_view != 0.5 else sorts
    wrong = rng.uniform(*crowd.wrong, raters)
    questions, rater = _asked(design, n, answers, raters, rng)
    shown = (
        np.c_[questions[:, 0], rng.permuted(questions[:, 1:], axis=1)]
        if kind == "closer"
        else rng.permuted(questions, axis=1)
    )
    options = 2 if kind == "closer" else 3
    chosen = np.zeros(len(shown), dtype=np.int64)
    view = np.zeros(len(shown), dtype=np.int64)
    depths, expected = [], []
    typical: dict[str, Array] = {}
    for r in range(raters):
        rows = np.flatnonzero(rater == r)
        name = f"r{r:02d}"
        sort[name] = str(sorts[r])
        seen, key = D, "common"
        if sorts[r] == "other view":
            seen, key = other, "other"
            view[rows] = 1
        if crowd.weights and (sorts[r] != "other view" or crowd.elsewhere):
            key = name
            mine = elsewhere if sorts[r] == "other view" else objects
            axes = 1 if mine.points is None else mine.points.shape[1]
            weights = np.exp(crowd.weights * rng.standard_normal(axes))
            seen = mine.distances(weights)
            seen = seen / seen[np.triu_indices(n, 1)].mean()
        scores = _scores(kind, seen, shown[rows])
        if sorts[r] == "inverted":
            scores = -scores
        answer = _choose(scores, crowd.sharpness, rng)
        # a wrong answer is one of the others
        err = rng.random(len(rows)) < wrong[r]
        answer[err] = (answer[err] + rng.integers(1, options, err.sum())) % options
        left = rng.random(len(rows)) < crowd.left
        answer[left] = 0
        if sorts[r] == "clicker":
            answer = rng.integers(options, size=len(rows))
        chosen[rows] = answer
        rate = wrong[r] if len(rows) else 0.0
        own.append((r, rate))
        if sorts[r] in ("careful", "other view"):
            if key not in typical:
                typical[key] = centrality_of(kind, seen, crowd.sharpness)
            depths.append(typical[key])
            mean = 1 / options if kind != "odd" else 1 - 1 / options
            # with the others equally likely where an answer is wrong
            lapse = rate * options / (options - 1)
            lapse = lapse + (1 - lapse) * crowd.left
            expected.append((1 - lapse) * typical[key] + lapse * mean)
        elif sorts[r] == "clicker":
            mean = 1 / options if kind != "odd" else 1 - 1 / options
            expected.append(np.full(n, mean))
    rows = np.arange(len(shown))
    if kind == "closer":
        near, far = shown[rows, 1 + chosen], shown[rows, 2 - chosen]
        triples = np.c_[shown[:, 0], near, far]
    else:
        first = shown[rows, chosen]
        rest = shown[np.arange(3)[None] != chosen[:, None]].reshape(-1, 2)
        triples = np.c_[first, rest]
    depth = np.mean(depths, axis=0) if depths else centrality_of(kind, D, crowd.sharpness)
    expected = np.mean(expected, axis=0) if expected else depth
    if crowd.noise:
        D, depth = clear, centrality_of(kind, clear)
    # of two views that are as common, neither is the common one
    typically = (D + other) / 2 if crowd.other_view == 0.5 else D
    careful = [rate for r, rate in own if sorts[r] in ("careful", "other view", "inverted")]
    clicked = crowd.clickers * (1 - 1 / options)
    rate = float(np.mean(careful)) if careful else 0.0
    left = crowd.left * (1 - 1 / options)
    return Study(
        kind=kind,
        triples=triples,
        raters=np.array([f"r{r:02d}" for r in rater]),
        places=chosen,
        points=objects.points,
        distances=D,
        depth=depth,
        expected=expected,
        nearest=int(typically.sum(axis=1).argmin()),
        deepest=int(depth.argmax()),
        wrong=clicked + (1 - crowd.clickers) * (rate + left - rate * left),
        labels=objects.labels,
        view=view,
        sort=sort,
        people=people,
        branches=objects.branches,
        moved=tuple(moved.tolist()),
    )


def population(made: Study, draws: int = 200) -> tuple[Array, Array]:
    """All questions, and how often each answer to them is given by the raters of a population.

    Other views and inverted raters are not drawn.
    """
    crowd = PEOPLE[made.people]
    questions = _all_questions(made.kind, made.n)
    options = 2 if made.kind == "closer" else 3
    e = sum(crowd.wrong) / 2
    rng = np.random.default_rng(len(questions))
    chances = np.zeros((len(questions), options))
    draws = draws if crowd.weights else 1
    for _ in range(draws):
        D = made.distances
        if crowd.weights and made.points is not None:
            axes = np.exp(crowd.weights * rng.standard_normal(made.points.shape[1]))
            D = Shape(made.points).distances(axes)
            D = D / D[np.triu_indices(made.n, 1)].mean()
        chances += _chances(_scores(made.kind, D, questions), crowd.sharpness) / draws
    chances = (1 - e) * chances + e * (1 - chances) / (options - 1)
    chances = (1 - crowd.left) * chances + crowd.left / options
    return questions, (1 - crowd.clickers) * chances + crowd.clickers / options


def shares_predicted(made: Study, models: list[Array]) -> Array:
    """How many answers of the population each model, a matrix of distances, gives too."""
    questions, chances = population(made)
    rows = np.arange(len(questions))
    said = [_scores(made.kind, D, questions).argmax(axis=1) for D in models]
    return np.array([chances[rows, answer].mean() for answer in said])
