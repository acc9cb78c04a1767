"""Whether claims hold in the designs and populations that labs have.

    python benchmarks/claims_designs.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]
    python benchmarks/claims_designs.py --table FILE [FILE ...]

A cell is ``claim/kind/shape/design/people/objects/answers/raters``; the studies are those of
`designs.study`, whose seed is the number of the study. A study that is already in FILE is not
run again. Development used the studies from 10000 on (``--first 10000``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

import trilens as tl
from claims_run import Row, run_studies
from designs import SHAPES, Study, population, shares_predicted, study
from trilens.agreement import agreement_between
from trilens.maps.fitted import fit_answers
from trilens.maps.fitting import How
from trilens.questions.evaluate.evaluation import Yardstick
from trilens.questions.group_test import differing_groups

KINDS = ("central", "odd", "closer")
#: People about whom raters are judged.
RATERS = (
    "soft",
    "soft, unequal",
    "another view",
    "another view, soft",
    "two factions",
    "weights",
    "weights, hard",
    "clickers",
    "inverted",
    "guesses",
)


def statements(made: Study) -> tl.Statements:
    """The answers as the package takes them."""
    width = len(str(made.n))
    names = [f"o{i:0{width}d}" for i in range(made.n)]
    return tl.Statements(
        made.triples, n_objects=made.n, names=names, kind=made.kind, raters=made.raters
    )


def medoid(made: Study) -> Row:
    """The 95 % set of the most central object, and the intervals of depth."""
    S = statements(made)
    F = tl.fit(S)
    found = F.medoid()
    inside = {S.names.index(name) for name in found.candidates}
    intervals = F.depth_intervals()
    covered = (intervals.low <= made.expected) & (made.expected <= intervals.high)
    return {
        "nearest": made.nearest in inside,
        "deepest": made.deepest in inside,
        "size": len(inside),
        "intervals": float(covered.mean()),
    }


def outliers(made: Study) -> Row:
    """Objects that are said to stand apart."""
    S = statements(made)
    found = tl.outliers(S)
    claimed = {S.names.index(name) for name in found.names}
    true = set() if made.labels is None else set(np.flatnonzero(made.labels == -1).tolist())
    named = claimed | {S.names.index(name) for name in found.tail or ()}
    return {
        "refused": found.caution is not None,
        "claimed": len(claimed) > 0,
        "long tail": found.tail is not None,
        "wrongly": len(claimed - true),
        "found": len(claimed & true) / len(true) if true else None,
        "found or in the tail": len(named & true) / len(true) if true else None,
    }


def groups(made: Study) -> Row:
    """How many groups are suggested."""
    from sklearn.metrics import adjusted_rand_score

    S = statements(made)
    found = tl.cluster(S)
    number = len(set(np.asarray(found.labels).tolist()))
    true = 1 if made.labels is None else len(set(made.labels.tolist()))
    alike = None if made.labels is None else adjusted_rand_score(made.labels, found.labels)
    return {"number": number, "right": number == true, "alike": alike}


def evaluate(made: Study) -> Row:
    """The accuracy of two models for raters and questions like these, and which is better.

    The first is the true distances with noise, the second these again with as much noise.
    """
    S = statements(made)
    rng = np.random.default_rng(made.triples.ravel()[:50])
    noise = 0.25 * rng.standard_normal((2, made.n, made.n))
    models = [np.abs(made.distances + x + x.T) * (1 - np.eye(made.n)) for x in noise]
    true = shares_predicted(made, models)
    none = Yardstick(None, None, None, "not asked for")
    found = [
        tl.evaluate(S, distances=D, name=name, yardstick=none)
        for D, name in zip(models, ("one", "two"), strict=True)
    ]
    pair = tl.compare_models(found).differences[0]
    gap = true[0] - true[1] if pair.first == "one" else true[1] - true[0]
    low, high = found[0].interval
    return {
        "held": low <= true[0] <= high,
        "width": high - low,
        "difference held": pair.low <= gap <= pair.high,
        "difference width": pair.high - pair.low,
        "caution": found[0].caution is not None,
    }


def ceiling(made: Study) -> Row:
    """How often two raters agree."""
    S = statements(made)
    found = agreement_between(S, S.raters)
    if found is None:
        return {"held": None, "width": None}
    true = float((population(made)[1] ** 2).sum(axis=1).mean())
    return {"held": found.low <= true <= found.high, "width": found.high - found.low}


def rater_groups(made: Study) -> Row:
    """Whether the first and the second half of the raters are said to answer differently."""
    S = statements(made)
    names, rater = np.unique(made.raters, return_inverse=True)
    second = (np.arange(len(names)) >= len(names) // 2).astype(np.int64)
    # any model of all answers keeps the level; this one is quick
    fitted = fit_answers(S, How(2, 0.1, lapses="one", max_iter=30, tol=1e-3))
    found = differing_groups(S, rater, second[rater], fitted)
    p = found.p_value
    return {"refused": p is None, "rejected": None if p is None else p <= 0.05, "p": p}


def everything(made: Study) -> Row:
    """The medoid's set, the error rate, outliers, groups and a model's accuracy, by one map."""
    S = statements(made)
    F = tl.fit(S)
    central = {S.names.index(name) for name in F.medoid().candidates}
    trust = F.reliability()
    apart = {S.names.index(name) for name in F.outliers().names}
    number = len(set(np.asarray(F.cluster().labels).tolist()))
    true = 1 if made.labels is None else len(set(made.labels.tolist()))
    low, high = trust.error_rate_interval or (0.0, 0.0)
    none = Yardstick(None, None, None, "not asked for")
    accuracy = tl.evaluate(S, distances=made.distances, yardstick=none).interval
    share = shares_predicted(made, [made.distances])[0]
    return {
        "nearest": bool(central & _least(made.distances.sum(axis=1))),
        "deepest": bool(central & _least(-made.depth)),
        "size": len(central),
        "error rate": trust.error_rate,
        "true rate": made.wrong,
        "rate held": low <= made.wrong <= high,
        "careless": sum(check.guessing for check in trust.raters),
        "outliers": len(apart) > 0,
        "number right": number == true,
        "divided": number > 1,
        "accuracy held": accuracy[0] <= share <= accuracy[1],
    }


#: What `tl.structure` may say.
NAMED = ("cloud", "line", "ring", "arms", "groups", "groups in groups")


def structure(made: Study) -> Row:
    """The shape that is named: a row of the confusion matrix."""
    from sklearn.metrics import adjusted_rand_score

    found = tl.structure(statements(made))
    alike = None
    if made.labels is not None and found.part is not None:
        levels = [part for part in (found.part, found.inner) if part is not None]
        alike = max(adjusted_rand_score(made.labels, part) for part in levels)
    return {**{name: found.shape == name for name in NAMED}, "alike": alike}


def raters(made: Study) -> Row:
    """What is said of raters, and the interval of the error rate."""
    found = tl.reliability(statements(made))
    said = {check.rater: check.verdict for check in found.raters}
    low, high = found.error_rate_interval or (np.nan, np.nan)
    row: Row = {"noise": "noise" in {caution.code for caution in found.cautions}}
    for sort in ("careful", "other view", "clicker", "inverted"):
        own = [said[rater] for rater in said if made.sort[rater] == sort]
        for verdict in ("consistent", "careless", "inverted", "differs", "unclear"):
            row[f"{sort}: {verdict}"] = own.count(verdict) / len(own) if own else None
    return {
        **row,
        "error rate covered": low - 1e-9 <= made.wrong <= high + 1e-9,
        "width": high - low,
    }


def individuals(made: Study) -> Row:
    """Whether raters are said to see different things, and to fall into groups."""
    from sklearn.metrics import adjusted_rand_score

    found = tl.individuals(statements(made), predict=False)
    true = [made.sort[rater] for rater in found.raters]
    divided = "other view" in true
    return {
        "differ": found.differ,
        "groups": len(found.groups) > 0,
        "alike": adjusted_rand_score(true, found.group) if divided else None,
    }


def hierarchy(made: Study) -> Row:
    """How many branches are claimed, and how many of these are true.

    A branch is true if it is one of the tree behind the distances, a group, or a branch of the
    tree that the true distances give.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    S = statements(made)
    found = tl.hierarchy(S)
    number = {name: i for i, name in enumerate(S.names)}
    parts = [frozenset([i]) for i in range(made.n)]
    for one, other in linkage(squareform(made.distances, checks=False), "average")[:, :2]:
        parts.append(parts[int(one)] | parts[int(other)])
    true = {*made.branches, *parts[made.n : -1]}
    claimed = [frozenset(number[name] for name in each.objects) for each in found.claimed]
    sure = [
        frozenset(number[name] for name in each.objects)
        for each in found.branches[:-1]
        if each.support is not None and each.support >= 0.95
    ]
    return {
        "claims": len(claimed) > 0,
        "claimed": len(claimed),
        "claimed and true": sum(each in true for each in claimed),
        "supported": len(sure),
        "supported and true": sum(each in true for each in sure),
        "branches": len(made.branches),
        "branches claimed": len(set(claimed) & set(made.branches)),
    }


def distances(made: Study) -> Row:
    """How often the true distance is within two standard errors."""
    found = tl.distances(statements(made))
    at = np.triu_indices(made.n, 1)
    true = made.distances[at] / made.distances[at].mean()
    d, error = found.matrix[at], found.errors[at]
    return {
        "covered": float((np.abs(d - true) <= 2 * error).mean()),
        "standard error": float(np.sqrt((error**2).mean())),
        "off by": float(np.sqrt(((d - true) ** 2).mean())),
        "correlation": float(np.corrcoef(d, true)[0, 1]),
    }


def compared_groups(made: Study) -> Row:
    """Groups of raters: those of the other view, or a third of the raters where all see alike."""
    names, rater = np.unique(made.raters, return_inverse=True)
    other = np.array([made.sort[name] == "other view" for name in names])
    second = other if other.any() else np.arange(len(names)) >= 2 * len(names) // 3
    return _compared(made, rater, second[rater].astype(np.int64))


def compared_conditions(made: Study) -> Row:
    """Two conditions of each rater: another view where raters have one, else by lot."""
    names, rater = np.unique(made.raters, return_inverse=True)
    if "other view" in made.sort.values():  # one of either view is one person
        return _compared(made, rater % (len(names) // 2), made.view)
    lot = np.random.default_rng(made.triples.ravel()[:50]).integers(2, size=len(rater))
    return _compared(made, rater, lot)


def _compared(made: Study, rater: np.ndarray, group: np.ndarray) -> Row:
    S = statements(made)
    # any model of all answers keeps the level; this one is quick
    fitted = fit_answers(S, How(2, 0.1, lapses="one", max_iter=60, tol=1e-3))
    found = differing_groups(S, rater, group, fitted, permutations=499, objects=True)
    p = found.p_value
    if p is None or found.objects is None:
        return {"refused": True}
    named = set(np.flatnonzero(found.objects <= 0.05).tolist()) if p <= 0.05 else set()
    moved = set(made.moved)
    return {
        "refused": False,
        "said to differ": p <= 0.05,
        "names objects": len(named) > 0,
        "moved": len(moved) or None,
        "moved and named": len(named & moved) if moved else None,
        "others named": len(named - moved) if moved else None,
    }


def _least(values: np.ndarray) -> set[int]:
    """Where they are least; categories have ties."""
    return set(np.flatnonzero(values <= values.min() + 1e-9).tolist())


CLAIMS: dict[str, Callable[[Study], Row]] = {
    "medoid": medoid,
    "outliers": outliers,
    "groups": groups,
    "evaluate": evaluate,
    "ceiling": ceiling,
    "rater groups": rater_groups,
    "everything": everything,
    "structure": structure,
    "raters": raters,
    "individuals": individuals,
    "hierarchy": hierarchy,
    "distances": distances,
    "compared groups": compared_groups,
    "compared conditions": compared_conditions,
}


def cells() -> Iterator[str]:
    """Those of the table."""
    for kind in KINDS:
        for people in ("hard", "soft"):
            yield f"medoid/{kind}/plane/one list/{people}/40/4000/20"
        for design in ("random", "blocks", "landmarks", "uneven"):
            yield f"medoid/{kind}/plane/{design}/hard/40/4000/20"
        yield f"medoid/{kind}/plane/random/soft, unequal/40/2000/5"
        # many raters, and a list of 50 questions
        for people in ("right 95", "hard", "soft"):
            yield f"medoid/{kind}/plane/one list/{people}/20/3000/60"
    for people in ("soft, unequal", "hard", "weights"):
        for design in ("one rater half", "zipf amounts", "random", "one list", "pool"):
            yield f"evaluate/central/plane/{design}/{people}/30/1200/12"
        yield f"evaluate/central/plane/random/{people}/30/1000/5"
        yield f"evaluate/central/plane/one list/{people}/30/500/5"
    for kind in ("odd", "closer"):
        for design in ("one rater half", "zipf amounts"):
            yield f"evaluate/{kind}/plane/{design}/soft, unequal/30/1200/12"
    for kind in KINDS:
        for design in ("one list", "pool", "zipf amounts", "one rater half"):
            yield f"ceiling/{kind}/plane/{design}/soft, unequal/12/1200/12"
        yield f"ceiling/{kind}/plane/pool/weights/30/2000/20"
        yield f"ceiling/{kind}/plane/one list/soft, unequal/30/500/5"
    for design in ("random", "one list", "lists partly shared", "lists of their own"):
        for people in ("soft", "soft, unequal", "weights", "two factions"):
            yield f"rater groups/central/plane/{design}/{people}/24/1440/24"
        for kind in ("odd", "closer"):
            yield f"rater groups/{kind}/plane/{design}/soft, unequal/24/1440/24"
    for kind in KINDS:
        for people in ("tired", "learning", "left"):
            yield f"everything/{kind}/plane/random/{people}/40/3000/20"
        yield f"everything/{kind}/three groups/random/categories/40/3000/20"
        for shape in ("line", "graph", "duplicates"):
            yield f"everything/{kind}/{shape}/random/soft/40/3000/20"
        yield f"everything/{kind}/plane/random/soft/100/6000/20"
    for shape in ("plane", "square", "log-normal", "t3", "core in a halo", "ring", "arms", "line"):
        for kind in KINDS:
            yield f"outliers/{kind}/{shape}/random/soft/60/3000/20"
            yield f"groups/{kind}/{shape}/random/soft/60/3000/20"
    for kind in KINDS:
        for shape in ("three groups", "24 and 6", "four outliers", "one outlier"):
            yield f"outliers/{kind}/{shape}/random/soft/60/3000/20"
        yield f"outliers/{kind}/24 and 6/random/soft/30/1500/20"
        yield f"outliers/{kind}/plane/one list/hard/40/4000/20"
        for design in ("random", "one list"):
            yield f"outliers/{kind}/plane/{design}/guesses/40/4000/20"
        for raters in (5, 1):
            yield f"outliers/{kind}/plane/one list/guesses/40/1000/{raters}"
        yield f"outliers/{kind}/plane/one list/hard/40/1000/5"
        yield f"outliers/{kind}/plane/blocks/hard/40/4000/20"
    for shape in SHAPES:
        if not {"outlier", "outliers", "graph", "duplicates", "tree", "tree,"} & set(shape.split()):
            n = 30 if shape == "24 and 6" else 40
            for kind in KINDS:
                yield f"structure/{kind}/{shape}/random/hard/{n}/4000/20"
    for kind in KINDS:
        yield f"structure/{kind}/plane/random/guesses/40/4000/20"

    for kind in KINDS:
        for people in RATERS:
            yield f"raters/{kind}/plane/random/{people}/40/4000/20"
        for people in ("soft", "another view", "clickers"):
            yield f"raters/{kind}/plane/one list/{people}/40/4000/20"
        for design in ("random", "one list"):
            for people in RATERS:
                yield f"individuals/{kind}/plane/{design}/{people}/40/4000/20"

    for kind in KINDS:
        for shape in ("tree", "tree, unclear", "groups in groups", "three groups"):
            yield f"hierarchy/{kind}/{shape}/random/hard/30/3000/20"
            yield f"hierarchy/{kind}/{shape}/one list/soft/30/3000/20"
        for shape in ("plane", "five dimensions", "line"):
            yield f"hierarchy/{kind}/{shape}/random/soft/30/3000/20"
        yield f"hierarchy/{kind}/plane/random/guesses/30/3000/20"
        for shape in ("plane", "five dimensions", "three groups", "tree"):
            yield f"distances/{kind}/{shape}/random/soft/30/3000/20"
        for design in ("random", "one list", "zipf amounts"):
            for people in ("soft, unequal", "weights"):
                yield f"compared groups/{kind}/plane/{design}/{people}/30/2100/21"
        for people in ("one elsewhere", "three elsewhere", "two factions"):
            yield f"compared groups/{kind}/plane/random/{people}/30/2000/20"
        for design in ("random", "one list"):
            yield f"compared conditions/{kind}/plane/{design}/weights/30/2000/20"
        yield f"compared conditions/{kind}/plane/random/three elsewhere/30/2000/20"


def measure(job: tuple[str, int]) -> Row:
    """One study of one cell."""
    cell, number = job
    claim, kind, shape, design, people, n, answers, raters = cell.split("/")
    made = study(kind, shape, design, people, number, int(n), int(answers), int(raters))
    start = time.process_time()
    found = CLAIMS[claim](made)
    row = {key: x.item() if isinstance(x, np.generic) else x for key, x in found.items()}
    return {"cell": cell, "study": number, **row, "seconds": time.process_time() - start}


#: What a cell's name is made of, after the claim.
SETTING = ("kind", "shape", "design", "people", "objects", "answers", "raters")


def table(rows: list[Row]) -> None:
    """A Markdown table for each claim: the setting, the studies by number, the means."""
    by_cell: dict[str, list[Row]] = {}
    for row in {(row["cell"], row["study"]): row for row in rows}.values():
        by_cell.setdefault(row["cell"], []).append(row)
    order = {cell: i for i, cell in enumerate(cells())}
    for claim in CLAIMS:
        own = [cell for cell in by_cell if cell.split("/")[0] == claim]
        if not own:
            continue
        own.sort(key=lambda cell: (order.get(cell, len(order)), cell))
        known = dict.fromkeys(key for cell in own for row in by_cell[cell] for key in row)
        measured = [key for key in known if key not in ("cell", "study")]
        print(f"\n### {claim}\n\n| {' | '.join((*SETTING, 'studies', *measured))} |")
        print("|" + "---|" * (len(SETTING) + 1 + len(measured)))
        for cell in own:
            found = by_cell[cell]
            shown = [*cell.split("/")[1:], _numbers([row["study"] for row in found])]
            for key in measured:
                values = [float(row[key]) for row in found if row.get(key) is not None]
                shown.append(f"{np.mean(values):.3f}" if values else "-")
            print(f"| {' | '.join(shown)} |")


def _numbers(studies: list[int]) -> str:
    """The studies, which are their own seeds: ``60 (0-59)``."""
    low, high = min(studies), max(studies)
    return f"{len(studies)} ({low}-{high})"


if __name__ == "__main__":
    run_studies(__doc__ or "", cells(), measure, table)
