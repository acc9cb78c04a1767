"""What observers who know more than any program can make of the answers of `claims.py`.

    python benchmarks/bench_ideal.py [--studies N] [--clouds N] [--kinds NAMES]

Both know the world: how objects lie where none is far out, that distances decide, and that 5 % of
the answers are wrong. They look at the four objects that are truly the farthest out, for how far
out each most likely lies (from the nearest middle of a group), and name what lies farther than the
farthest one in 95 % of the worlds without far objects. The first one knows the true places of all
other objects, and goes by the object's own answers alone. The second one knows no places: it finds
all of them at once, from the true ones on, as likely places in this world; only where the four
objects lie it takes from the answers alone.

Groups of 24 and 6: both know which the six are and the axis along which they lie apart, and
compare the gap between the six and the rest with that of the six farthest along the widest axis of
Gaussian clouds as wide. The first one knows the true places, but not how far the six were moved as
one. The second one finds all places at once, as likely ones in such a cloud.

Shares no code with the package.
"""

from __future__ import annotations

import argparse
from functools import cache

import numpy as np
from scipy.optimize import minimize

from designs import SHAPES, Array, _asked, _choose, _scores

KINDS = ("central", "odd", "closer")
#: The share of wrong answers, that of the people `right 95`.
WRONG = 0.05
#: The second observer takes distances for decisive but for so much of a standard deviation.
SOFT = 0.1
#: Of the objects that are looked at it takes hardly anything for likelier than else.
WIDE = 10.0
#: So many objects are looked at.
LOOKED_AT = 4
#: The distances and directions in which the first one seeks an object, first and in each round.
RADII, DIRECTIONS = np.array([2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 13, 18]), 36
ROUNDS, BEST, AROUND = 4, 8, 8
#: Places of the six, by how far they are moved.
MOVES = np.linspace(-3, 3, 61)
#: How wide a cloud is that is as wide as 24 and 6.
AS_WIDE = np.array([np.sqrt(1 + 0.16 * 36), 1.0])

_TURN = 2 * np.pi / 3 * np.arange(3)
CORNERS = 7 / np.sqrt(3) * np.c_[np.cos(_TURN), np.sin(_TURN)]
MIDDLE = np.zeros((1, 2))
#: The world without far objects, objects, answers, and the middles of its groups.
WORLDS = {
    "cloud, one at 7": ("plane", 40, 3000, MIDDLE),
    "cloud, three at 6.7": ("plane", 40, 2500, MIDDLE),
    "three groups, one at 8": ("three groups, 7 apart", 25, 2500, CORNERS),
    "three groups, one at 10": ("three groups, 7 apart", 25, 2500, CORNERS),
    "24 and 6": ("cloud", 30, 2500, MIDDLE),
}


def distances(X: Array, Y: Array) -> Array:
    return np.sqrt(((X[..., :, None, :] - Y[..., None, :, :]) ** 2).sum(axis=-1))


class Asked:
    """Random questions about objects, and what was answered."""

    def __init__(self, kind: str, X: Array, answers: int, rng: np.random.Generator) -> None:
        self.kind = kind
        self.questions, _ = _asked("random", len(X), answers, 20, rng)
        scores = _scores(kind, distances(X, X), self.questions)
        answer, options = _choose(scores, np.inf, rng), scores.shape[1]
        wrong = rng.random(answers) < WRONG
        answer[wrong] = (answer[wrong] + rng.integers(1, options, wrong.sum())) % options
        # the sides of the triangle to choose from, the one that was chosen first
        a, b, c = self.questions.T
        if kind == "closer":
            sides = np.array([[a, b], [a, c]])
        else:
            sides = np.array([[b, c], [a, c], [a, b]])
        order = (np.arange(options)[:, None] + answer) % options
        self.sides = sides[order, :, np.arange(answers)].transpose(0, 2, 1)
        self.sign = 1.0 if kind == "central" else -1.0

    def about(self, i: int) -> Array:
        """The sides of the answers about one object."""
        return self.sides[:, :, (self.questions == i).any(axis=1)]

    def right(self, lengths: list[Array]) -> Array:
        """How many answers are right with such sides, the chosen one first."""
        found = np.ones(np.broadcast_shapes(*(each.shape for each in lengths)), dtype=bool)
        for other in lengths[1:]:
            found &= self.sign * (lengths[0] - other) > 0
        return found.sum(axis=-1)

    def with_one_at(self, X: Array, i: int, places: Array) -> Array:
        """How many answers about object i are right if it lies at each of some places."""
        D, here = distances(X, X), distances(places, X)
        lengths = []
        for a, b in self.about(i):
            own = (a == i) | (b == i)
            other = np.where(a == i, b, a)
            lengths.append(np.where(own, here[:, other], D[a, b]))
        return self.right(lengths)

    def likely(self, start: Array, middle: Array, spread: Array) -> Array:
        """Likely places, where each object is Gaussian about a middle."""
        n, options = len(start), len(self.sides)
        ends = [np.ravel(side) for side in self.sides]
        slip = WRONG / (options - 1)

        def loss(flat: Array) -> tuple[float, Array]:
            X = flat.reshape(n, 2)
            ways = [X[a] - X[b] for a, b in self.sides]
            lengths = np.array([np.sqrt((way**2).sum(axis=1)) + 1e-9 for way in ways])
            odds = self.sign / SOFT * lengths
            odds -= odds.max(axis=0)
            p = np.exp(odds)
            p /= p.sum(axis=0)
            seen = (1 - WRONG - slip) * p[0]
            pull = -seen / (seen + slip) * (np.eye(options)[0][:, None] - p) * self.sign / SOFT
            gradient = (X - middle) / spread**2
            for k in range(options):
                step = (pull[k] / lengths[k])[:, None] * ways[k]
                for axis in range(2):
                    both = np.r_[step[:, axis], -step[:, axis]]
                    gradient[:, axis] += np.bincount(ends[k], both, n)
            value = -np.log(seen + slip).sum() + 0.5 * (((X - middle) / spread) ** 2).sum()
            return float(value), gradient.ravel()

        found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 40})
        return found.x.reshape(n, 2)


def place(asked: Asked, X: Array, i: int, rng: np.random.Generator) -> Array:
    """Where object i most likely lies; of places that are as likely, the middle one."""
    angle = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    tried = (RADII[:, None, None] * np.c_[np.cos(angle), np.sin(angle)]).reshape(-1, 2)
    right = asked.with_one_at(X, i, tried)
    spread = 0.15
    for _ in range(ROUNDS):
        best = tried[np.argsort(-right, kind="stable")[:BEST]]
        far = np.linalg.norm(best, axis=1)[:, None]
        turn = np.arctan2(best[:, 1], best[:, 0])[:, None]
        far = far * np.exp(1.5 * spread * rng.standard_normal((BEST, AROUND)))
        turn = turn + 0.6 * spread * rng.standard_normal((BEST, AROUND))
        more = np.c_[(far * np.cos(turn)).ravel(), (far * np.sin(turn)).ravel()]
        right = np.r_[right, asked.with_one_at(X, i, more)]
        tried = np.r_[tried, more]
        spread /= 1.7
    best = tried[right == right.max()]
    far = np.linalg.norm(best, axis=1)
    return best[np.argsort(far)[len(far) // 2]]


def far_out(
    knows: bool, kind: str, X: Array, answers: int, middles: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The objects that lie farthest out, and how far out they seem to lie."""
    asked = Asked(kind, X, answers, rng)
    from_middles = distances(X, middles)
    looked = np.argsort(-from_middles.min(axis=1))[:LOOKED_AT]
    if knows:
        found = np.array([place(asked, X, i, rng) for i in looked])
    else:
        spread = np.ones((len(X), 1))
        spread[looked] = WIDE
        found = asked.likely(X, middles[from_middles.argmin(axis=1)], spread)[looked]
    return looked, distances(found, middles).min(axis=1)


def gap(knows: bool, kind: str, X: Array, six: Array, rng: np.random.Generator) -> float:
    """How far apart the six and the rest seem to lie, along the first axis."""
    asked = Asked(kind, X, WORLDS["24 and 6"][2], rng)
    if knows:
        moved = X + MOVES[:, None, None] * (six[:, None] * np.array([1.0, 0.0]))
        D = distances(moved, moved)
        right = asked.right([D[:, a, b] for a, b in asked.sides])
        X = X + np.median(MOVES[right == right.max()]) * six[:, None] * np.array([1.0, 0.0])
    else:
        X = asked.likely(X, X.mean(axis=0), AS_WIDE)
    return float(X[six, 0].min() - X[~six, 0].max())


@cache
def limit(without: str, n: int, answers: int, knows: bool, kind: str, clouds: int) -> float:
    """What 95 % of the worlds without far objects, or without groups, do not pass."""
    found = np.empty(clouds)
    for seed in range(clouds):
        rng = np.random.default_rng([seed, 1])
        if without == "cloud":
            X = rng.standard_normal((n, 2)) * AS_WIDE
            six = np.argsort(np.argsort(X[:, 0])) >= n - 6
            found[seed] = gap(knows, kind, X, six, rng)
        else:
            X = SHAPES[without](n, rng).points
            middles = MIDDLE if without == "plane" else CORNERS
            found[seed] = far_out(knows, kind, X, answers, middles, rng)[1].max()
    return float(np.quantile(found, 0.95))


def power(world: str, knows: bool, kind: str, studies: int, clouds: int) -> float:
    """How often exactly the far objects are named, or two groups are told."""
    without, n, answers, middles = WORLDS[world]
    beyond = limit(without, n, answers, knows, kind, clouds)
    held = 0
    for seed in range(studies):
        rng = np.random.default_rng([seed, 2])
        drawn = SHAPES[world](n, rng)
        if without == "cloud":
            held += gap(knows, kind, drawn.points, drawn.labels == 1, rng) > beyond
        else:
            looked, far = far_out(knows, kind, drawn.points, answers, middles, rng)
            named = set(looked[far > beyond].tolist())
            held += named == set(np.flatnonzero(drawn.labels == -1).tolist())
    return held / studies


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--clouds", type=int, default=1000, help="worlds without far objects")
    parser.add_argument("--kinds", default=",".join(KINDS))
    args = parser.parse_args()
    kinds = args.kinds.split(",")
    print(f"| world | places | {' | '.join(kinds)} |\n|{'---|' * (2 + len(kinds))}", flush=True)
    for world in WORLDS:
        for knows in (True, False):
            found = [power(world, knows, kind, args.studies, args.clouds) for kind in kinds]
            shown = " | ".join(f"{100 * share:.0f} %" for share in found)
            print(f"| {world} | {'known' if knows else 'found'} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
