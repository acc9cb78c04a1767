"""How far answers agree: those of two raters, of one rater, and of two halves of all raters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._tabular import AsDict
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray
from trilens.calibration import RATER_SPREAD_LEVEL, SAYS_NOTHING
from trilens.kinds import answer_column, chance, n_answers, wrong_by_chance
from trilens.statements import Kind, Statements
from trilens.statements.combine import question_keys, questions

#: Of more answers, this many are used, evenly spaced through the file: more would change nothing.
_MOST_ANSWERS = 300_000
#: How many disagreements are listed, and from how many answers (of a pair: questions) on.
_MOST_LISTED, _LEAST_ANSWERS = 10, 3
_SPLITS = 100
#: With more cells (raters times objects) the answers are split instead of the raters.
_MOST_CELLS = 20_000_000
_FEWEST_OBJECTS = 4
#: Of more raters than these nobody's agreement depends much on any other.
_MOST_PARTNERS = 1000
#: More than this share of the answers, and than twice an equal share, is much for one rater.
_MUCH = 0.2


@dataclass(frozen=True)
class Agreement(AsDict):
    """The share of pairs of answers to the same question that agree.

    Attributes
    ----------
    share : float
        Each question counts once, however often it was asked.
    low, high : float
        The 95 % interval, for questions and raters like these.
    questions : int
        How many have such a pair.
    answers : int
        How many answers these questions have.
    raters : int or None
        How many gave them; None where raters are not known.
    """

    share: float
    low: float
    high: float
    questions: int
    answers: int
    raters: int | None

    @property
    def interval(self) -> tuple[float, float]:
        """``(low, high)``."""
        return self.low, self.high


@dataclass(frozen=True)
class Rate(AsDict):
    """A share of the answers with its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Repeats(AsDict):
    """What questions that were asked more than once say.

    Attributes
    ----------
    questions : int
        How many were answered by at least two raters (at least twice where raters are unknown).
    agreement : float
        How often two answers to the same question agree; each question counts once.
    error_rate : Rate
        The share of wrong answers that would make them agree this often if every question had
        a clear answer. Near ties count as errors here.
    """

    questions: int
    agreement: float
    error_rate: Rate


@dataclass(frozen=True)
class Disagreement(AsDict):
    """A question, or a pair of objects, about which raters disagree more than elsewhere.

    Attributes
    ----------
    objects : tuple of str
        Three for a question (``closer``: the anchor first), two for a pair.
    answers : int
        Answers to the question; for a pair, to the repeated questions that name both.
    agreement : float
        How often two answers agree; for a pair the mean over its questions.
    questions : int
        1, or how many questions the pair is in.
    beyond : float
        Standard errors below the mean agreement of all.
    """

    objects: tuple[str, ...]
    answers: int
    agreement: float
    questions: int
    beyond: float


@dataclass(frozen=True)
class SplitHalf(AsDict):
    """How well the depths from two halves of the answers agree.

    Attributes
    ----------
    reliability : float
        Pearson's correlation between the depths by counting in two halves, the mean over the
        splits; as it would be between two studies as large as this one (Spearman and Brown, 1910).
    low, high : float
        The middle 95 % of the splits, in the same terms: how much the choice of halves matters.
        It is not an interval for other raters or objects.
    splits : int
    unit : {"rater", "round", "answer"}
        What was divided into halves.
    """

    reliability: float
    low: float
    high: float
    splits: int
    unit: str


@dataclass(frozen=True, eq=False)
class Cells:
    """Answers counted by cell: one rater's answers to one question."""

    #: (c,): the question and the rater of each cell.
    question: IntArray
    rater: IntArray
    #: (c, 3): how often the rater gave each answer; (q, 3): how often anybody did.
    votes: FloatArray
    all_votes: FloatArray
    #: (q, 3): the objects of each question, see `questions`.
    triple: IntArray

    @property
    def between(self) -> tuple[FloatArray, FloatArray]:
        """Pairs of each cell's answers with those of others, and how many of them agree.

        Each pair is in two cells.
        """
        own, others = self.votes.sum(axis=1), self.all_votes[self.question] - self.votes
        total = self.all_votes.sum(axis=1)[self.question]
        return own * (total - own), (self.votes * others).sum(axis=1)

    @property
    def within(self) -> tuple[FloatArray, FloatArray]:
        """Pairs of answers inside each cell, and how many of them agree."""
        own = self.votes.sum(axis=1)
        return own * (own - 1) / 2, (self.votes * (self.votes - 1) / 2).sum(axis=1)

    def by_question(self, pairs: FloatArray, same: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Which questions have pairs, and the share of them that agree, of these questions."""
        n = len(self.all_votes)
        count = np.bincount(self.question, pairs, n)
        asked = count > 0
        return asked, np.bincount(self.question, same, n)[asked] / count[asked]

    def by_rater(
        self, pairs: FloatArray, same: FloatArray, n_raters: int
    ) -> tuple[FloatArray, IntArray]:
        """The mean share of agreeing pairs over each rater's questions, and how many those are.

        NaN for a rater without pairs.
        """
        known = pairs > 0
        count = np.bincount(self.rater[known], minlength=n_raters)
        sums = np.bincount(self.rater[known], same[known] / pairs[known], n_raters)
        return np.where(count > 0, sums / np.maximum(count, 1), np.nan), count


def cells_of(statements: Statements, who: AnyArray | None) -> Cells:
    """Count the answers; without raters every answer counts as somebody else's."""
    if len(statements) > _MOST_ANSWERS:
        rows = np.linspace(0, len(statements) - 1, _MOST_ANSWERS).astype(np.int64)
        statements, who = statements.take(rows), None if who is None else who[rows]
    question, answer, triple = questions(statements)
    m = len(statements)
    rater = np.arange(m) if who is None else np.unique(who, return_inverse=True)[1]
    n_raters = int(rater.max()) + 1 if m else 1
    cell, inside = np.unique(question * np.int64(n_raters) + rater, return_inverse=True)
    votes = np.bincount(inside * 3 + answer, minlength=3 * len(cell)).reshape(-1, 3)
    asked = np.bincount(question * 3 + answer, minlength=3 * len(triple)).reshape(-1, 3)
    return Cells(
        (cell // n_raters).astype(np.int64),
        (cell % n_raters).astype(np.int64),
        votes.astype(np.float64),
        asked.astype(np.float64),
        triple,
    )


def agreement_between(statements: Statements, who: AnyArray | None) -> Agreement | None:
    """How often answers of two raters to the same question agree; None where there are none.

    Where it is not known ``who`` gave each answer, all count as different raters'.

    Pairs of answers are compared, and never an answer with the majority, to which it belongs.
    The variance is that of the questions' shares, plus that of the raters: the spread of the
    raters' own agreement with others (`spread`), which counts the more, the more of the pairs
    are one rater's. The interval is on the scale of log odds, with Student's quantile
    (`freedom_of`).

    >>> S = Statements([[0, 1, 2], [0, 1, 2], [1, 0, 2], [3, 4, 5], [3, 4, 5]], kind="central")
    >>> found = agreement_between(S, np.array(["a", "b", "c", "a", "b"]))
    >>> round(found.share, 3), found.questions
    (0.667, 2)
    """
    cells = cells_of(statements, who)
    return _agreement(cells, *cells.between, cells_per_pair=2, known=who is not None)


def agreement_within(statements: Statements, who: AnyArray | None) -> Agreement | None:
    """How often two answers of one rater to the same question agree.

    None where raters are not known, or nobody was asked the same question twice.
    """
    if who is None:
        return None
    cells = cells_of(statements, who)
    return _agreement(cells, *cells.within, cells_per_pair=1, known=True)


def agreement_of(
    statements: Statements, counted: BoolArray | None = None
) -> tuple[Agreement | None, Agreement | None, str | None]:
    """How often two raters agree, and one with themselves; and why the first is not known.

    Questions that earlier answers chose are harder than others: they do not count. The answers that
    are ``counted``, by default all, are marked.
    """
    unit, who = raters_of(statements)
    only_one = False
    if unit != "round" and statements.raters is not None:
        who = each_its_own(statements.raters)
        only_one = len(np.unique(who)) < 2
    kept = statements.asked_at_random
    if len(kept) and not kept.any():
        return None, None, "all chosen"
    if counted is not None:
        kept = kept & counted
    if not kept.all():
        statements, who = statements.take(kept), None if who is None else who[kept]
    between = None if only_one else agreement_between(statements, who)
    within = agreement_within(statements, who)
    if between is not None:
        return between, within, None
    if only_one:
        return None, within, "one rater"
    why = "no repeated question" if within is None else "no shared question"
    return None, within, why


def raters_of(statements: Statements) -> tuple[str | None, AnyArray | None]:
    """Whose answers they are: ``rater`` or ``round`` with their names; None where one or none."""
    for unit, who in (("rater", statements.raters), ("round", statements.rounds)):
        if who is not None and len(np.unique(who)) > 1:
            return unit, who
    return None, None


def each_its_own(raters: AnyArray) -> AnyArray:
    """The raters, with a name of its own for each answer that has none.

    >>> each_its_own(np.array(["ann", "", "bob", ""])).tolist()
    ['ann', '\\x001', 'bob', '\\x003']
    """
    who = np.asarray(raters)
    nobody = np.flatnonzero(who == "" if who.dtype.kind in "UO" else np.zeros(0))
    if not len(nobody):
        return who
    named = who.astype(object)
    # no reader leaves this character in a rater's name
    named[nobody] = [f"\0{row}" for row in nobody]
    return named.astype(str)


def gave_much(share: float, raters: int) -> bool:
    """Whether a share of the answers is much for one of so many raters.

    >>> gave_much(0.3, 12), gave_much(0.3, 4), gave_much(0.15, 100)
    (True, False, False)
    """
    return share > max(_MUCH, 2 / raters)


def _agreement(
    cells: Cells, pairs: FloatArray, same: FloatArray, *, cells_per_pair: int, known: bool
) -> Agreement | None:
    asked, shares = cells.by_question(pairs, same)
    count = int(asked.sum())
    if count == 0:
        return None
    share = float(shares.mean())
    used = asked[cells.question] & (pairs > 0)
    names, rater = np.unique(cells.rater[used], return_inverse=True)
    n_raters = len(names)
    variance = float(((shares - share) ** 2).sum()) / count**2
    freedom = float(count - 1)
    if known and n_raters == 1 + (cells_per_pair == 2):
        freedom = min(freedom, 1.0)  # one rater, or one pair: nothing about others
    elif known:
        of_question = np.bincount(cells.question, pairs, len(asked)) / cells_per_pair
        question = cells.question[used]
        part = pairs[used] / of_question[question] / count
        pull = same[used] / of_question[question] / count - share * part
        weight = np.bincount(rater, part)
        own = np.bincount(rater, pull) / weight
        noise = float((pull**2).sum() / (part**2).sum())
        beyond = spread(own, weight**2 / np.bincount(rater, part**2), noise)
        if cells_per_pair == 2:
            beyond /= _own_part(
                question, rater, cells.votes[used].sum(axis=1), of_question, n_raters
            )
        by_rater = beyond * float((weight**2).sum())
        by_question, variance = variance, variance + by_rater
        freedom = freedom_of(by_rater, n_raters - 1, by_question, max(count - 1, 1))
    votes = cells.all_votes[asked] if cells_per_pair == 2 else cells.votes[used]
    answers = int(votes.sum())
    low, high = share_interval(share, variance, freedom, count, answers)
    return Agreement(share, low, high, count, answers, n_raters if known else None)


def _own_part(
    question: IntArray, rater: IntArray, own: FloatArray, of_question: FloatArray, n: int
) -> float:
    """How much of the raters' spread their agreement with each other shows.

    A rater's agreement with others is theirs and that of the others: the more they have the same
    partners, the more alike they are.
    """
    from scipy.sparse import csr_array

    if n > _MOST_PARTNERS:
        return 1.0
    asked: Any = csr_array((own, (rater, question)), shape=(n, len(of_question)))
    each: Any = csr_array((own / of_question[question], (rater, question)), shape=asked.shape)
    pairs = (each @ asked.T).tocoo()
    one, other, both = pairs.row, pairs.col, np.where(pairs.row == pairs.col, 0.0, pairs.data)
    both /= np.bincount(one, both, n)[one]
    whole = n + float((both**2).sum())
    common = float(((1 + np.bincount(other, both, n)) ** 2).sum()) / n
    return max(whole - common, 0.25) / (n - 1)


def spread(own: FloatArray, count: FloatArray, inside: float) -> float:
    """The variance of the raters' true levels, as large as three in four studies would show.

    ``own`` are the means of the raters' values, (r,), ``count`` how many these are, and ``inside``
    is their variance within a rater. It is where the squared deviations, each by its variance, add
    up to the lower quartile of their distribution (Paule and Mandel, 1982, take its mean).

    >>> spread(np.array([0.5, 0.52, 0.49]), np.full(3, 100.0), 0.25)
    0.0
    >>> round(spread(np.array([0.2, 0.5, 0.8]), np.full(3, 100.0), 0.25), 3)
    0.31
    """
    from scipy.optimize import brentq
    from scipy.special import chdtri

    inside = max(inside, 1e-12)
    expected = float(chdtri(len(own) - 1, RATER_SPREAD_LEVEL))

    def excess(variance: float) -> float:
        weight = 1 / (variance + inside / count)
        off = own - weight @ own / weight.sum()
        return float(weight @ off**2) - expected

    if excess(0.0) <= 0:
        return 0.0
    most = float(((own - own.mean()) ** 2).sum()) / expected
    return float(brentq(excess, 0.0, 2 * most + 1e-12))


def freedom_of(one: float, of_one: float, other: float, of_other: float) -> float:
    """Degrees of freedom of the sum of two variances, each with its own.

    Such that the square of the 97.5 % quantile times the sum is the sum of the same of both
    (Graybill and Wang, 1980). Satterthwaite's are more where the variance of few happens to
    look small.

    >>> round(freedom_of(1.0, 4, 0.0, 99)), round(freedom_of(1.0, 4, 1.0, 99))
    (4, 6)
    """
    from scipy.special import stdtridf, stdtrit

    if one + other <= 0:
        return min(of_one, of_other)
    t = stdtrit([of_one, of_other], 0.975)
    return float(stdtridf(0.975, np.sqrt(t**2 @ [one, other] / (one + other))))


def share_interval(
    share: float, variance: float, freedom: float, count: int, answers: int = 0
) -> tuple[float, float]:
    """A 95 % interval of a share, on the scale of log odds.

    It lies between 0 and 1, also where all agree: then as if half an answer of them did not.
    Questions that happen to have the same share do not make it certain: it varies at least as
    that of half as many pairs as ``answers`` would.
    """
    from scipy.special import expit, logit, stdtrit

    inside = min(max(share, 0.5 / (count + 1)), 1 - 0.5 / (count + 1))
    least = inside * (1 - inside) / count if inside != share else 0.0
    if answers:
        least = max(least, inside * (1 - inside) / max(answers / 2, count))
    error = np.sqrt(max(variance, least)) / (inside * (1 - inside))
    reach = stdtrit(max(freedom, 1), 0.975) * error
    low, high = expit(logit(inside) - reach), expit(logit(inside) + reach)
    return float(min(low, share)), float(max(high, share))


def repeats_of(found: Agreement | None, kind: Kind) -> Repeats | None:
    """What the agreement of two raters says about errors; None where it is not known."""
    if found is None:
        return None
    ends = (found.share, found.high, found.low)
    rate = Rate(*(_wrong_if_agreeing(share, kind) for share in ends))
    return Repeats(found.questions, found.share, rate)


def _wrong_if_agreeing(agreement: float, kind: Kind) -> float:
    """The error rate at which two answers agree this often: two guesses do by chance."""
    by_chance = chance(kind)
    attentive = np.sqrt(max((agreement - by_chance) / (1 - by_chance), 0.0))
    return float(wrong_by_chance(kind) * (1 - attentive))


def reachable(agreement: float, kind: Kind, chances: FloatArray | None = None) -> float:
    """The share of single answers that the best possible model predicts.

    Two raters agree less often than a rater agrees with the answer that most would give: if
    10 % of the answers are wrong, a perfect model predicts 90 % of them, but two of them agree
    in 81.5 % of the cases. What lies between depends on how similar the questions are. Given
    the probabilities of a model, these are raised to the power that makes two answers agree as
    often as they do, and the mean of the largest is taken. Without them, all questions count as
    equally hard, and their wrong answers as equally frequent; that is the highest value possible.

    ``agreement`` is how often two raters agree; ``chances``, (q, 3) or for ``closer`` (q, 2), are
    the probabilities of the answers to each question, by a model.

    >>> round(reachable(0.815, "central"), 3)
    0.9
    >>> clear, open_ = [0.98, 0.01, 0.01], [0.4, 0.3, 0.3]
    >>> round(reachable(0.65, "central", np.array([clear, open_])), 3)
    0.69
    """
    from scipy.optimize import brentq

    c = n_answers(kind)
    if agreement <= 1 / c:
        return 1 / c
    if chances is None or not len(chances):
        return float((1 + np.sqrt((c - 1) * (c * agreement - 1))) / c)

    def beyond(log_power: float) -> float:
        both = to_power(chances, np.exp(log_power)) ** 2
        return float(both.sum(axis=1).mean()) - agreement

    low, high = -6.0, 6.0
    if beyond(low) >= 0:
        at = low
    else:
        at = high if beyond(high) <= 0 else brentq(beyond, low, high, xtol=1e-9)
    return float(to_power(chances, np.exp(at)).max(axis=1).mean())


def reachable_share(
    between: Agreement | None,
    statements: Statements,
    chances_of: Callable[[Statements], FloatArray] | None,
) -> tuple[float | None, tuple[float, float] | None]:
    """What the best model could predict, with its interval; None where that would say nothing.

    ``chances_of`` gives the probabilities of a model, see `reachable`; it looks at each question
    once.
    """
    if between is None:
        return None, None
    chances = None
    if chances_of is not None:
        first = np.unique(question_keys(statements)[0], return_index=True)[1]
        chances = chances_of(statements.take(first))
    best, low, high = (
        reachable(share, statements.kind, chances)
        for share in (between.share, between.low, between.high)
    )
    if high - low >= SAYS_NOTHING * (1 - chance(statements.kind)):
        return None, None
    return best, (low, high)


def to_power(chances: FloatArray, power: float) -> FloatArray:
    """Probabilities whose odds are taken to a power; they add up to 1 along the second axis.

    >>> to_power(np.array([[0.8, 0.2]]), 2.0).round(2).tolist()
    [[0.94, 0.06]]
    """
    u = power * np.log(np.maximum(chances, 1e-12))
    u = np.exp(u - u.max(axis=1, keepdims=True))
    return np.asarray(u / u.sum(axis=1, keepdims=True))


def disagreements(
    statements: Statements, who: AnyArray | None
) -> tuple[tuple[Disagreement, ...], tuple[Disagreement, ...]]:
    """The questions and the pairs with the least agreement, beyond what chance would show.

    They are ordered by how many standard errors they lie below the mean, so that a question
    with two different answers does not come before one that divides many people.

    >>> split = [[0, 1, 2]] * 10 + [[1, 0, 2]] * 10
    >>> S = Statements(split + [[3, 4, 5]] * 20, names=list("abcdef"), kind="central")
    >>> questions, pairs = disagreements(S, None)
    >>> questions[0].objects, round(questions[0].agreement, 2)
    (('a', 'b', 'c'), 0.47)
    """
    cells = cells_of(statements, who)
    asked, share = cells.by_question(*cells.between)
    if not asked.any():
        return (), ()
    count, triple = cells.all_votes.sum(axis=1)[asked], cells.triple[asked]
    mean = float(share.mean())
    # pairs of the same answers hang together: as many independent ones as answers less one
    error = np.sqrt(np.maximum(mean * (1 - mean), 0.01) / np.maximum(count - 1, 1))
    beyond = (mean - share) / error
    names = statements.names
    questions = tuple(
        Disagreement(
            tuple(names[i] for i in triple[q]), int(count[q]), float(share[q]), 1, float(beyond[q])
        )
        for q in _first(beyond, count)
    )
    return questions, _of_pairs(statements, triple, share, count, mean)


def _of_pairs(
    statements: Statements, triple: AnyArray, share: FloatArray, count: FloatArray, mean: float
) -> tuple[Disagreement, ...]:
    n = statements.n_objects
    sides = [(0, 1), (0, 2)] if statements.kind == "closer" else [(0, 1), (0, 2), (1, 2)]
    low = np.concatenate([np.minimum(triple[:, i], triple[:, j]) for i, j in sides])
    high = np.concatenate([np.maximum(triple[:, i], triple[:, j]) for i, j in sides])
    codes, pair = np.unique(low * np.int64(n) + high, return_inverse=True)
    size = np.bincount(pair)
    sums = np.bincount(pair, np.tile(share, len(sides)))
    answers = np.bincount(pair, np.tile(count, len(sides)))
    spread = max(float(share.std()), 0.05)
    beyond = (mean - sums / size) * np.sqrt(size) / spread
    names = statements.names
    return tuple(
        Disagreement(
            (names[int(codes[k] // n)], names[int(codes[k] % n)]),
            int(answers[k]),
            float(sums[k] / size[k]),
            int(size[k]),
            float(beyond[k]),
        )
        for k in _first(beyond, size)
    )


def _first(beyond: FloatArray, enough: AnyArray) -> list[int]:
    order = np.argsort(-beyond, kind="stable")
    return [int(k) for k in order if beyond[k] > 0 and enough[k] >= _LEAST_ANSWERS][:_MOST_LISTED]


def split_half(
    statements: Statements, unit: str | None, who: AnyArray | None, seed: int = 0
) -> SplitHalf | None:
    """Divide the raters at random, or the answers where raters are not known.

    None where there are fewer than four objects, or a half has no answers about them.

    >>> from trilens.simulate import study
    >>> S = study(n_statements=4000).statements
    >>> found = split_half(S, "rater", S.raters)
    >>> found.unit, 0.8 < found.reliability < 1
    ('rater', True)
    """
    kept = statements.asked_at_random  # depths are counted of these
    if not kept.all():
        statements, who = statements.take(kept), None if who is None else who[kept]
    n, m = statements.n_objects, len(statements)
    if n < _FEWEST_OBJECTS or m < 2:
        return None
    rng = np.random.default_rng([seed, 3])
    numbers = None if who is None else np.unique(who, return_inverse=True)[1]
    units = 0 if numbers is None else int(numbers.max()) + 1
    if numbers is None or units < 2 or units * n > _MOST_CELLS:
        numbers, units, unit = rng.permutation(m) % min(m, 200), min(m, 200), "answer"
    ids = statements.triples[:, answer_column(statements.kind) :].astype(np.int64)
    cells = (numbers[:, None] * np.int64(n) + ids).ravel()
    trials = np.bincount(cells, minlength=units * n).reshape(units, n).astype(np.float64)
    hits = np.bincount(numbers * np.int64(n) + ids[:, 0], minlength=units * n)
    won = hits.reshape(units, n).astype(np.float64)
    correlations = []
    for _ in range(_SPLITS):
        half = rng.permutation(units) < units // 2
        asked = [trials[part].sum(axis=0) for part in (half, ~half)]
        known = (asked[0] > 0) & (asked[1] > 0)
        one, two = (
            won[part].sum(axis=0)[known] / times[known]
            for part, times in zip((half, ~half), asked, strict=True)
        )
        if known.sum() >= _FEWEST_OBJECTS and one.std() > 0 and two.std() > 0:
            correlations.append(float(np.corrcoef(one, two)[0, 1]))
    if not correlations:
        return None
    ends = np.quantile(correlations, [0.025, 0.975]).tolist()
    mean, low, high = (_of_whole(each) for each in (float(np.mean(correlations)), *ends))
    return SplitHalf(mean, low, high, len(correlations), unit or "rater")


def _of_whole(correlation: float) -> float:
    """Spearman and Brown's formula; a negative correlation stays as it is."""
    return 2 * correlation / (1 + correlation) if correlation > 0 else correlation
