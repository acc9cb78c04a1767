"""How often what is said about labels is true: the table of docs/claims.md.

    python benchmarks/claims_labels.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]

A cell is a way to simulate labelled objects: kind, labelled objects, classes, their sizes, what
the labels are worth, wrong answers. As many objects again have no label where 20 have one, half
as many where 60 have. Forty answers for each object. A study that the file already holds is not
run again.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from claims_run import run_studies
from trilens.questions.classify.classes import classify
from trilens.simulate import mixture, simulate_statements

KINDS = ("central", "odd", "closer")
#: noise_param of Noise model II that makes about 30 % of the answers wrong.
DISTORTION = {"central": 0.53, "odd": 0.75, "closer": 1.05}
RANDOM = [
    f"central/{n}/{k}/{sizes}/random/I-0"
    for n in (20, 60)
    for k in (2, 3)
    for sizes in ("even", "80")
]
RANDOM += ["closer/20/3/even/random/I-30", "closer/60/3/even/random/I-30"]
WORTH = [("central", 2, "I-0"), ("central", 3, "I-30"), ("odd", 2, "I-30"), ("closer", 2, "I-30")]
WORTH += [("closer", 3, "I-0"), ("closer", 3, "I-30"), ("central", 3, "II-30")]
CLEAN = [f"{kind}/60/{k}/even/clean-6/{errors}" for kind, k, errors in WORTH]
CLEAN += ["central/60/2/80/clean-6/I-10", "central/20/2/even/clean-6/I-10"]
FLIPPED = [f"{kind}/60/{k}/even/flipped-6/{errors}" for kind, k, errors in WORTH]
CLOSE = [f"{kind}/60/2/even/clean-3/I-10" for kind in KINDS]
GUESSES = ["central/60/2/even/clean-6/guesses", "closer/60/2/even/clean-6/guesses"]
CELLS = [*RANDOM, *CLEAN, *FLIPPED, *CLOSE, *GUESSES]


def measure(job: tuple[str, int]) -> dict[str, Any]:
    cell, study = job
    kind, n, k, sizes, worth, errors = cell.split("/")
    n_labelled, n_classes = int(n), int(k)
    rng = np.random.default_rng([zlib.crc32(cell.encode()), study])
    apart = float(worth.split("-")[1]) if "-" in worth else 6.0
    means = np.array([[0.0, 0.0], [apart, 0.0], [apart / 2, apart * 0.75**0.5]])[:n_classes]
    n_objects = n_labelled + (20 if n_labelled == 20 else 30)
    weights = None
    if sizes == "80":
        weights = [0.8, *[0.2 / (n_classes - 1)] * (n_classes - 1)]
    drawn = mixture(n_objects, means, weights=weights, random_state=rng)
    objects = drawn.points
    truth = drawn.labels[:n_labelled].copy()
    if worth == "random":
        truth = rng.permutation(truth)
    flipped = np.zeros(n_labelled, dtype=bool)
    if worth.startswith("flipped"):
        flipped[rng.choice(n_labelled, size=round(0.05 * n_labelled), replace=False)] = True
    given = np.where(flipped, (truth + rng.integers(1, n_classes, n_labelled)) % n_classes, truth)
    if len(np.unique(given)) < 2:
        given[0] = 1 - given[0]
    model, _, level = errors.partition("-")
    wrong = int(level or 0) / 100
    if errors == "guesses":
        wrong = 1 / 2 if kind == "closer" else 2 / 3
    S = simulate_statements(
        objects,
        40 * n_objects,
        kind,
        error_rate=0.0 if model == "II" else wrong,
        noise_param=DISTORTION[kind] if model == "II" else 0.0,
        random_state=rng,
    )
    y = [*given.tolist(), *[None] * (n_objects - n_labelled)]
    found = classify(S, y, random_state=study)
    contradicted = found.check.contradicted
    hidden = found.found[n_labelled:] != drawn.labels[n_labelled:]
    return {
        "cell": cell,
        "study": study,
        "learnable": bool(found.check.learnable),
        "p_value": found.check.p_value,
        "error": found.check.error,
        "loss": float(hidden.mean()),
        "right": int((~flipped).sum()),
        "contradicted": int(contradicted[~flipped].sum()),
        "flipped": int(flipped.sum()),
        "found": int(contradicted[flipped].sum()),
    }


def table(rows: list[dict[str, Any]]) -> None:
    head = [
        "kind/labelled/classes/sizes/labels/errors",
        "studies",
        "learnable",
        "error on hidden labels",
        "0-1 loss",
        "right labels contradicted",
        "flipped labels found",
    ]
    print(f"| {' | '.join(head)} |")
    print(f"|{'---|' * len(head)}")
    for cell in CELLS:
        of = [row for row in rows if row["cell"] == cell]
        if not of:
            continue
        random = "/random/" in cell
        means = [f"{np.mean([row[key] for row in of]):.3f}" for key in ("learnable", "error")]
        loss = "-" if random else f"{np.mean([row['loss'] for row in of]):.3f}"
        shares = []
        for part, whole in (("contradicted", "right"), ("found", "flipped")):
            total = sum(row[whole] for row in of)
            shares.append(f"{sum(row[part] for row in of) / total:.4f}" if total else "-")
        print(f"| {' | '.join([cell, str(len(of)), *means, loss, *shares])} |")


if __name__ == "__main__":
    run_studies(__doc__, CELLS, measure, table)
