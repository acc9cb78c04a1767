"""A survey like the paper's (Section 6.2): rounds, a test question, people who quit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from trilens._parameters import generator, real_number, whole_number, wrong
from trilens._typing import IntArray, RandomState
from trilens.errors import ParameterError, option
from trilens.kinds import Kind
from trilens.simulate.answers import (
    Ties,
    Truth,
    TruthLike,
    as_truth,
    check_answers,
    distorted,
    sides_of,
)
from trilens.simulate.raters import Raters, check_raters
from trilens.simulate.triples import n_questions, rank, sample_distinct, unrank
from trilens.statements import Statements
from trilens.statements.columns import as_list
from trilens.statements.value import CHOSEN_FIRST

#: Triples among which the clearest is looked for, where no test question is given.
_LOOKED_AT = 5000


@dataclass(frozen=True, eq=False)
class Survey:
    """The result of a simulated survey.

    Attributes
    ----------
    statements : Statements
        With raters, rounds, seconds and places; the answers of the rounds that count.
    test : tuple of int
        The test question, the right answer first; see `trilens.statements.passed_tests`.
    """

    statements: Statements
    test: tuple[int, int, int]


def ask_survey(
    objects: TruthLike,
    raters: Raters,
    n_rounds: int = 150,
    *,
    round_size: int = 50,
    least: int = 30,
    quitting: float = 0.003,
    test: Sequence[int] | None = None,
    test_within: int = 10,
    kind: Kind = "central",
    noise_param: float = 0.0,
    ties: Ties = "random",
    random_state: RandomState = 0,
    metric: str = "euclidean",
    names: Iterable[str] | None = None,
) -> Survey:
    """Rounds of questions as in the paper's survey of the cars.

    The triples that one person is shown are drawn uniformly without replacement; different
    people may be shown the same ones. The objects of a triple stand in random places. A test
    question, the same for all, comes at a random place among the first ten of each round. After
    each question a person may quit the round; rounds quit before 30 questions do not count.

    Parameters
    ----------
    objects, kind, noise_param, ties, metric, names
        As for `trilens.simulate.simulate_statements`; ``closer`` questions have no test.
    raters : Raters
        Take rounds in turn, in a new random order whenever all have had one.
    n_rounds : int
        Rounds that are begun.
    round_size, least : int
        Questions in a round, the test included, and how many a round needs to count.
    quitting : float
        The chance to quit after each question; 0.003 makes rounds as long as the paper's.
    test : three ids, optional
        Of the test question; by default the clearest of 5000 triples, in which the longest side
        exceeds the others by most (``odd``: the shortest falls below them by most).
    test_within : int
        The test comes among so many first questions; 0: there is none.

    Returns
    -------
    Survey

    Examples
    --------
    >>> from trilens.simulate import draw_raters, gaussian
    >>> people = draw_raters(40, random_state=1)
    >>> found = ask_survey(gaussian(60, random_state=0), people, 146, random_state=2)
    >>> found.statements
    Statements(6,779 statements about 60 objects, kind='central')
    >>> found.statements.summary().repeated_triples > 300
    True
    """
    check_answers(kind, ties, 0.0)
    check_raters(raters)
    n_rounds = whole_number("n_rounds", n_rounds)
    round_size = whole_number("round_size", round_size, 1)
    least = whole_number("least", least, 0, round_size)
    test_within = whole_number("test_within", test_within, 0, round_size)
    quitting = real_number("quitting", quitting, 0, 1)
    if kind == "closer" and test_within:
        raise ParameterError(
            f"closer questions have no test question; use {option('test_within', 0)}"
        )
    truth = as_truth(objects, metric)
    (rng,) = generator(random_state).spawn(1)
    total = n_questions(truth.n_objects, kind)
    if round_size - bool(test_within) > total:
        raise ParameterError(
            f"a round of {round_size} questions needs as many different ones, but "
            f"{truth.n_objects} objects have only {total}"
        )
    tested = _test_question(truth, test, kind, rng) if test_within else None
    if real_number("noise_param", noise_param, 0) > 0:
        truth = distorted(truth, noise_param, rng)
    person = raters.by_round(n_rounds, rng)
    questions = _rounds(person, round_size, total, tested, test_within, rng)
    # the number of questions until somebody quits, of those that there are
    length = np.minimum(rng.geometric(quitting, n_rounds) if quitting else round_size, round_size)
    length = np.broadcast_to(length, n_rounds)
    kept = (np.arange(round_size) < length[:, None]) & (length >= least)[:, None]
    at_round = np.nonzero(kept)[0]
    rater = person[at_round]
    triples, seconds = raters.answers(truth, questions[kept], rater, kind, ties, rng)
    # the chosen object stands in any of the three places
    places = rng.integers(3, size=len(triples))
    whole = np.flatnonzero(triples[:, 0] >= 0)
    statements = Statements(
        triples[whole],
        truth.n_objects,
        names,
        kind,
        rater[whole],
        at_round[whole],
        seconds[whole],
        places[whole],
    )
    return Survey(statements, (-1, -1, -1) if tested is None else tested[1])


def _rounds(
    person: IntArray,
    round_size: int,
    total: int,
    tested: tuple[int, tuple[int, int, int]] | None,
    test_within: int,
    rng: np.random.Generator,
) -> IntArray:
    """(rounds, questions): what each round asks."""
    questions = np.empty((len(person), round_size), dtype=np.int64)
    own = round_size - (tested is not None)
    for who in np.unique(person):
        mine = np.flatnonzero(person == who)
        # without replacement as long as there are questions left, then from the start again
        at_once = max(1, total // own)
        for first in range(0, len(mine), at_once):
            some = mine[first : first + at_once]
            drawn, place = sample_distinct(total, own * len(some), rng)
            order = np.empty_like(drawn)
            order[place] = drawn
            questions[some, :own] = order.reshape(len(some), own)
    if tested is not None:
        at = rng.integers(min(test_within, round_size), size=len(person))
        for r, place in enumerate(at.tolist()):
            questions[r, place + 1 :] = questions[r, place:own].copy()
            questions[r, place] = tested[0]
    return questions


def _test_question(
    truth: Truth, test: Sequence[int] | None, kind: Kind, rng: np.random.Generator
) -> tuple[int, tuple[int, int, int]]:
    """The number of the test question, and its objects with the right answer first."""
    n = truth.n_objects
    if test is None:
        total = n_questions(n)
        triples = unrank(sample_distinct(total, min(total, _LOOKED_AT), rng)[0], n)
        sides = np.sort(sides_of(truth, triples).astype(np.float64), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            clear = sides[:, 2] / sides[:, 1] if kind == "central" else sides[:, 1] / sides[:, 0]
        triple = triples[int(np.nan_to_num(clear, posinf=np.inf).argmax())]
    else:
        ids = [whole_number("test", i, 0, n - 1) for i in as_list(test, "test")]
        if len(set(ids)) != 3:
            raise wrong("test", test, "three different objects")
        triple = np.sort(np.array(ids, dtype=np.int32))
    sides = sides_of(truth, triple[None]).ravel()
    right = int(sides.argmax() if kind == "central" else sides.argmin())
    first, second, third = (int(i) for i in triple[CHOSEN_FIRST[right]])
    return int(rank(triple[None])[0]), (first, second, third)
