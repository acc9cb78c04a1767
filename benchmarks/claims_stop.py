"""Whether what a stopping rule claims is true at the moment at which it stops.

    python benchmarks/claims_stop.py [--studies N] [--cells PATTERN] [--out FILE]
    python benchmarks/claims_stop.py --table FILE [FILE ...]

A cell is ``rule/shape/kind/objects/wrong/questions``. The objects and the answers come from
`designs`, which shares no code with the package. Whenever the rule would look (at 6, 9, 13.5, ...
answers for each object) it is asked; the study ends when it says so, or after ten looks. Chosen
questions are those of `tl.next_questions` for the same goal, a tenth more at a time. In place of
the share of wrong answers a cell may name people of `designs`, and in place of the questions a
design: such a study has twenty raters, one after the other, and 175 answers of each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import trilens as tl
from bench_next_questions import answers, random_questions
from claims_run import Row, run_studies
from designs import PEOPLE, SHAPES, _scores, centrality_of, study
from trilens.questions.stopping import looks

MOST_LOOKS = 10
GOALS = {"medoid": "medoid", "groups": "groups", "map": "map"}
#: The objects that the medoid may be, and the gain of 1000 more answers.
AT_MOST, GAIN = 3, 0.02


def cells() -> Iterator[str]:
    for asked in ("random", "chosen"):
        for kind in ("central", "odd", "closer"):
            yield f"medoid/plane/{kind}/20/20/{asked}"
            yield f"medoid/plane/{kind}/20/0/{asked}"
            yield f"map/plane/{kind}/30/20/{asked}"
        for shape in ("three groups", "plane"):
            yield f"groups/{shape}/odd/30/20/{asked}"
    for people, design in (
        ("hard", "one list"),
        ("soft, unequal", "random"),
        ("weights", "random"),
        ("two factions", "random"),
        ("guesses", "random"),
    ):
        yield f"medoid/plane/odd/20/{people}/{design}"
        yield f"groups/plane/odd/20/{people}/{design}"
    for shape in ("ring", "log-normal", "t3"):
        yield f"medoid/{shape}/odd/20/hard/random"
        yield f"groups/{shape}/odd/20/hard/random"


def measure(job: tuple[str, int]) -> Row:
    """One study, up to the moment at which it stops."""
    cell, number = job
    rule, shape, kind, objects, wrong, how = cell.split("/")
    if wrong in PEOPLE:
        return _of_people(job, rule, shape, kind, int(objects), wrong, how)
    n, share = int(objects), int(wrong) / 100
    begin = time.process_time()
    rng = np.random.default_rng([number, n, int(wrong), len(cell)])
    drawn = SHAPES[shape](n, rng)
    D = drawn.distances()
    nearest, deepest = int(D.sum(axis=1).argmin()), int(centrality_of(kind, D).argmax())
    triples, why = np.zeros((0, 3), dtype=int), []
    found, missed = None, False
    M: tl.ChoiceMap | None = None
    while found is None or (not found.stop and found.look < MOST_LOOKS):
        following = looks(n, len(triples))[2]
        while len(triples) < following:
            count = min(len(triples) // 10 + 1, following - len(triples))
            if how == "random" or len(triples) < 6 * n:
                new = random_questions(n, following - len(triples), rng)
                why += ["random"] * len(new)
            else:
                S = tl.Statements(triples, n, kind=kind, chosen=why)
                M = M or tl.fit(S, n_components=2)
                asked = tl.next_questions(S, GOALS[rule], count, start=M, rater="new")
                new, why = asked.triples, [*why, *asked.reasons]
            triples = np.concatenate([triples, answers(kind, D, new, share, rng)])
        S = tl.Statements(triples, n, kind=kind, chosen=why)
        found = tl.stopping(S, rule, at_most=AT_MOST, gain=GAIN)
        if rule == "medoid":
            missed |= str(nearest) not in found.candidates
    row: Row = {"cell": cell, "study": number, "stopped": found.stop, "answers": len(triples)}
    if rule == "map":
        row["holds"] = _gained(kind, D, triples, share, rng) < GAIN
    else:
        row |= _true(found, nearest, deepest, missed, drawn.labels)
    return row | {"cpu": time.process_time() - begin}


def _of_people(
    job: tuple[str, int], rule: str, shape: str, kind: str, n: int, people: str, design: str
) -> Row:
    """One study of raters who come one after the other."""
    begin = time.process_time()
    made = study(kind, shape, design, people, job[1], n, answers=3500, raters=20)
    # raters come in any order, those of one view not before those of the other
    rng = np.random.default_rng([job[1], n])
    names, rater = np.unique(made.raters, return_inverse=True)
    order = np.argsort(rng.permutation(len(names))[rater], kind="stable")
    S = tl.Statements(made.triples[order], n, kind=kind, raters=made.raters[order])
    missed, at = False, looks(n, 0)[2]
    while at <= len(S):
        found = tl.stopping(S[:at], rule, at_most=AT_MOST, gain=GAIN)
        missed |= rule == "medoid" and str(made.nearest) not in found.candidates
        if found.stop:
            break
        at = looks(n, at)[2]
    row: Row = {"cell": job[0], "study": job[1], "stopped": found.stop, "answers": found.answers}
    row |= _true(found, made.nearest, made.deepest, missed, made.labels)
    return row | {"cpu": time.process_time() - begin}


def _true(
    found: tl.Stopping, nearest: int, deepest: int, missed: bool, labels: np.ndarray | None
) -> Row:
    """Whether what is claimed is so."""
    if found.rule == "groups":
        return {"holds": found.value == (1 if labels is None else len(set(labels.tolist())))}
    return {
        "holds": str(nearest) in found.candidates,
        "deepest": str(deepest) in found.candidates,
        "never missed": not missed,
        "size": len(found.candidates),
    }


def _gained(kind: str, D: np.ndarray, triples: np.ndarray, wrong: float, rng) -> float:
    """What 1000 more random answers truly add to the share of new answers that are predicted."""
    n = len(D)
    more = answers(kind, D, random_questions(n, 1000, rng), wrong, rng)
    test = random_questions(n, 20_000, rng)
    right = []
    for given in (triples, np.concatenate([triples, more])):
        X = tl.ChoiceMap(random_state=0).fit(tl.Statements(given, n, kind=kind)).embedding_
        own = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
        right.append(
            (_scores(kind, own, test).argmax(1) == _scores(kind, D, test).argmax(1)).mean()
        )
    # of answers a share is wrong at random, whatever the map predicts
    options = 2 if kind == "closer" else 3
    return float((right[1] - right[0]) * (1 - wrong * options / (options - 1)))


def table(rows: list[Row]) -> None:
    """How often the claim was true where a study stopped."""
    print(f"{len(rows)} studies, {sum(row['cpu'] for row in rows) / 60:.1f} min of CPU")
    for cell in dict.fromkeys(row["cell"] for row in rows):
        own = [row for row in rows if row["cell"] == cell]
        done = [row for row in own if row["stopped"]]
        said = [f"{cell:38} {len(own):4} studies, {len(done):4} stopped"]
        if done:
            answers = np.median([row["answers"] for row in done])
            holds = np.mean([row["holds"] for row in done])
            said.append(f"after {answers:.0f} answers, true {holds:.3f}")
            if "deepest" in done[0]:
                said.append(f"deepest {np.mean([row['deepest'] for row in done]):.3f}")
        if "never missed" in own[0]:
            said.append(f"never missed {np.mean([row['never missed'] for row in own]):.3f}")
        print(", ".join(said))


if __name__ == "__main__":
    run_studies(__doc__, cells(), measure, table)
