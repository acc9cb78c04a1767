"""The worked example of docs/planning.md: a pilot, a plan, a study, and when it could stop.

    python docs/planning_example.py

Thirty objects in the plane, people who follow the choice model and give 8 % wrong answers. Prints
what the page says and draws its two pictures; takes two to three minutes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist

import trilens as tl
from trilens.maps.map import Map
from trilens.plots import plan_curve, save_figure
from trilens.plots.style import PALETTE

IMAGES = Path(__file__).parent / "images"
OBJECTS, PILOT, BATCH, PRICE = 30, 300, 90, 0.05


def people() -> Map:
    """Who will answer: what nobody knows before the study."""
    X = np.random.default_rng(2).standard_normal((OBJECTS, 2))
    return Map(X * 6 / pdist(X).mean(), 0.12, "central")


def answer(crowd: Map, triples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The triples with the chosen object first."""
    asked = tl.Statements(triples, OBJECTS, kind="central")
    chances = crowd.probabilities(asked).cumsum(axis=1)
    chosen = (rng.random(len(triples))[:, None] > chances[:, :2]).sum(axis=1)
    rows, given = np.arange(len(triples)), np.array(triples)
    given[rows, 0], given[rows, chosen] = triples[rows, chosen], triples[rows, 0]
    return given


def at_random(number: int, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.permutation(OBJECTS)[:3] for _ in range(number)], dtype=np.int32)


def run(
    pilot: np.ndarray, chosen: bool, most: int
) -> tuple[list[tuple[int, float]], tl.Statements]:
    """Go on from the pilot, at random or by `next_questions`, until the rule says stop."""
    crowd, rng = people(), np.random.default_rng([11, chosen])
    rows, by_plan, seen, next_look = pilot, [False] * len(pilot), [], 0
    while True:
        S = tl.Statements(rows, OBJECTS, kind="central", chosen=by_plan)
        if len(rows) >= next_look:
            said = tl.stopping(S, "medoid", at_most=3)
            seen.append((said.looked_at, said.value or 0.0))
            next_look = said.next_look or 0
            if said.stop or len(rows) >= most:
                return seen, S
        if chosen:
            found = tl.next_questions(S, "medoid", BATCH, rater="new")
            more, why = found.triples, [reason == "adaptive" for reason in found.reasons]
        else:
            more, why = at_random(BATCH, rng), [False] * BATCH
        rows = np.concatenate([rows, answer(crowd, more, rng)])
        by_plan += why


def main() -> None:
    import matplotlib.pyplot as plt

    crowd = people()
    pilot = answer(crowd, at_random(PILOT, np.random.default_rng(5)), np.random.default_rng(6))
    S = tl.Statements(pilot, OBJECTS, kind="central")
    made = tl.plan(goal="medoid", pilot=S, price=PRICE)
    print("\n".join(made.sentences()))
    save_figure(plan_curve(made), IMAGES / "plan-curve.png")
    truth = int(crowd.depth().depth.argmax())
    _, ax = plt.subplots(figsize=(6.4, 3.8))
    at, _, low, high = (np.array(column) for column in made.columns().values())
    ax.fill_between(at, low, high, color=PALETTE[6], alpha=0.18, linewidth=0, label="planned")
    ax.axvline(made.answers, color=PALETTE[6], linewidth=1)
    for chosen, name, color in ((False, "at random", PALETTE[0]), (True, "chosen", PALETTE[4])):
        seen, whole = run(pilot, chosen, made.high)
        where = tl.medoid(whole)
        print(
            f"{name}: stopped after {len(whole):,} answers, looks {seen}, medoid {where.name} "
            f"(truly {truth}), set {where.candidates}, {len(whole) * PRICE:.2f}"
        )
        ax.plot(*zip(*seen, strict=True), color=color, marker="o", label=f"questions {name}")
    ax.axhline(3, color="#333333", linewidth=0.8, linestyle=":")
    ax.set_xscale("log")
    ticks = [tick for tick in (200, 500, 1000, 2000, 5000, 10000) if tick <= at[-1]]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlim(150, at[-1])
    ax.set_ylim(0, OBJECTS)
    ax.set_xlabel("answers")
    ax.set_ylabel("objects that could be the most central one")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    save_figure(ax, IMAGES / "plan-stop.png")


if __name__ == "__main__":
    main()
