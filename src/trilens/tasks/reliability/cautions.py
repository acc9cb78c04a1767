"""What the data cannot carry, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._typing import IntArray
from trilens.statements import Statements
from trilens.tasks.reliability.error_rate import Rate, Repeats

#: Below this many statements an object's 95 % interval is wider than +-0.2.
FEW_APPEARANCES = 25
#: How often guesses may predict as well as the map before the answers count as more than that.
_LEVEL = 0.001
#: From this error rate on it is said.
_MANY_WRONG = 0.25
#: With fewer repeated questions their agreement is not judged.
_FEW_REPEATS = 50
#: With fewer different rows equal numbers of them may be chance or design.
_FEW_ROWS = 20
#: Beyond, telling rows apart takes seconds.
_MOST_ROWS = 300_000


@dataclass(frozen=True)
class Caution:
    """One thing that the data cannot carry.

    Attributes
    ----------
    code : str
        ``no-statements``, ``unseen``, ``rare``, ``apart``, ``copies``, ``noise``, ``wrong``,
        ``guessing``, ``most-guess``, ``same-place``, ``contradictions``, ``medoid-open`` or
        ``counted``.
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


def connected_parts(statements: Statements) -> IntArray:
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


def about_objects(statements: Statements) -> list[Caution]:
    """Objects that are in few statements, or in none."""
    return about_appearances(statements.names, statements.appearances)


def about_appearances(of: Sequence[str], appears: IntArray) -> list[Caution]:
    """Objects that are in few statements, or in none."""
    names = np.array(of, dtype=object)
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


def about_parts(statements: Statements, parts: IntArray) -> list[Caution]:
    """Objects that cannot be compared, not even by way of others."""
    appears = statements.appearances
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


def about_copies(statements: Statements) -> list[Caution]:
    """Whether every row stands there equally often: the same file more than once.

    >>> S = Statements([[i, i + 1, i + 2] for i in range(30)] * 3)
    >>> [caution.what for caution in about_copies(S)]
    ['Every row stands in the data a multiple of 3 times.']
    """
    m = len(statements)
    if not 2 * _FEW_ROWS <= m <= _MOST_ROWS:
        return []
    known = (statements.raters, statements.rounds, statements.seconds, statements.places)
    codes, times = np.zeros(m, dtype=np.int64), np.array([m])
    # rows that are alike in all columns are alike in the first ones: most often these tell
    for values in (*statements.triples.T, *(own for own in known if own is not None)):
        kinds, column = np.unique(values, return_inverse=True)
        _, codes, times = np.unique(
            codes * len(kinds) + column, return_inverse=True, return_counts=True
        )
        if np.gcd.reduce(times) < 2:
            return []
    times_all = int(np.gcd.reduce(times))
    if len(times) < _FEW_ROWS:
        return []
    return [
        Caution(
            "copies",
            f"Every row stands in the data a multiple of {times_all} times.",
            "If the same answers are in it more than once, everything looks surer than it is: "
            "intervals are too narrow, and people seem to agree with themselves.",
            "Look whether a file was read twice; give each answer once.",
        )
    ]


def about_noise(m: int, hits: int, chance: float) -> list[Caution]:
    """Whether the answers as a whole say anything, when so many of m were predicted."""
    from scipy.special import bdtrc

    if bdtrc(hits - 1, m, chance) <= _LEVEL:
        return []
    return [
        Caution(
            "noise",
            f"A map of some answers predicts {hits / m:.0%} of the others; guesses would "
            f"reach {chance:.0%}.",
            "As a whole the answers cannot be told from guesses, or there are too few of them.",
            "Collect more answers, and check that the question was understood.",
        )
    ]


def about_errors(error_rate: Rate) -> list[Caution]:
    """Whether many answers are wrong."""
    if error_rate.estimate < _MANY_WRONG:
        return []
    return [
        Caution(
            "wrong",
            f"About {error_rate.estimate:.0%} of the answers seem to be wrong (between "
            f"{error_rate.low:.0%} and {error_rate.high:.0%}).",
            "Results that rest on few answers are uncertain.",
            "Look at who answered, and rely on what has an interval.",
        )
    ]


def about_raters(
    guessing: Sequence[str],
    one_place: Sequence[str],
    share: float,
    n_raters: int,
    unit: str,
    noise: bool = False,
) -> list[Caution]:
    """Who guesses, who always chooses the same place, and whether most do.

    Parameters
    ----------
    noise
        Whether the answers as a whole cannot be told from guesses.
    """
    rest = (
        "Perhaps all of them do: no answer could be predicted from the others."
        if noise
        else "What the answers say rests on the others alone, and some of those who guess may be "
        "among them."
    )
    found = []
    if share >= 0.5 or 2 * len(guessing) >= n_raters:
        most = max(share, len(guessing) / n_raters)
        found.append(
            Caution(
                "most-guess",
                f"About {most:.0%} of the {unit}s seem to answer without looking.",
                rest,
                f"Find out how the {unit}s were recruited; leave out those who guess, and ask "
                "others.",
            )
        )
    if guessing:
        found.append(
            Caution(
                "guessing",
                f"The answers of {_count(guessing, unit)} fit those of the others no better than "
                f"guesses.",
                "They blur every result.",
                f"Look at these {unit}s, and run the analysis again without them.",
                tuple(guessing),
            )
        )
    if one_place:
        found.append(
            Caution(
                "same-place",
                f"{_count(one_place, unit)} mostly chose the same place on the screen.",
                "Such answers do not depend on the objects.",
                f"Run the analysis again without these {unit}s.",
                tuple(one_place),
            )
        )
    return found


def about_contradictions(repeats: Repeats | None, chance: float) -> list[Caution]:
    """Whether two answers to the same question agree more often than not."""
    # two answers that agree no more often than half-way between guessing and always
    if repeats is None or repeats.questions < _FEW_REPEATS or repeats.agreement >= (chance + 1) / 2:
        return []
    return [
        Caution(
            "contradictions",
            f"Two answers to the same question agree in {repeats.agreement:.0%} of the cases "
            f"({repeats.questions:,} questions, each counted once); guesses would in "
            f"{chance:.0%}.",
            "Raters differ, or the questions are hard: single answers carry little.",
            "Rely on results that rest on many answers, and treat close calls as ties.",
        )
    ]


def _count(names: Sequence[Any], noun: str) -> str:
    return f"{len(names):,} {noun}{'' if len(names) == 1 else 's'}"


def _be(names: Sequence[Any]) -> str:
    return "is" if len(names) == 1 else "are"
