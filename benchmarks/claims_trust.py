"""How often what is said about raters and errors is true: the table of docs/claims.md.

    python benchmarks/claims_trust.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]

A cell is a way to simulate a study: kind, objects, how careful raters err, the share of raters
who answer at random. Points are a Gaussian in the plane; 50 raters answer 50 questions each.
A study that the file already holds is not run again.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from claims_run import run_studies
from trilens.maps.fitted import fit
from trilens.questions.reliability import reliability
from trilens.simulate import Raters, ask_raters, gaussian
from trilens.statements import Statements

RATERS, ANSWERS, TINY = 50, 50, 1e-9
#: noise_param of Noise model II that makes about 10 % and 30 % of the answers wrong.
DISTORTION = {
    "central": {10: 0.16, 30: 0.53},
    "odd": {10: 0.2, 30: 0.75},
    "closer": {10: 0.26, 30: 1.05},
}
#: How careful raters err: Noise model I with one rate for all, or rates between 0 and 30 %;
#: Noise model II.
CAREFUL = ("I-0", "I-10", "I-30", "I-mixed", "II-10", "II-30")
WITHOUT = [f"central/60/{how}/0" for how in CAREFUL if how != "II-10"]
WITHOUT += ["odd/60/I-mixed/0", "closer/60/I-10/0", "closer/60/I-mixed/0", "closer/60/II-30/0"]
WITH = [f"{kind}/60/I-10/{share}" for kind in ("central", "closer") for share in (10, 30, 50, 60)]
WITH += ["odd/60/I-10/50", "central/60/I-30/30", "central/60/II-30/30", "closer/60/I-mixed/30"]
SIZES = ["central/15/I-10/30", "closer/15/I-10/30", "central/200/I-10/30"]
GUESSES = ["central/60/I-0/100", "odd/15/I-0/100", "closer/60/I-0/100"]
CELLS = [*WITHOUT, *WITH, *SIZES, *GUESSES]


def draw(cell: str, study: int) -> tuple[Statements, Raters, np.ndarray]:
    """Statements, the raters behind them, and which answers are wrong."""
    kind, n, how, share = cell.split("/")
    rng = np.random.default_rng([zlib.crc32(cell.encode()), study])
    points = gaussian(int(n), 2, random_state=rng).points
    model, level = how.split("-")
    rates = np.zeros(RATERS)
    if model == "I":
        rates = rng.uniform(0, 0.3, RATERS) if level == "mixed" else rates + int(level) / 100
    rates[rng.permutation(RATERS) < round(int(share) / 100 * RATERS)] = np.nan
    raters = Raters(rates, np.ones(RATERS))
    S = ask_raters(
        points,
        raters,
        RATERS * ANSWERS,
        kind,
        # few objects have fewer questions than are asked
        sampling="replacement" if int(n) < 30 else "uniform",
        round_size=ANSWERS,
        noise_param=DISTORTION[kind][int(level)] if model == "II" else 0.0,
        random_state=rng,
    )
    D = cdist(points, points)
    a, b, c = S.triples.T
    if kind == "closer":
        wrong = D[a, b] > D[a, c]
    else:
        sides = np.stack([D[b, c], D[a, c], D[a, b]], axis=1)
        wrong = (sides.argmax(axis=1) if kind == "central" else sides.argmin(axis=1)) != 0
    return S, raters, wrong


def measure(job: tuple[str, int]) -> dict[str, Any]:
    cell, study = job
    S, raters, wrong = draw(cell, study)
    F = fit(S, random_state=study)
    found = reliability(F, random_state=study)
    map_low, map_high = F.error_rate_interval
    rate = float(np.nanmean(raters.rates(S.kind)[np.asarray(S.raters)]))
    flagged = np.array([check.guessing for check in found.raters])
    low, high = found.error_rate_interval or (np.nan, np.nan)
    wrong_low, wrong_high = found.wrong_answers_interval or (np.nan, np.nan)
    careless = raters.careless
    codes = [caution.code for caution in found.cautions]
    repeats = found.repeats
    again = None if repeats is None or repeats.questions < 50 else repeats.error_rate
    return {
        "cell": cell,
        "study": study,
        "careful": int((~careless).sum()),
        "false_alarms": int(flagged[~careless].sum()),
        "careless": int(careless.sum()),
        "found": int(flagged[careless].sum()),
        "share": found.guessing_share,
        "error_rate": found.error_rate,
        "width": high - low,
        "covered": bool(low - TINY <= rate <= high + TINY),
        "map_covered": bool(map_low - TINY <= rate <= map_high + TINY),
        "map_width": map_high - map_low,
        "wrong_covered": bool(wrong_low - TINY <= wrong.mean() <= wrong_high + TINY),
        "wrong_width": wrong_high - wrong_low,
        "repeats_covered": None
        if again is None
        else bool(again.low - TINY <= rate <= again.high + TINY),
        "noise": "noise" in codes,
        "most": "most-guess" in codes or "noise" in codes,
        "any": any(code not in ("rare", "unseen") for code in codes),
    }


def table(rows: list[dict[str, Any]]) -> None:
    head = [
        "kind/objects/errors/% clicking",
        "studies",
        "careful called careless",
        "clickers found",
        "share of clickers",
        "error rate",
        "covers",
        "width",
        "the map's covers",
        "width",
        "wrong answers cover",
        "width",
        "repeats cover",
        "noise",
        "most guess",
        "any caution",
    ]
    print(f"| {' | '.join(head)} |")
    print(f"|{'---|' * len(head)}")
    for cell in CELLS:
        of = [row for row in rows if row["cell"] == cell]
        if not of:
            continue

        def mean(key: str, of: list[dict[str, Any]] = of) -> str:
            known = [row[key] for row in of if row[key] is not None]
            return f"{np.mean(known):.3f}" if known else "-"

        def ratio(part: str, whole: str, of: list[dict[str, Any]] = of) -> str:
            total = sum(row[whole] for row in of)
            return f"{sum(row[part] for row in of) / total:.4f}" if total else "-"

        cells = [cell, str(len(of)), ratio("false_alarms", "careful"), ratio("found", "careless")]
        cells += [mean(k) for k in ("share", "error_rate")]
        # Noise model II has no blind answers to count
        cells += ["-" if "/II-" in cell else mean("covered"), mean("width")]
        cells += ["-" if "/II-" in cell else mean("map_covered"), mean("map_width")]
        cells += [mean(k) for k in ("wrong_covered", "wrong_width", "repeats_covered")]
        cells += [mean(k) for k in ("noise", "most", "any")]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    run_studies(__doc__, CELLS, measure, table)
