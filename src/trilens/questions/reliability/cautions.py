"""What the answers cannot support, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray, IntArray
from trilens.agreement import AsDict, Rate, Repeats, gave_much
from trilens.design import Design
from trilens.kinds import KINDS, Kind
from trilens.questions.reliability.raters import RaterCheck
from trilens.statements import Statements
from trilens.statements.reading import Reading
from trilens.statements.table import POOLED

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
class Caution(AsDict):
    """One thing that the answers cannot support.

    Attributes
    ----------
    code : str
        ``no-statements``, ``kind``, ``unseen``, ``rare``, ``apart``, ``copies``, ``noise``,
        ``wrong``, ``guessing``, ``differs``, ``inverted``, ``unclear``, ``most-guess``,
        ``same-place``, ``one-rater``, ``pooled``, ``contradictions``, ``design`` or ``counted``.
    what, therefore, remedy : str
        What was seen, what cannot be concluded, what to do.
    names : tuple of str
        The objects or raters it is about.
    """

    code: str
    what: str
    therefore: str
    remedy: str
    names: tuple[str, ...] = ()


NO_STATEMENTS = Caution(
    "no-statements",
    "There are no answers.",
    "Nothing can be concluded.",
    "Check the file, or collect answers.",
)
NOT_HELD = Caution(
    "counted",
    "The files are too large to hold in memory, so the answers were counted as they were read.",
    "Single raters, repeated questions, response times and whether all objects are connected were "
    "not checked. Counted intervals treat the answers as independent.",
    "For these, analyse a random sample of the answers that fits into memory.",
)


def about_kind(kind: Kind, fits: Kind | None = None, doubt: str = "") -> list[Caution]:
    """That nobody told which question was asked, and whether the answers fit another one.

    >>> about_kind("central", "odd", "A map says so")[0].remedy
    'Give the kind that was asked: --kind odd, or --kind central (in Python: kind=).'
    """
    what = f"Which question was asked is not told; kind {kind} is assumed."
    other = " or ".join(f"--kind {each}" for each in KINDS if each != kind)
    if fits is not None:
        what = f"{what[:-1]}, but the answers fit kind {fits}. {doubt}."
        other, kind = f"--kind {kind}", fits
    return [
        Caution(
            "kind",
            what,
            "If another question was asked, every finding below is wrong.",
            f"Give the kind that was asked: --kind {kind}, or {other} (in Python: kind=).",
        )
    ]


def about_reading(reading: Reading | None) -> list[Caution]:
    """What only those can decide who know the study, as reading the file has named it."""
    found = () if reading is None else reading.concerns
    return [Caution(each.code, each.what, each.therefore, each.remedy) for each in found]


def about_conditions(notes: Sequence[str]) -> list[Caution]:
    """That a survey's conditions are taken together, as its reading has noted."""
    told = next((note for note in notes if POOLED in note), None)
    if told is None:
        return []
    what, _, remedy = told.partition("; ")
    return [
        Caution(
            "pooled",
            f"{what[:1].upper()}{what[1:]}.",
            "What differs between them is averaged in the findings.",
            f"{remedy[:1].upper()}{remedy[1:]}. To compare them: --by condition.",
        )
    ]


def about_appearances(of: Sequence[str], appears: IntArray) -> list[Caution]:
    """Objects that appear in few answers, or in none."""
    names = np.array(of, dtype=object)
    unseen = names[appears == 0].tolist()
    rare = names[(appears > 0) & (appears < FEW_APPEARANCES)].tolist()
    found = []
    if unseen:
        verb = "does" if len(unseen) == 1 else "do"
        found.append(
            Caution(
                "unseen",
                f"{counted(len(unseen), 'object')} {verb} not appear in any answer.",
                "Nothing is known about them: their depth counts as 0, and their position on the "
                "map means nothing.",
                "Ask about them, or remove them from the list of objects.",
                tuple(unseen),
            )
        )
    if rare:
        verb = "appears" if len(rare) == 1 else "appear"
        found.append(
            Caution(
                "rare",
                f"{counted(len(rare), 'object')} {verb} in fewer than {FEW_APPEARANCES} answers.",
                "Their depths are uncertain by more than 0.2 either way, so it is known only "
                "roughly how central each of them is; intervals and lists of candidates allow for "
                "that.",
                f"Collect answers until each appears in at least {FEW_APPEARANCES}; a hundred "
                "bring the uncertainty down to 0.1.",
                tuple(rare),
            )
        )
    return found


def about_parts(statements: Statements, parts: IntArray) -> list[Caution]:
    """Objects that cannot be compared, not even through others."""
    seen = statements.appearances > 0
    different = np.unique(parts[seen])
    if len(different) < 2:
        return []
    outside = np.flatnonzero(seen & (parts != different[0]))
    return [
        Caution(
            "apart",
            f"The objects fall into {len(different)} parts that no answer connects.",
            "Objects in different parts cannot be compared: depths, map and groups mix unrelated "
            "scales.",
            "Ask questions that mix the parts, or analyse each part by itself.",
            tuple(statements.names[i] for i in outside),
        )
    ]


def about_duplicates(statements: Statements) -> list[Caution]:
    """Whether every row occurs equally often: the same file more than once.

    >>> S = Statements([[i, i + 1, i + 2] for i in range(30)] * 3)
    >>> [caution.what for caution in about_duplicates(S)]
    ['Every row occurs in the data a multiple of 3 times.']
    """
    m = len(statements)
    if not 2 * _FEW_ROWS <= m <= _MOST_ROWS:
        return []
    known = (statements.raters, statements.rounds, statements.seconds, statements.places)
    codes, times = np.zeros(m, dtype=np.int64), np.array([m])
    # rows that are equal in all columns are equal in the first ones: most often these tell
    for values in (*statements.triples.T, *(own for own in known if own is not None)):
        different, column = np.unique(values, return_inverse=True)
        _, codes, times = np.unique(
            codes * len(different) + column, return_inverse=True, return_counts=True
        )
        if np.gcd.reduce(times) < 2:
            return []
    if len(times) < _FEW_ROWS:
        return []
    return [
        Caution(
            "copies",
            f"Every row occurs in the data a multiple of {int(np.gcd.reduce(times))} times.",
            "If the same answers are included more than once, everything looks more certain than "
            "it is: intervals are too narrow, and people seem to agree with themselves.",
            "Check whether a file was read twice, and include each answer once.",
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
            f"A map of some answers predicts {hits / m:.0%} of the others; guessing would reach "
            f"{chance:.0%}.",
            "As a whole, the answers cannot be told from guesses, or there are too few of them.",
            "Collect more answers, and check that the question was understood.",
        )
    ]


def about_design(asked: Design) -> list[Caution]:
    """Questions that were not drawn at random."""
    if asked.counts_hold:
        return []
    return [
        Caution(
            "design",
            f"The questions were not drawn at random: {'; '.join(asked.why)}.",
            "Shares of the answers speak for these questions only; what is said about all "
            "questions rests on the choice model.",
            "Ask random triples of objects, different ones of each rater.",
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
            "Look at who answered, and rely on results that come with an interval.",
        )
    ]


def about_raters(
    checks: Sequence[RaterCheck], share: float, unit: str, *, noise: bool
) -> list[Caution]:
    """Who is careless, who sees it differently, and whether most raters are careless.

    Parameters
    ----------
    share
        Of careless raters, including those who cannot be named.
    noise
        Whether the answers as a whole cannot be told from guesses.
    """
    careless = tuple(check.rater for check in checks if check.guessing)
    one_place = tuple(check.rater for check in checks if check.one_place)
    found = []
    if share >= 0.5 or 2 * len(careless) >= len(checks):
        most = max(share, len(careless) / len(checks))
        found.append(
            Caution(
                "most-guess",
                f"About {most:.0%} of the {unit}s seem careless: their answers look like guesses.",
                "Perhaps all of them are: no answers could be predicted from the others."
                if noise
                else f"The findings rest on the other {unit}s alone, and some careless ones may "
                "still be among them.",
                f"Find out how the {unit}s were recruited; exclude the careless ones, and ask "
                "others.",
            )
        )
    if careless:
        found.append(
            Caution(
                "guessing",
                f"The answers of {counted(len(careless), unit)} fit those of the others no better "
                "than guesses, and do not go together with each other either.",
                "They blur every result.",
                f"Look at {_these(careless, unit)}, and run the analysis again without them.",
                careless,
            )
        )
    found += _about_misfits(checks, unit)
    if one_place:
        found.append(
            Caution(
                "same-place",
                f"{counted(len(one_place), unit)} mostly chose the same place on the screen.",
                "Such answers do not depend on the objects.",
                f"Run the analysis again without {_these(one_place, unit)}.",
                one_place,
            )
        )
    return found


def about_amounts(who: AnyArray | None, unit: str) -> list[Caution]:
    """Whether one rater gave much of all answers."""
    if who is None:
        return []
    names, answers = np.unique(who, return_counts=True)
    most = int(answers.argmax())
    share = float(answers[most]) / len(who)
    if not gave_much(share, len(names)) or str(names[most]) == "":
        return []
    return [
        Caution(
            "one-rater",
            f"One {unit} gave {share:.0%} of the answers.",
            f"What holds for all answers holds mostly for that {unit}; for other {unit}s it is "
            "less certain than so many answers suggest.",
            f"Ask more {unit}s, or compare with the results without this one.",
            (str(names[most]),),
        )
    ]


def _about_misfits(checks: Sequence[RaterCheck], unit: str) -> list[Caution]:
    """Those who do not fit the others and are not known to be careless."""
    differs, inverted, unclear = (
        tuple(check.rater for check in checks if check.verdict == verdict)
        for verdict in ("differs", "inverted", "unclear")
    )
    found = []
    if differs:
        sees = "sees" if len(differs) == 1 else "see"
        found.append(
            Caution(
                "differs",
                f"{counted(len(differs), unit)} {sees} it differently: these answers do not fit "
                f"those of the others, but they are no guesses.",
                "One map for all does not show what they see.",
                "Do not exclude them for that; look at them by themselves (trilens individuals).",
                differs,
            )
        )
    if inverted:
        found.append(
            Caution(
                "inverted",
                f"{counted(len(inverted), unit)} answered the opposite of the others.",
                "The question was probably misread.",
                f"Ask {_these(inverted, unit)}; turn the answers round, or exclude them.",
                inverted,
            )
        )
    if unclear:
        does = "does" if len(unclear) == 1 else "do"
        found.append(
            Caution(
                "unclear",
                f"{counted(len(unclear), unit)} {does} not fit the others.",
                "There are too few answers to tell carelessness from another view.",
                "Do not exclude them for that; ask them more questions, some of them twice.",
                unclear,
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
            f"Two answers to the same question agree in {repeats.agreement:.0%} of cases "
            f"({repeats.questions:,} questions, each counted once); guesses would agree in "
            f"{chance:.0%}.",
            "Raters differ, or the questions are hard: a single answer says little.",
            "Rely on results that rest on many answers, and treat close calls as ties.",
        )
    ]


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "object"), counted(1200, "answer")
    ('1 object', '1,200 answers')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _these(names: Sequence[str], unit: str) -> str:
    return f"this {unit}" if len(names) == 1 else f"these {unit}s"
