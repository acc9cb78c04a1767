"""What one screen of a grid is worth in triples: run with no arguments, under three minutes.

People answer *k of n that are most like this one*, *the most central of n* and *the odd one of n*
by the same soft choice (`designs.PEOPLE`), once about three objects and once about more. The map
of the answers is compared with the truth: Spearman's correlation of all distances. A format's
screen is worth as many triples as are needed for the same correlation, by interpolation along the
curve of triples. Grids pay where a screen takes less than its worth times the seconds of a triple.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.stats import spearmanr

import trilens as tl
from designs import PEOPLE, SHAPES

Array = np.ndarray

OBJECTS, STUDIES = 40, 12
TRIPLES = (100, 200, 400, 800, 1600, 3200)
#: kind, objects to choose from, objects chosen, screens
FORMATS = {
    "closer": [(2, 1, 0), (4, 1, 120), (8, 1, 120), (8, 2, 120), (8, 4, 120), (12, 4, 120)],
    "central": [(3, 1, 0), (5, 1, 200), (8, 1, 200)],
    "odd": [(3, 1, 0), (5, 1, 200), (8, 1, 200)],
}
#: Median seconds of an answer to a triple, in public data.
SECONDS = {"closer": 1.56, "central": 4.02, "odd": None}


def answers(
    kind: str,
    D: Array,
    options: int,
    choose: int,
    screens: int,
    people: str,
    rng: np.random.Generator,
) -> tuple[Array, list[Array]]:
    """What is shown on each screen (of ``closer`` the anchor first), and what is chosen."""
    crowd = PEOPLE[people]
    anchors = int(kind == "closer")
    shown = rng.permuted(np.tile(np.arange(len(D)), (screens, 1)), axis=1)[:, : options + anchors]
    chosen = []
    for screen in shown:
        some = screen[anchors:]
        if anchors:
            scores = -D[screen[0], some]
        else:  # of three: what is central has the longest side opposite, as in `designs`
            far = D[np.ix_(some, some)].sum(axis=1) * 2 / (options - 1)
            scores = -far if kind == "central" else far
        if np.isfinite(crowd.sharpness):
            scores = crowd.sharpness * scores + rng.gumbel(size=options)
        if rng.random() < crowd.wrong[0]:
            scores = rng.random(options)
        chosen.append(some[np.argsort(-scores)[:choose]])
    return shown, chosen


def learnt(kind: str, options: int, choose: int, screens: int, people: str, seed: int) -> float:
    """Spearman's correlation of the distances in the map with the true ones."""
    rng = np.random.default_rng([seed, options, choose, screens, len(kind)])
    D = SHAPES["plane"](OBJECTS, np.random.default_rng(seed)).distances()
    pairs = np.triu_indices(OBJECTS, 1)
    D = D / D[pairs].mean()
    shown, chosen = answers(kind, D, options, choose, screens, people, rng)
    asked = "nearest" if kind == "closer" else kind
    given = chosen if kind == "closer" else [one[0] for one in chosen]
    statements = tl.Statements.from_questions(shown, given, asked, n_objects=OBJECTS)
    X = tl.ChoiceMap(2, random_state=0).fit_transform(statements)
    found = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    return float(spearmanr(found[pairs], D[pairs]).statistic)


def main(people: str = "soft", studies: int = STUDIES) -> None:
    begun = time.process_time()
    print(f"{OBJECTS} objects in a plane, people {people!r}, {studies} studies of each")
    for kind, formats in FORMATS.items():
        (options, choose, _), *grids = formats
        curve = np.array([
            [learnt(kind, options, choose, m, people, seed) for m in TRIPLES]
            for seed in range(studies)
        ])  # fmt: skip
        mean = np.maximum.accumulate(curve.mean(axis=0))
        line = "  ".join(f"{m}: {r:.3f}" for m, r in zip(TRIPLES, mean, strict=True))
        print(f"{kind}, triples  {line}")
        for options, choose, screens in grids:
            rho = np.array(
                [learnt(kind, options, choose, screens, people, s) for s in range(studies)]
            )
            worth = np.exp(np.interp(rho.mean(), mean, np.log(TRIPLES))) / screens
            # as many triples as each study is worth, for the spread
            each = np.exp([np.interp(r, mean, np.log(TRIPLES)) for r in rho]) / screens
            error = each.std(ddof=1) / np.sqrt(studies)
            seconds = SECONDS[kind]
            limit = "" if seconds is None else f"; pays below {worth * seconds:.0f} s a screen"
            print(
                f"  {choose} of {options}: correlation {rho.mean():.3f} after {screens} screens; "
                f"a screen is worth {worth:.1f} ± {error:.1f} triples{limit}"
            )
    print(f"{time.process_time() - begun:.0f} CPU seconds")


if __name__ == "__main__":
    main(*sys.argv[1:2])
