"""How far the answers can be trusted, where they cannot carry a conclusion, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from trilens._tabular import Tabular
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray
from trilens.counts import count_pairs
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.tasks.cluster.suggest import map_dimension

#: Below this many statements an object's 95 % interval is wider than +-0.2.
FEW_APPEARANCES = 25
#: Raters with fewer answers are not judged.
FEW_ANSWERS = 12
_FOLDS = 5
_ENOUGH = 300_000


@dataclass(frozen=True)
class Caution:
    """One thing that the data cannot carry.

    Attributes
    ----------
    code : str
        ``no-statements``, ``unseen``, ``rare``, ``apart``, ``noise``, ``guessing``,
        ``same-place``, ``contradictions`` or ``medoid-open``.
    what, therefore, remedy : str
        What was seen, what cannot be concluded, what to do; one sentence each.
    names : tuple of str
        The objects or raters it is about.
    """

    code: str
    what: str
    therefore: str
    remedy: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class RaterCheck:
    """How one rater's answers fit those of the others.

    Attributes
    ----------
    rater : str
    answers : int
    median_seconds : float or None
    predicted : float
        The share of the answers that the map of the other raters' answers predicts.
    same_place : float or None
        The largest share of answers in one place, where places are known.
    guessing, one_place : bool
        Whether the answers look like guesses, or always fall in the same place.
    """

    rater: str
    answers: int
    median_seconds: float | None
    predicted: float
    same_place: float | None
    guessing: bool
    one_place: bool


@dataclass(frozen=True)
class Reliability(Tabular):
    """The cautions, and the checks behind them.

    Attributes
    ----------
    cautions : tuple of Caution
    unit : {"rater", "round"} or None
        Whether ``raters`` are raters or rounds; None where neither is known.
    raters : tuple of RaterCheck
    predicted : float or None
        The share of all answers that a map of other answers predicts.
    chance : float
        The share that guesses would reach.
    parts : (n,) array of int
        The part of each object: objects of different parts are never compared, not even by
        way of others. 0 is the largest part.
    """

    cautions: tuple[Caution, ...]
    unit: str | None
    raters: tuple[RaterCheck, ...]
    predicted: float | None
    chance: float
    parts: IntArray = field(repr=False)

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each rater."""
        facts = [asdict(check) for check in self.raters]
        return {key: [row[key] for row in facts] for key in (facts[0] if facts else ())}

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types, as ``trilens analyze --json`` prints them."""
        return {
            "predicted": self.predicted,
            "chance": self.chance,
            "rater_unit": self.unit,
            "raters": [asdict(check) for check in self.raters],
            "cautions": [{**asdict(c), "names": list(c.names)} for c in self.cautions],
        }


def reliability(
    statements: StatementsLike, *, n_components: int | None = None, random_state: int = 0
) -> Reliability:
    """Check whether the statements can carry conclusions.

    Parameters
    ----------
    statements : Statements or (m, 3) array
        Of any kind. Raters are checked where they are known; else rounds, where these are.
        Places on the screen are looked at where they are known.
    n_components : int, optional
        Dimension of the lens map that predicts answers; by default as many as stand out.

    Notes
    -----
    Raters are divided into five groups; the lens map of the other groups' statements predicts
    the answers of each. A rater looks like guessing when the share of predicted answers is
    not above chance (one-sided binomial test, level 0.01) and is below that of the median
    rater (level 0.05 over all raters together). A rater answers in one place when that place
    has at least 60 % of the answers, which guessing would hardly ever do (level 0.001 over
    all raters).

    Examples
    --------
    >>> found = reliability([[0, 1, 2], [3, 4, 5]])
    >>> [caution.code for caution in found.cautions]
    ['rare', 'apart']
    """
    given = as_statements(statements)
    chance = 0.5 if given.kind == "closer" else 1 / 3
    parts = _parts(given)
    if len(given) == 0:
        nothing = Caution(
            "no-statements",
            "There are no statements.",
            "Nothing can be concluded.",
            "Check the file, or collect answers.",
        )
        return Reliability((nothing,), None, (), None, chance, parts)
    cautions = [*_about_objects(given), *_about_parts(given, parts)]
    unit, who = _who(given)
    if n_components is None:
        n_components = map_dimension(count_pairs(given))
    right = predicted_answers(given, who, n_components, random_state)
    predicted = None if right is None else float(right.mean())
    checks: tuple[RaterCheck, ...] = ()
    if right is not None:
        if who is not None:
            checks = _check_raters(given, who, right, chance)
        cautions += _about_answers(given, right, chance, checks, unit)
    cautions += _about_contradictions(given, chance)
    return Reliability(tuple(cautions), unit if checks else None, checks, predicted, chance, parts)


def predicted_answers(
    statements: Statements, who: AnyArray | None, n_components: int, random_state: int
) -> BoolArray | None:
    """Whether each answer is what the lens map of other statements says.

    The statements are divided into five parts, all of one rater in one part; the map of four
    parts predicts the fifth. None where there are too few statements to do so.
    """
    from trilens.maps.registry import coordinates

    m = len(statements)
    rng = np.random.default_rng(random_state)
    if who is None:
        fold = rng.permutation(m) % _FOLDS
    else:
        raters, rater = np.unique(who, return_inverse=True)
        fold = (rng.permutation(len(raters)) % _FOLDS)[rater]
    folds = np.unique(fold)
    if m < 10 * _FOLDS or len(folds) < 2 or statements.n_objects < 4:
        return None
    right = np.zeros(m, dtype=bool)
    dim = min(n_components, statements.n_objects - 1)
    for part in folds:
        held_out = np.flatnonzero(fold == part)
        found = coordinates(statements.take(fold != part), "lensmap", dim)
        right[held_out] = _agrees(statements.triples[held_out], found, statements.kind)
    return right


def _agrees(triples: AnyArray, points: FloatArray, kind: str) -> BoolArray:
    first, second, third = (points[triples[:, i]] for i in range(3))
    opposite = ((second - third) ** 2).sum(axis=1)
    to_second = ((first - second) ** 2).sum(axis=1)
    to_third = ((first - third) ** 2).sum(axis=1)
    if kind == "central":
        return np.asarray(opposite > np.maximum(to_second, to_third))
    if kind == "odd":
        return np.asarray(opposite < np.minimum(to_second, to_third))
    return np.asarray(to_second < to_third)


def _check_raters(
    statements: Statements, who: AnyArray, right: BoolArray, chance: float
) -> tuple[RaterCheck, ...]:
    from scipy.special import bdtr, bdtrc

    names, rater = np.unique(who, return_inverse=True)
    answers = np.bincount(rater)
    hits = np.bincount(rater, weights=right).astype(np.int64)
    judged = answers >= FEW_ANSWERS
    typical = float(np.median((hits / answers)[judged])) if judged.any() else 1.0
    not_above_chance = bdtrc(hits - 1, answers, chance) > 0.01
    below_typical = bdtr(hits, answers, typical) < 0.05 / max(int(judged.sum()), 1)
    guessing = judged & not_above_chance & below_typical
    share, one_place = None, np.zeros(len(names), dtype=bool)
    places = getattr(statements, "places", None)
    if places is not None:
        counts = np.zeros((len(names), 3), dtype=np.int64)
        np.add.at(counts, (rater, places), 1)
        most = counts.max(axis=1)
        share = most / answers
        unlikely = bdtrc(most - 1, answers, 1 / 3) * 3 * len(names) < 0.001
        one_place = judged & unlikely & (share >= 0.6)
    seconds = _median_seconds(statements, rater, len(names))
    in_order = sorted(range(len(names)), key=lambda i: _natural(str(names[i])))
    return tuple(
        RaterCheck(
            str(names[i]),
            int(answers[i]),
            seconds[i],
            float(hits[i] / answers[i]),
            None if share is None else float(share[i]),
            bool(guessing[i]),
            bool(one_place[i]),
        )
        for i in in_order
    )


def _median_seconds(statements: Statements, rater: IntArray, n_raters: int) -> list[float | None]:
    if statements.seconds is None:
        return [None] * n_raters
    order = np.argsort(rater, kind="stable")
    parts = np.split(statements.seconds[order], np.cumsum(np.bincount(rater))[:-1])
    known = (part[np.isfinite(part)] for part in parts)
    return [float(np.median(part)) if len(part) else None for part in known]


def _who(statements: Statements) -> tuple[str | None, AnyArray | None]:
    if statements.raters is not None and len(np.unique(statements.raters)) > 1:
        return "rater", statements.raters
    if statements.rounds is not None and len(np.unique(statements.rounds)) > 1:
        return "round", statements.rounds
    return None, None


def _parts(statements: Statements) -> IntArray:
    """Connected parts of the graph that joins objects compared in a statement."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    T, n = statements.triples, statements.n_objects
    start, end = np.concatenate([T[:, 0], T[:, 1]]), np.concatenate([T[:, 1], T[:, 2]])
    joined = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(n, n))
    _, part = connected_components(joined, directed=False)
    order = np.argsort(-np.bincount(part), kind="stable") if n else np.arange(0)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[part], dtype=np.int64)


def _about_objects(statements: Statements) -> list[Caution]:
    appears = np.bincount(statements.triples.ravel(), minlength=statements.n_objects)
    names = np.array(statements.names, dtype=object)
    found = []
    unseen = names[appears == 0].tolist()
    if unseen:
        found.append(
            Caution(
                "unseen",
                f"{_count(unseen, 'object')} {_be(unseen)} in no statement.",
                "Nothing is known about them: their depth counts as 0 and their place on the map "
                "means nothing.",
                "Ask about them, or leave them out of the list of objects.",
                tuple(unseen),
            )
        )
    rare = names[(appears > 0) & (appears < FEW_APPEARANCES)].tolist()
    if rare:
        found.append(
            Caution(
                "rare",
                f"{_count(rare, 'object')} {_be(rare)} in fewer than {FEW_APPEARANCES} statements.",
                "Their depths are uncertain by more than 0.2 either way: whether they are central "
                "or outlying is open.",
                f"Ask about them until each is in {FEW_APPEARANCES} statements or more; a hundred "
                "bring the uncertainty to 0.1.",
                tuple(rare),
            )
        )
    return found


def _about_parts(statements: Statements, parts: IntArray) -> list[Caution]:
    appears = np.bincount(statements.triples.ravel(), minlength=statements.n_objects)
    seen = appears > 0
    different = np.unique(parts[seen])
    if len(different) < 2:
        return []
    outside = np.flatnonzero(seen & (parts != different[0]))
    return [
        Caution(
            "apart",
            f"The objects fall into {len(different)} parts that no statement connects.",
            "Objects of different parts cannot be compared: depths, map and clusters mix "
            "unrelated scales.",
            "Ask about triples that mix the parts, or analyse each part by itself.",
            tuple(statements.names[i] for i in outside),
        )
    ]


def _about_answers(
    statements: Statements,
    right: BoolArray,
    chance: float,
    checks: Sequence[RaterCheck],
    unit: str | None,
) -> list[Caution]:
    from scipy.special import bdtrc

    found = []
    hits = int(right.sum())
    if bdtrc(hits - 1, len(right), chance) > 0.001:
        found.append(
            Caution(
                "noise",
                f"A map of some answers predicts {hits / len(right):.0%} of the others; guesses "
                f"would reach {chance:.0%}.",
                "As a whole the answers cannot be told from guesses, or there are too few of them.",
                "Collect more answers, and check that the question was understood.",
            )
        )
    guessing = [check.rater for check in checks if check.guessing]
    one_place = [check.rater for check in checks if check.one_place]
    word = unit or "rater"
    if guessing:
        found.append(
            Caution(
                "guessing",
                f"The answers of {_count(guessing, word)} fit those of the others no better than "
                f"guesses.",
                "They blur every result.",
                f"Look at these {word}s, and run the analysis again without them.",
                tuple(guessing),
            )
        )
    if one_place:
        found.append(
            Caution(
                "same-place",
                f"{_count(one_place, word)} mostly chose the same place on the screen.",
                "Such answers do not depend on the objects.",
                f"Run the analysis again without these {word}s.",
                tuple(one_place),
            )
        )
    return found


def _about_contradictions(statements: Statements, chance: float) -> list[Caution]:
    from trilens.statements.combine import answer_counts

    # beyond some hundred thousand the share does not change any more
    part = statements.take(np.arange(_ENOUGH)) if len(statements) > _ENOUGH else statements
    votes, _ = answer_counts(part)
    asked = votes.sum(axis=1)
    pairs = int((asked * (asked - 1)).sum())
    if pairs < 200:
        return []
    same = float((votes * (votes - 1)).sum() / pairs)
    # two answers that agree no more often than half-way between guessing and always
    if same >= (chance + 1) / 2:
        return []
    return [
        Caution(
            "contradictions",
            f"Two answers to the same question agree in {same:.0%} of the cases; guesses would "
            f"in {chance:.0%}.",
            "Raters differ, or the questions are hard: single answers carry little.",
            "Rely on results that rest on many answers, and treat close calls as ties.",
        )
    ]


def _natural(name: str) -> tuple[bool, int, str]:
    """Numbers by their size, before other names."""
    number = name.isdecimal()
    return (not number, int(name) if number else 0, name)


def _count(names: Sequence[Any], noun: str) -> str:
    return f"{len(names):,} {noun}{'' if len(names) == 1 else 's'}"


def _be(names: Sequence[Any]) -> str:
    return "is" if len(names) == 1 else "are"
