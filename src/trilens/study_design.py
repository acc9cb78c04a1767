"""Who was asked what: the design of a study, and what counting may say under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens import words
from trilens._tabular import AsDict, natural
from trilens._typing import BoolArray, IntArray
from trilens.answers import Answers, read_or_count
from trilens.counts.central import is_path
from trilens.kinds import answer_column
from trilens.lens import laplacian_eigenvectors
from trilens.statements import Statements, as_statements
from trilens.statements.combine import questions

#: A rater with a larger share of the answers is named.
LARGE_SHARE = 0.2
#: Fewer raters always have large shares.
_FEW_RATERS = 3
#: The share of all questions that raters answer on average, from which on all have one list.
_SAME = 0.8
#: Of as many random questions so many would be different; with a smaller share of that they
#: are few.
_FEW_QUESTIONS = 0.7
#: How unlikely by chance something is that is said of a design (in standard errors), and how much
#: frequencies of objects (their spread by their mean) and pairs (squared) must differ to matter.
_BEYOND_CHANCE, _UNEVEN, _PAIRED = 4.5, 0.3, 0.35
#: Objects are landmarks if nearly every question has one of them, and they are asked about so
#: many times as often as the median object.
_IN_NEARLY_ALL, _MORE_OFTEN = 0.9, 3.0
#: Parts are weakly linked if a walk along the questions hardly leaves them.
_STAYS = 0.75
#: Of more objects than these at most so many parts are told.
_FEW_OBJECTS, _MOST_PARTS = 500, 12
#: Answers from which on the order may tell that questions were chosen by earlier answers.
_ENOUGH_TO_FOLLOW, _FOLLOWS = 200, 0.1


@dataclass(frozen=True)
class Design(AsDict):
    """What was asked of whom.

    Attributes
    ----------
    objects, answers, questions : int
        Objects that were asked about, answers, and different questions.
    per_question : float
        Answers to each question.
    few_questions : bool
        Whether far fewer different questions were asked than as many random ones would be.
    one_list : bool
        Whether all raters answered the same questions.
    unevenness : float
        How much more than by chance some objects are asked about than others: the standard
        deviation of their frequencies by the mean.
    pairing : float
        How much more than by chance some objects are asked about together; 0 for random triples.
    blocks : int
        Parts of the objects that few questions link; 1 where there are none.
    landmarks : tuple of str
        Objects of which nearly every question has one.
    adaptive : bool
        Whether questions seem to follow from earlier answers: objects that were singled out more
        often in the first half are asked about more, or less, often in the second.
    raters : int
        0 where they are not known.
    largest_rater : str or None
        Who gave the most answers.
    largest_share : float
        Their share.
    chosen : int
        Answers to questions that are known to be chosen by earlier answers.
    """

    objects: int
    answers: int
    questions: int
    per_question: float
    few_questions: bool
    one_list: bool
    unevenness: float
    pairing: float
    blocks: int
    landmarks: tuple[str, ...]
    adaptive: bool
    raters: int
    largest_rater: str | None
    largest_share: float
    chosen: int = 0

    @property
    def counts_hold(self) -> bool:
        """Whether shares of the answers speak for all questions, as they do for random ones."""
        return not (
            self.few_questions
            or self.uneven
            or self.blocks > 1
            or self.landmarks
            or self.adaptive
            or self.paired
        )

    @property
    def uneven(self) -> bool:
        """Whether some objects are asked about so much more often that it matters."""
        return self.unevenness > _UNEVEN

    @property
    def paired(self) -> bool:
        """Whether some objects are asked about together so much more often that it matters."""
        return self.pairing > _PAIRED

    @property
    def one_rater_leads(self) -> bool:
        """Whether one of three raters or more gives more than a fifth, far more than others."""
        return self.raters >= _FEW_RATERS and self.largest_share > max(
            LARGE_SHARE, 1.5 / self.raters
        )

    @property
    def why(self) -> tuple[str, ...]:
        """What of the design keeps counts from speaking for all questions; empty if nothing."""
        return tuple(words.why_counts_fail(self))

    def sentences(self) -> tuple[str, ...]:
        """What was asked, and what the counts may say, in plain English."""
        return tuple(words.about_design(self))

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        more = {"why": list(self.why), "sentences": list(self.sentences())}
        return super().to_dict() | {"counts_hold": self.counts_hold} | more


def about_chosen(answers: Any) -> list[str]:
    """That questions were chosen by earlier answers, and how many are counted; empty if not.

    >>> chosen = [True, False, False]
    >>> S = Statements([[0, 1, 2], [1, 0, 2], [2, 0, 1]], chosen=chosen, kind="central")
    >>> about_chosen(S)[0]
    '1 of 3 questions were chosen by earlier answers (depths by counting use the other 2; \
agreement and ceilings leave them out too)'
    """
    given = read_or_count(answers, enough=True) if isinstance(answers, Answers) else answers
    if not isinstance(given, Statements) or given.chosen is None:
        return []
    return [words.chosen_questions(int(given.chosen.sum()), len(given))]


def design(answers: Any, *, in_time: bool = True) -> Design:
    """Look at the design of a study: what was asked of whom.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
    in_time : bool
        Whether the answers are in the order in which they were given, which tells whether later
        questions follow from earlier answers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> asked = np.array([rng.choice(20, 3, replace=False) for _ in range(400)])
    >>> found = design(asked)
    >>> found.counts_hold, found.blocks, found.landmarks
    (True, 1, ())
    >>> listed = design(
    ...     Statements(np.tile(asked[:50], (8, 1)), raters=np.arange(400) // 50, kind="central")
    ... )
    >>> listed.one_list, listed.counts_hold
    (True, False)
    """
    own = getattr(answers, "design", None)
    if isinstance(own, Design):
        return own
    # of an array only the questions matter, which are the same for every kind
    given = as_statements(Answers(answers) if is_path(answers) else answers, "central")
    m, n = len(given), given.n_objects
    if m == 0:
        return Design(0, 0, 0, 0.0, False, False, 0.0, 0.0, 1, (), False, 0, None, 0.0)
    question, _, asked = questions(given)
    seen = np.bincount(asked.ravel(), minlength=n)
    objects = int((seen > 0).sum())
    raters, same, leader, share = _of_raters(given, question, len(asked))
    unevenness = _unevenness(seen[seen > 0], len(asked))
    pairing = _pairing(asked, seen, n, objects)
    landmarks = _landmarks(asked, seen)
    parts = 1
    if pairing > _PAIRED and not landmarks.any():
        parts = _weakly_linked(asked, n)
    return Design(
        objects=objects,
        answers=m,
        questions=len(asked),
        per_question=m / len(asked),
        few_questions=_are_few(len(asked), m, objects, given.kind == "closer"),
        one_list=same,
        unevenness=unevenness,
        pairing=pairing,
        blocks=parts,
        landmarks=tuple(given.names[i] for i in np.flatnonzero(landmarks)),
        adaptive=given.chosen is not None or (in_time and _follows(given)),
        raters=raters,
        largest_rater=leader,
        largest_share=share,
        chosen=0 if given.chosen is None else int(given.chosen.sum()),
    )


def _are_few(questions: int, answers: int, objects: int, closer: bool) -> bool:
    """Whether random questions, as many as there are answers, would differ far more often."""
    possible = objects * (objects - 1) * (objects - 2) / (2 if closer else 6)
    if possible < 1:
        return False
    expected = -possible * np.expm1(-answers / possible)
    return bool(questions < _FEW_QUESTIONS * expected)


def _of_raters(
    given: Statements, question: IntArray, questions: int
) -> tuple[int, bool, str | None, float]:
    """Raters, whether all have the same list, who gave the most answers, and their share."""
    if given.raters is None:
        return 0, False, None, 0.0
    names, rater, count = np.unique(given.raters, return_inverse=True, return_counts=True)
    if len(names) < 2:
        return len(names), False, str(names[0]), 1.0
    asked = len(np.unique(rater.astype(np.int64) * questions + question))
    # of several with as many answers the first by name, whether names are read as text or numbers
    leader = min(map(str, names[count == count.max()].tolist()), key=natural)
    same = asked >= _SAME * len(names) * questions
    return len(names), same, leader, float(count.max() / count.sum())


def _unevenness(seen: IntArray, questions: int) -> float:
    """By how much frequencies differ more than by chance, where that is clear."""
    n = len(seen)
    if n < 4:
        return 0.0
    mean = seen.mean()
    by_chance = mean * (1 - 3 / n)
    ratio = ((seen - mean) ** 2).sum() / by_chance
    if ratio < n - 1 + _BEYOND_CHANCE * np.sqrt(2.0 * n):
        return 0.0
    return float(np.sqrt(max(seen.var() - by_chance, 0.0)) / mean)


def _pairing(asked: IntArray, seen: IntArray, n: int, objects: int) -> float:
    """How uneven the frequencies of pairs are beyond those of their objects and chance."""
    a, b, c = asked.T
    codes = np.concatenate(
        [np.minimum(i, j) * n + np.maximum(i, j) for i, j in ((a, b), (a, c), (b, c))]
    )
    pair, times = np.unique(codes, return_counts=True)
    mentions, pairs = len(codes), objects * (objects - 1) / 2
    share = seen / seen.sum()
    # as many pairs of different objects as there are, drawn by their frequencies
    chance = 2 * share[pair // n] * share[pair % n] / (1 - (share**2).sum())
    expected = mentions * chance
    ratio = float((times**2 / expected).sum()) - mentions
    error = np.sqrt(2.0 * pairs + float((1 / expected).sum()))
    if ratio < pairs + _BEYOND_CHANCE * error:
        return 0.0
    return float((ratio - pairs) / mentions)


def _landmarks(asked: IntArray, seen: IntArray) -> BoolArray:
    """The objects asked about far more often, if nearly every question has one of them."""
    often: BoolArray = seen > _MORE_OFTEN * max(float(np.median(seen[seen > 0])), 1.0)
    inside = often[asked].any(axis=1).mean() if often.any() else 0.0
    if inside < _IN_NEARLY_ALL or often.sum() > len(seen) / 3:
        return np.zeros(len(seen), dtype=bool)
    return often


def _weakly_linked(asked: IntArray, n: int) -> int:
    """Parts that a walk along the questions hardly leaves: the large eigenvalues of its steps."""
    from scipy.sparse import coo_array

    a, b, c = asked.T
    ends = np.concatenate([a, b, a, c, b, c]), np.concatenate([b, a, c, a, c, b])
    graph = coo_array((np.ones(len(ends[0])), ends), shape=(n, n)).tocsr()
    asked_about = np.unique(asked)
    graph = graph[asked_about][:, asked_about]
    few = len(asked_about) <= _FEW_OBJECTS
    values, _ = laplacian_eigenvectors(graph, len(asked_about) if few else _MOST_PARTS)
    return max(int((1 - values > _STAYS).sum()), 1)


def _follows(given: Statements) -> bool:
    """Whether objects singled out in the first half are asked about more, or less, thereafter."""
    m, n = len(given), given.n_objects
    if m < _ENOUGH_TO_FOLLOW or n < 6:
        return False
    late = np.arange(m) >= m // 2
    if given.raters is not None:
        # each rater's own first and second half
        _, rater, count = np.unique(given.raters, return_inverse=True, return_counts=True)
        order = np.argsort(rater, kind="stable")
        place = np.empty(m, dtype=np.int64)
        place[order] = np.arange(m) - np.repeat(np.cumsum(count) - count, count)
        late = 2 * place >= count[rater]
    first = answer_column(given.kind)
    early = given.triples[~late]
    trials = np.bincount(early[:, first:].ravel(), minlength=n).astype(np.float64)
    hits = np.bincount(early[:, first], minlength=n).astype(np.float64)
    before = np.bincount(early.ravel(), minlength=n).astype(np.float64)
    after = np.bincount(given.triples[late].ravel(), minlength=n).astype(np.float64)
    known = (trials >= 5) & (before + after >= 10)
    if known.sum() < 6:
        return False
    share = hits[known] / trials[known]
    expected = (before + after)[known] * after.sum() / (before.sum() + after.sum())
    change = (after[known] - expected) / np.sqrt(expected)
    if change.std() == 0 or share.std() == 0:
        return False
    r = float(np.corrcoef(share, change)[0, 1])
    moved = float(np.sqrt(np.mean((change**2) / expected)))
    # of n independent pairs r has a standard error of 1 / sqrt(n - 1)
    error = 1 / np.sqrt(known.sum() - 1)
    strong = np.arctanh(min(abs(r), 0.999)) > _BEYOND_CHANCE * error * 0.9
    return bool(strong and moved > _FOLLOWS)
