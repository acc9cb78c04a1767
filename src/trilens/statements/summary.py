"""What was collected: the paper's Table 1, with repeats, contradictions and raters."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trilens._tabular import Tabular, natural, text_table
from trilens._typing import AnyArray
from trilens.kinds import n_questions
from trilens.statements.combine import question_keys, questions
from trilens.statements.value import Kind, Statements

#: With fewer different rows equal numbers of them may be chance or design.
_FEW_ROWS = 20
#: Beyond, telling rows apart takes seconds.
_MOST_ROWS = 300_000


@dataclass(frozen=True)
class RaterSummary:
    """One rater's share: answers, their median time, and how often others agree.

    ``agreement`` is the share of the other raters' answers to the same triples that equal
    this rater's answer; None where nobody else was asked the same. Answers whose rater is not
    known (the empty text) are such answers of others, and have no summary of their own. Questions
    that earlier answers chose are harder than others: they do not count.
    """

    rater: str
    statements: int
    median_seconds: float | None
    agreement: float | None


@dataclass(frozen=True)
class Summary(Tabular):
    """The quantities of the paper's Table 1, plus repeats and contradictions.

    ``coverage_percent`` is statements / possible triples * 100, as in the paper, so it may
    pass 100 where triples repeat; ``triples_covered`` counts different triples. For
    ``closer`` statements a triple is an anchor with an unordered pair. ``chosen`` questions are
    those that earlier answers suggested. What counts do not tell (`Counted.summary`) is None.

    Examples
    --------
    >>> summary = Statements([[0, 1, 2], [0, 1, 3]], kind="odd").summary()
    >>> print("\\n".join(repr(summary).splitlines()[:4]))
    fact                    value
    kind                      odd
    statements                  2
    objects                     4
    """

    kind: Kind
    statements: int
    objects: int
    triples_possible: int
    triples_covered: int | None
    coverage_percent: float
    appearances_min: int
    appearances_mean: float
    appearances_max: int
    objects_never_seen: int
    repeated_triples: int | None
    contradictory_triples: int | None
    median_seconds: float | None
    raters: tuple[RaterSummary, ...]
    rounds: int | None
    chosen: int | None = None

    def __repr__(self) -> str:
        return text_table(self.columns())

    def columns(self) -> dict[str, list[Any]]:
        """A row for each fact; the raters are left to `to_dict`."""
        facts = self.to_dict()
        facts.update({f"appearances_{k}": v for k, v in facts.pop("appearances").items()})
        del facts["raters"]
        return {"fact": list(facts), "value": list(facts.values())}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens describe --json`` prints them."""
        return {
            "kind": self.kind,
            "statements": self.statements,
            "objects": self.objects,
            "triples_possible": self.triples_possible,
            "triples_covered": self.triples_covered,
            "coverage_percent": self.coverage_percent,
            "appearances": {
                "min": self.appearances_min,
                "mean": self.appearances_mean,
                "max": self.appearances_max,
            },
            "objects_never_seen": self.objects_never_seen,
            "repeated_triples": self.repeated_triples,
            "contradictory_triples": self.contradictory_triples,
            "median_seconds": self.median_seconds,
            "rounds": self.rounds,
            "chosen": self.chosen,
            "raters": [asdict(rater) for rater in self.raters],
        }


def summarise(statements: Statements) -> Summary:
    n, m = statements.n_objects, len(statements)
    covered, repeated, contradictory = _repeats(statements)
    appears, rounds = statements.appearances, statements.rounds
    possible = n_questions(statements.kind, n)
    return Summary(
        kind=statements.kind,
        statements=m,
        objects=n,
        triples_possible=possible,
        triples_covered=covered,
        coverage_percent=100.0 * m / possible if possible else 0.0,
        appearances_min=int(appears.min()) if n else 0,
        appearances_mean=float(appears.mean()) if n else 0.0,
        appearances_max=int(appears.max()) if n else 0,
        objects_never_seen=int((appears == 0).sum()),
        repeated_triples=repeated,
        contradictory_triples=contradictory,
        median_seconds=_median(statements.seconds),
        raters=_raters(statements),
        rounds=None if rounds is None else len(set(rounds.tolist()) - {""}),
        chosen=0 if statements.chosen is None else int(statements.chosen.sum()),
    )


def _repeats(statements: Statements) -> tuple[int, int, int]:
    """Different triples; of these, asked more than once; of these, answered differently."""
    key, answer, _ = question_keys(statements)
    # sorted together, equal questions lie side by side, and in them equal answers
    both = np.sort(key * 4 + answer)
    question = both >> 2
    starts = np.flatnonzero(np.diff(question, prepend=-1))
    changes = np.flatnonzero(np.diff(both, prepend=-1))
    size = np.diff(starts, append=len(both))
    answers = np.diff(np.searchsorted(changes, np.append(starts, len(both))))
    return len(starts), int((size > 1).sum()), int((answers > 1).sum())


def _raters(statements: Statements) -> tuple[RaterSummary, ...]:
    if statements.raters is None:
        return ()
    names, rater = np.unique(statements.raters, return_inverse=True)
    told = slice(None) if statements.chosen is None else ~statements.chosen
    agreed, asked = _agreed(statements.take(np.arange(len(rater))[told]), rater[told], len(names))
    size = np.bincount(rater, minlength=len(names))
    by_rater = np.argsort(rater, kind="stable")
    parts = np.split(by_rater, np.cumsum(size)[:-1])
    return tuple(
        RaterSummary(
            rater=str(names[i]),
            statements=int(size[i]),
            median_seconds=_median(
                None if statements.seconds is None else statements.seconds[parts[i]]
            ),
            agreement=float(agreed[i] / asked[i]) if asked[i] else None,
        )
        for i in sorted(range(len(names)), key=lambda i: natural(str(names[i])))
        if names[i] != ""
    )


def _agreed(statements: Statements, rater: AnyArray, n: int) -> tuple[AnyArray, AnyArray]:
    """Of n raters: the others' answers to the same questions, the equal ones and all."""
    question, answer, triple = questions(statements)
    votes = np.bincount(question * 3 + answer, minlength=3 * len(triple)).reshape(-1, 3)
    # votes of everybody else: all votes less the rater's own on the same question
    own, own_of = np.unique(rater * np.int64(len(votes) or 1) + question, return_inverse=True)
    own_votes = np.bincount(own_of * 3 + answer, minlength=3 * len(own)).reshape(-1, 3)[own_of]
    others = votes[question] - own_votes
    equal = np.bincount(rater, others[np.arange(len(answer)), answer], minlength=n)
    return equal, np.bincount(rater, others.sum(axis=1), minlength=n)


def copies(statements: Statements) -> int:
    """A number of which the times that every row occurs are multiples: 2 for a file read twice.

    >>> copies(Statements([[i, i + 1, i + 2] for i in range(30)] * 3, kind="central"))
    3
    """
    m = len(statements)
    if not 2 * _FEW_ROWS <= m <= _MOST_ROWS:
        return 1
    known = (statements.raters, statements.rounds, statements.seconds, statements.places)
    codes, times = np.zeros(m, dtype=np.int64), np.array([m])
    # rows that are equal in all columns are equal in the first ones: most often these tell
    for values in (*statements.triples.T, *(own for own in known if own is not None)):
        different, column = np.unique(values, return_inverse=True)
        _, codes, times = np.unique(
            codes * len(different) + column, return_inverse=True, return_counts=True
        )
        if np.gcd.reduce(times) < 2:
            return 1
    return int(np.gcd.reduce(times)) if len(times) >= _FEW_ROWS else 1


def _median(seconds: AnyArray | None) -> float | None:
    if seconds is None:
        return None
    known = seconds[~np.isnan(seconds)]
    # halved, because the two in the middle may add up to more than a number can hold
    return 2 * float(np.median(known / 2)) if len(known) else None
