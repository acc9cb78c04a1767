"""Sentences for people: made here, of codes and numbers, and nowhere else."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import exp
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trilens._tabular import and_list, counted
from trilens.calibration import BRANCH_LEVEL, COMPARED_ANSWERS, SAYS_NOTHING
from trilens.kinds import KINDS, chance

if TYPE_CHECKING:
    from trilens.maps.kind import KindFit
    from trilens.maps.support import Reason
    from trilens.questions.compare_groups import ComparedGroups, GroupView
    from trilens.questions.group_agreement import GroupAgreement
    from trilens.questions.group_test import GroupTest
    from trilens.questions.hierarchy import Hierarchy
    from trilens.questions.individuals import Individuals, RaterGroup
    from trilens.questions.plan.plan import Expected, Plan
    from trilens.questions.reliability.reliability import Reliability
    from trilens.questions.stopping import Stopping
    from trilens.questions.structure import Structure
    from trilens.study_design import Design

#: What was asked.
ASKED = {
    "central": "which of three objects is the most central",
    "odd": "which of three objects is the odd one out",
    "closer": "which of two objects is closer to a third",
}
#: What centrality is.
MEASURE = {
    "central": "the share of the questions about an object in which it is the most central",
    "odd": "the share of the questions about an object in which it is not the odd one out",
    "closer": "the share of an object's comparisons with another in which it is the closer one",
}
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
#: Why nothing can be claimed, as the end of a sentence.
REASONS: dict[Reason, str] = {
    "no answers": "there are no answers",
    "unasked objects": "some objects were never asked about",
    "unconnected objects": "some objects are never compared with the others, not even indirectly",
    "loose parts": "few questions link the parts that the objects form",
    "few questions": "there are too few different questions",
    "few answers": "there are too few answers about each object",
    "guesses": "the answers cannot be distinguished from guessing",
    "few objects": "there are too few objects",
    "same places": "too few objects differ",
    "only counts": "counts do not say which objects were compared with which",
    "no test": "this map ranks the objects but has no test",
    "unknown raters": "counts do not say who gave which answers",
}


#: What is said of a rater, by the code; nothing of one who is not shown to be any of these.
VERDICTS = {
    "careless": "careless",
    "inverted": "answers the opposite",
    "differs": "sees it differently",
    "unclear": "does not fit the others",
    "not judged": "not judged",
}
#: Raters of another view: the others' answers do not tell how many of theirs are careless.
OTHER_VIEWS = ("differs", "inverted", "unclear")


def little_to_conclude(code: Reason) -> str:
    """The headline of answers that support no claim."""
    if code == "guesses":
        return (
            "These answers cannot be distinguished from guessing: there are too few of them, or "
            "people guessed."
        )
    if code == "unknown raters":
        return (
            "Counts do not say who gave which answers: all answers are treated as independent, but "
            "those of one rater are not, so the intervals may be too narrow; fit the answers, or "
            "ask about a file that is read into memory."
        )
    return f"Little can be concluded from these answers: {REASONS[code]}."


def against_the_map(rate: float, interval: tuple[float, float]) -> str:
    """The error rate of a fit.

    >>> against_the_map(0.079, (0.061, 0.1)).partition(": ")[2]
    '7.9% (95% confidence interval 6.1% to 10.0%)'
    """
    low, high = interval
    return (
        f"answers to clear questions that go against the map: {rate:.1%} (95% confidence "
        f"interval {low:.1%} to {high:.1%})"
    )


# ---- depth --------------------------------------------------------------------------------------


def about_depth(method: str, design: Design | None) -> str:
    """What the depth of each object is about.

    >>> about_depth("choice", None)
    'all questions (model estimate)'
    """
    if method == "choice":
        return "all questions (model estimate)"
    if design is not None and not design.counts_hold:
        return f"these questions only: {'; '.join(design.why)}"
    return "all questions"


#: Two commands speak of depth, and do not mean the same number.
DEPTHS_ARE_COUNTED = (
    "depths are shares of these answers; those of trilens medoid are estimates for all questions"
)


def whose_depth(method: str) -> str:
    """What the depth of a medoid is, behind its method."""
    if method != "choice":
        return ""
    return " (depth is estimated for all questions; trilens depth counts these answers)"


def how_of_a_class(method: str) -> str:
    """What the medoid of a class is from.

    >>> how_of_a_class("depth")
    'counted from the statements within the class alone'
    """
    made = "counted from" if method == "depth" else f"by method {method}, from"
    return f"{made} the statements within the class alone"


def unclear_class_medoids(classes: Sequence[str]) -> str:
    """Of which classes it cannot be told."""
    noun = "class" if len(classes) == 1 else "classes"
    return (
        f"the most central object of {noun} {listed(classes)} cannot be told: too few statements "
        f"are within the class alone"
    )


def reason(code: Reason | None) -> str | None:
    """Why nothing can be claimed; None where something can."""
    return None if code is None else REASONS[code]


def listed(names: Sequence[str], most: int = 5) -> str:
    """Some names, and how many more there are.

    >>> listed(["a", "b", "c"], 2), listed(["a", "b"])
    ('a, b and 1 more', 'a and b')
    """
    more = len(names) - most
    return and_list([*names[:most], *([f"{more:,} more"] if more > 0 else [])])


def sentence(text: str) -> str:
    """What is said as a part of a sentence, as one of its own."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, small ones in words.

    >>> count(1, "object"), count(12, "class", "classes")
    ('one object', '12 classes')
    """
    if number >= len(_SMALL):
        return counted(number, noun, plural)
    return f"{_SMALL[number]} {noun if number == 1 else plural or noun + 's'}"


def span(low: float, high: float, digits: int = 0) -> str:
    """An interval of a share; one that says nothing is said to say nothing.

    >>> span(0.124, 0.31), span(0.01, 1.0), span(0.0, 0.004)
    ('12 to 31%', 'too few answers to tell', '0.0 to 0.4%')
    """
    if high - low >= SAYS_NOTHING:
        return "too few answers to tell"
    start, end = (f"{100 * share:.{digits}f}" for share in (low, high))
    if start != end:
        return f"{start} to {end}%"
    return "less than 0.1 either way" if digits else span(low, high, 1)


def stand_apart(number: int) -> str:
    """The verb of outliers."""
    return "stands apart" if number == 1 else "stand apart"


def p_text(value: float) -> str:
    """A p-value as people write it.

    >>> p_text(0.00004), p_text(0.0123), p_text(0.42)
    ('p < 0.001', 'p = 0.012', 'p = 0.42')
    """
    if value < 0.001:
        return "p < 0.001"
    return f"p = {value:.3f}" if value < 0.1 else f"p = {value:.2f}"


# ---- classes ------------------------------------------------------------------------------------

_REMARKS = {
    "alone": (
        "one labeled object only, so its label cannot be checked and few objects will join its "
        "class"
    ),
    "nearest": "no neighbor in the graph, so the class of the nearest object",
    "unknown": "never compared with two labeled objects, so the most frequent class",
    "random": "no neighbor in the graph, so a class at random",
    "unreached": (
        "never compared with labeled objects, not even indirectly, so their classes are guesses"
    ),
}


def remark_about_objects(code: str, names: Sequence[str]) -> str:
    """Why little can be said of the classes of some objects; codes: those of ``_REMARKS``."""
    return f"{_REMARKS[code]}: {listed(names)}"


# ---- models against people ----------------------------------------------------------------------

#: What the ranks of aligned models do not say.
BENT_MODELS = (
    "after a linear map the best model is not reliably the true one (Avitan and Golan, 2025): a "
    "wide model can be bent into the shape of another"
)


def how_matched(by_name: bool, names: Sequence[str]) -> str:
    """How the objects of a model were found."""
    if by_name:
        return "objects matched by name"
    few = ", ".join(names[:4]) + (f", ... ({len(names):,})" if len(names) > 4 else "")
    return f"rows taken in the order of the objects: {few}"


def fitted_to_these(model: str) -> str:
    """That a model knows the answers that it is evaluated by."""
    return (
        f"{model} was fitted to these answers, so it is more accurate here than with new ones; "
        f"for how well a map predicts, see trilens reliability"
    )


def few_raters(n_raters: int) -> str:
    """What intervals are about where raters are too few to stand for others."""
    same = "the same rater" if n_raters == 1 else "the same raters"
    return (
        f"the answers are of {counted(n_raters, 'rater')}: intervals are about other questions to "
        f"{same}"
    )


def mostly_one_rater(share: float) -> str:
    """What an accuracy rests on where one rater gave much."""
    return (
        f"one rater gave {share:.0%} of the answers, more than a fifth: the accuracy is mostly "
        f"theirs, while the interval is for other raters"
    )


def feature_gain_in_words(
    held_out: int,
    predicted: Sequence[float],
    chance: float,
    gain: tuple[float, float] | None,
) -> str:
    """What features add, in a sentence or two.

    ``predicted`` are the shares of held-out answers by answers alone, by features alone and by
    both; ``gain`` is the interval of the last less the first, None where features were left out.
    """
    alone, linear, both = predicted
    text = (
        f"Of {held_out:,} held-out answers, a map of the other answers alone predicts "
        f"{alone:.1%}, the features alone {linear:.1%} and both together {both:.1%} "
        f"(guessing: {chance:.0%})."
    )
    if gain is None:
        return f"{text} The features do not help to predict answers, and were left out."
    low, high = gain
    points = f"{100 * low:+.1f} to {100 * high:+.1f} percentage points"
    if low > 0:
        return f"{text} The features add {points} (95 %)."
    if high < 0:
        return f"{text} With the features fewer answers are predicted."
    return f"{text} What the features add is within chance ({points}, 95 %)."


# ---- reliability: what the answers cannot support ---------------------------------------------

#: What was seen, what cannot be concluded, and what to do.
Said: TypeAlias = tuple[str, str, str]


def caution(code: str, facts: dict[str, Any]) -> Said:
    """The sentences of a caution of `trilens.reliability`.

    >>> caution("kind", {"kind": "central", "fits": "odd", "doubt": "A map says so"})[2]
    'Give the kind that was asked: --kind odd, or --kind central (in Python: kind= of tl.Answers).'
    >>> caution("unclear", {"raters": 1, "unit": "round"})[0]
    '1 round does not fit the others.'
    """
    said = _CAUTIONS[code]
    if callable(said):
        return said(**facts)
    values = {**facts, **_agreeing(facts)}
    what, therefore, remedy = (text.format(**values) for text in said)
    return f"{what[:1].upper()}{what[1:]}", therefore, remedy


def _agreeing(facts: dict[str, Any]) -> dict[str, str]:
    """How many there are of what a caution is about, and words that agree with the number."""
    unit = facts.get("unit", "object")
    number = facts.get("raters", facts.get("objects", 0))
    one = number == 1
    return {
        "many": counted(number, unit),
        "these": f"this {unit}" if one else f"these {unit}s",
        "do": "does" if one else "do",
        "s": "s" if one else "",
    }


def _not_held(answers: int, looked_at: int) -> Said:
    part = f"a random part of them, {looked_at:,} of {answers:,}, was"
    return (
        f"The files are too large to hold in memory: "
        f"{'all answers were' if looked_at == answers else part} looked at, but not the response "
        f"times and the positions on the screen.",
        "Raters were checked, but are not listed here, and nothing is said about who could be "
        "left out.",
        "For a list of the raters, analyze a random sample of the answers that fits into memory.",
    )


def _kind(kind: str, fits: str | None = None, doubt: str = "") -> Said:
    what = f"The file does not say which question was asked; kind {kind} is assumed."
    other = " or ".join(f"--kind {each}" for each in KINDS if each != kind)
    if fits is not None:
        what = f"{what[:-1]}, but the answers fit kind {fits}. {doubt}."
        other, kind = f"--kind {kind}", fits
    return (
        what,
        "If another question was asked, every finding below is wrong.",
        f"Give the kind that was asked: --kind {kind}, or {other} (in Python: kind= of "
        "tl.Answers).",
    )


def _header(kind: str, fits: str, doubt: str, column: str | None = None) -> Said:
    told = "" if column is None or fits == "closer" else " " + shlex.quote(f"{fits}={column}")
    return (
        f"The columns say kind {kind}, but the answers fit kind {fits}. {doubt}.",
        "If the columns are misnamed, every finding below is wrong.",
        f"If kind {fits} was asked, correct their names or give --columns{told}; if kind {kind} "
        f"was asked, give --kind {kind} (in Python: columns= and kind= of tl.Answers).",
    )


def _pooled(conditions: Sequence[str]) -> Said:
    return (
        f"Conditions {and_list(conditions)} are pooled.",
        "What differs between them is averaged in the findings.",
        f"To take one: --where 'condition={conditions[0]}'. To compare them: --by condition.",
    )


def _design(design: Design) -> Said:
    return (
        f"The questions were not drawn at random: {'; '.join(design.why)}.",
        "Shares of the answers speak for these questions only; what is said about all questions "
        "rests on the choice model.",
        "Ask random triples of objects, different ones of each rater.",
    )


_EXCLUSIONS = {
    "test-question": "answers to test questions",
    "failed-tests": "{unit}s who failed the test questions",
    "one-place": "{unit}s with most answers in one place",
    "guessing": "{unit}s with answers no better than guesses",
    "inverted": "{unit}s with answers opposite to the others'",
}


def exclusion_rule(mark: str, unit: str) -> str:
    """Which answers a rule leaves out, or would; ``mark`` is the code.

    >>> exclusion_rule("guessing", "rater")
    'raters with answers no better than guesses'
    """
    return _EXCLUSIONS[mark].format(unit=unit)


_CAUTIONS: dict[str, Said | Callable[..., Said]] = {
    "no-statements": (
        "There are no answers.",
        "Nothing can be concluded.",
        "Check the file, or collect answers.",
    ),
    "counted": _not_held,
    "kind": _kind,
    "header": _header,
    "pooled": _pooled,
    "unseen": (
        "{many} {do} not appear in any answer.",
        "Nothing is known about them: their depth counts as 0, and their position on the map "
        "means nothing.",
        "Ask about them, or remove them from the list of objects.",
    ),
    "rare": (
        "{many} appear{s} in fewer than {fewer_than} answers.",
        "Their depths are uncertain by more than 0.2 either way, so it is known only roughly how "
        "central each of them is; intervals and lists of candidates allow for that.",
        "Collect answers until each appears in at least {fewer_than}; a hundred bring the "
        "uncertainty down to 0.1.",
    ),
    "apart": (
        "The objects fall into {parts} parts that no answer connects.",
        "Objects in different parts cannot be compared: depths, map and groups mix unrelated "
        "scales.",
        "Ask questions that mix the parts, or analyze each part by itself.",
    ),
    "noise": (
        "A map of some answers predicts {predicted:.0%} of the others, guessing {chance:.0%}: with "
        "{answers:,} answers, no clear difference.",
        "Nothing can be concluded, neither about the objects nor about single raters.",
        "Collect more answers, and check that the question was understood.",
    ),
    "design": _design,
    "wrong": (
        "About {rate:.0%} of the answers seem to be wrong (between {low:.0%} and {high:.0%}).",
        "Results that rest on few answers are uncertain.",
        "Look at who answered, and rely on results that come with an interval.",
    ),
    "most-guess": (
        "About {share:.0%} of the {unit}s seem careless: their answers look like guesses.",
        "The findings rest on the other {unit}s alone, and some careless ones may still be among "
        "them.",
        "Find out how the {unit}s were recruited; exclude the careless ones, and ask others.",
    ),
    "guessing": (
        "The answers of {many} fit neither those of the others nor each other any better than "
        "guesses do.",
        "They blur every result.",
        "Look at {these}, and run the analysis again without them.",
    ),
    "same-place": (
        "{many} mostly chose the same place on the screen.",
        "Such answers do not depend on the objects.",
        "Run the analysis again without {these}.",
    ),
    "one-rater": (
        "One {unit} gave {share:.0%} of the answers.",
        "What holds for all answers holds mostly for that {unit}; for other {unit}s it is less "
        "certain than so many answers suggest.",
        "Ask more {unit}s, or compare with the results without this one.",
    ),
    "differs": (
        "{many} see{s} it differently: these answers do not fit those of the others, but are not "
        "guesses.",
        "One map for all does not show what they see.",
        "Do not exclude them for that; look at them by themselves (trilens individuals).",
    ),
    "views": (
        "{unit}s seem to see different things: one gives the same answer again in {within:.0%} of "
        "cases, two of them agree in {between:.0%}; trilens individuals looks for groups.",
        "One map for all does not show what each of them sees, and shares of careless answers hold "
        "only for {unit}s who see alike.",
        "Look at the {unit}s one by one: trilens individuals.",
    ),
    "inverted": (
        "{many} answered the opposite of the others.",
        "The question was probably misread.",
        "Ask {these}; reverse the answers, or exclude them.",
    ),
    "unclear": (
        "{many} {do} not fit the others.",
        "There are too few answers to tell carelessness from another view.",
        "Do not exclude them for that; ask them more questions, some of them twice.",
    ),
    "contradictions": (
        "A single answer says little: two answers to the same question agree in {agreement:.0%} of "
        "cases ({questions:,} questions, each counted once; guesses: {chance:.0%}).",
        "Raters differ, or the questions are hard; careful raters disagree about close calls too.",
        "Rely on results that rest on many answers, and treat close calls as ties.",
    ),
}


# ---- groups of raters -------------------------------------------------------------------------


def no_group_test(test: GroupTest) -> str | None:
    """Why groups could not be tested; None where they could."""
    if test.why_not is None:
        return None
    if test.why_not == "in between":
        return (
            f"{test.several:,} of {test.raters:,} raters answered in several groups, the others in "
            f"one; give every rater one group, or leave out those in between"
        )
    if test.why_not == "own lists":
        only = "only " if test.shared else ""
        number = f"{only}{count(test.shared or 0, 'question')} {_were(test.shared or 0)}"
        return (
            f"the groups have lists of their own, and {number} asked in all of them, so that a "
            f"difference between groups cannot be distinguished from one between questions; ask "
            f"all groups some of the same questions"
        )
    return _NO_GROUP_TEST[test.why_not]


def agreement_by_group(found: GroupAgreement) -> str:
    """The effect size of groups."""
    points = f"{100 * abs(found.difference):.0f} percentage points"
    more = "more" if found.difference >= 0 else "less"
    low, high = 100 * found.low, 100 * found.high
    return (
        f"Raters agree {points} {more} often within groups than between them "
        f"({found.within:.0%} against {found.between:.0%}; 95% interval of the difference: "
        f"{low:+.0f} to {high:+.0f}; {counted(found.questions, 'question')})."
    )


_NO_GROUP_TEST = {
    "no raters": "who gave each answer is not known; add a column called rater",
    "one rater": "a group has fewer than two raters",
    "one rater shared": "in a group fewer than two raters were asked what all groups were asked",
    "few raters": "there are so few raters that any difference could be chance",
}


# ---- next questions ---------------------------------------------------------------------------


#: Why all questions are drawn at random, or what choosing some of them does not give.
CHOSEN_NOTES = {
    "few objects": (
        "{objects:,} objects are too few to choose by, which needs {needed:,}: all questions are "
        "drawn at random"
    ),
    "few answers": (
        "{answers:,} answers about {objects:,} objects are too few to choose by, which needs "
        "{needed:,}: all questions are drawn at random"
    ),
    "many wrong": (
        "about {wrong:.0%} of the answers are wrong: in trials with so many, chosen questions of "
        "kind closer told no more than random ones until there were {each} answers for each "
        "object, here {answers:,}"
    ),
    "few left": (
        "{asked:,} of all {possible:,} questions have been asked: those drawn at random are now "
        "what the chosen ones left, so that depths by counting are off; for a given rater a "
        "question may come again"
    ),
}


# ---- stopping ---------------------------------------------------------------------------------


def stopping(found: Stopping) -> tuple[str, str]:
    """What a rule saw, and what it takes to go on."""
    why = _seen(found)
    ahead = (found.next_look or 0) - found.answers
    if found.rule == "price":
        left = found.left or 0
        more = f"{left:,} more can be paid"
        return why, "another answer would be beyond the budget" if left <= 0 else more
    if not found.look:
        return (
            f"the first look needs {found.next_look:,} answers, there are {found.answers:,}",
            f"the first look is at {found.next_look:,} answers, {ahead:,} more",
        )
    if found.looked_at != found.answers:
        why = f"at the last look, at {found.looked_at:,} answers: {why}"
    if found.stop:
        return why, "no more answers are needed for this"
    return why, f"the next look is at {found.next_look:,} answers, {ahead:,} more"


def _seen(found: Stopping) -> str:
    if found.rule == "price":
        return (
            f"{found.answers:,} answers at {found.price:g} cost {found.value:,.2f} of "
            f"{found.limit:,.2f}"
        )
    if not found.look:
        return ""
    if found.rule == "medoid":
        return (
            f"{len(found.candidates):,} of {found.objects:,} objects could be the most central; "
            f"the rule allows {found.limit:,.0f}"
        )
    if found.rule == "map":
        return (
            f"1,000 more answers would raise the share of predicted answers by about "
            f"{max(found.expected or 0.0, 0):.4f}, at most {found.value:.4f}; the limit is "
            f"{found.limit:g}"
        )
    now, before = int(found.value or 0), found.before
    if found.stop:
        return f"{now} groups, at this look and the one before"
    if now == 1:
        return "no groups stand out so far; that there are none is never certain"
    if before is None:
        return f"{now} groups, at this look only"
    was = f"{before} groups" if before > 1 else "none"
    return f"{now} groups at this look, {was} at the one before"


# ---- outliers and groups ------------------------------------------------------------------------

#: What the answers cannot tell about groups, or why a map is not divided.
GROUP_NOTES = {
    "line": "no gap in the line could be confirmed: to divide it would be arbitrary",
    "ring": "no gap in the ring could be confirmed: to divide it would be arbitrary",
    "arms": "to call the arms groups would be arbitrary",
    "no dip": (
        "no gap between groups could be confirmed: a lopsided or curved whole would look the same"
    ),
    "central gap": (
        "answers about the most central object cannot tell how wide a gap between two groups is: "
        "two groups may look like one long one"
    ),
    "lens map": (
        "whether there are groups cannot be determined: the lens map of these answers shows groups "
        "even where there are none; soe does not"
    ),
    "few edges": (
        "too few objects have a neighbor in the k-RNG for so many clusters; take a larger k, or "
        "give more statements"
    ),
}


#: Of the object whose interval of centrality lies below all others, where no outlier is confirmed.
LEAST_OF_ALL = "{} is clearly the least central, which alone makes no outlier"


def about_outliers(why: Reason | None) -> str | None:
    """Why nothing can be said about outliers; None where something can."""
    return None if why is None else f"outliers cannot be determined: {REASONS[why]}"


def about_groups(why: Reason | None, notes: Sequence[str]) -> str | None:
    """What cannot be determined about groups; None where nothing needs to be said.

    >>> about_groups("no answers", ())
    'whether there are groups cannot be determined: there are no answers'
    """
    said = [] if why is None else [f"whether there are groups cannot be determined: {REASONS[why]}"]
    # a ring is not one long group
    said += [GROUP_NOTES[note] for note in notes if note != "central gap" or "ring" not in notes]
    return "; ".join(said) or None


def groups_tested(p_value: float) -> str:
    """What the test of groups says."""
    return f"groups: {p_text(p_value)}, compared with simulated collections without groups"


def best_division(number: int) -> str:
    """That the best division is no division into groups, and yet more than chance."""
    return f"the best division, into {number}, is not clear enough to call it groups"


def about_shape(why: Reason) -> str:
    """Why the shape of the objects cannot be determined."""
    if why == "few objects":  # but enough for groups
        return (
            "no groups could be confirmed, and there are too few objects to tell a line, a ring or "
            "arms"
        )
    return f"the shape that the objects form cannot be determined: {REASONS[why]}"


def about_structure(found: Structure) -> str:
    """What the shape of the objects means, and which of them stand apart."""
    apart = found.unassigned
    said = _form(found) if found.reason is None else sentence(about_shape(found.reason))
    if not apart:
        return said
    number = count(len(apart), "object").capitalize()
    return f"{said} {number} {stand_apart(len(apart))}: {listed(apart)}."


#: Where the objects lie; the report marks the names.
LIE = {
    "line": "The objects lie along {way}, from {first} to {last}",
    "ring": "The objects lie on a ring",
    "arms": "The objects lie on {arms} that meet near {inner}",
}
NONE_ON_A_RING = f"{LIE['ring']}: there is no most central object."


def _form(found: Structure) -> str:
    if found.shape == "ring":
        return NONE_ON_A_RING
    if found.order is not None:
        way = "a bent line" if found.bent else "a line"
        return f"{LIE['line'].format(way=way, first=found.order[0], last=found.order[-1])}."
    if found.part is None:
        if "no dip" in found.notes:
            return (
                "The objects divide more clearly than one cloud would, but no gaps could be "
                "confirmed between the parts."
            )
        return "No line, ring, arms or groups could be confirmed: the objects may form one cloud."
    number = int(found.part.max()) + 1
    if found.position is not None:
        arms, inner = count(number, "arm"), found.names[np.nanargmin(found.position)]
        return f"{LIE['arms'].format(arms=arms, inner=inner)}."
    if found.inner is not None:
        return f"{two_levels(number, int(found.inner.max()) + 1)}."
    sizes = np.bincount(found.part[found.part >= 0]).astype(str).tolist()
    return f"The objects form {count(number, 'group')}, of {and_list(sizes)} objects."


def two_levels(outer: int, inner: int) -> str:
    """That so many groups fall into so many smaller ones.

    >>> two_levels(2, 4)
    'The objects form two groups, which fall into four smaller ones'
    """
    return (
        f"The objects form {count(outer, 'group')}, which fall into {count(inner, 'smaller one')}"
    )


def about_tree(found: Hierarchy) -> str:
    """What is claimed of the branches of a tree."""
    if found.reason is not None:
        return f"No branch is claimed: {REASONS[found.reason]}."
    if found.support is None or found.structure is None:
        return "No branch is claimed: its support is not known without a model of the answers."
    shape = found.structure.sentence
    if not found.structure.has_groups:
        return f"No branch is claimed. {shape} A tree is only one way to draw them."
    claimed = len(found.claimed)
    which = f"{claimed:,} {'is' if claimed == 1 else 'are'}" if claimed else "none is"
    return (
        f"{shape} Of the {len(found.names) - 2:,} branches of the tree, {which} well supported, by "
        f"at least {BRANCH_LEVEL:.0%} of the maps that the answers allow."
    )


# ---- raters one by one --------------------------------------------------------------------------


def individuals(found: Individuals) -> Iterator[str]:
    """Whether raters see different things, and which."""
    n, few = len(found.raters), len(found.left_out)
    short = f" ({few:,} with fewer than {COMPARED_ANSWERS} answers were left out)" if few else ""
    compared = f"{n:,} raters were compared{short}; "
    verdict = "there is no evidence that they see the objects differently"
    if found.differ:
        verdict = "they see the objects differently"
    yield f"{compared}{verdict} ({p_text(found.p_value)})."
    if found.differ:
        yield from _groups_of_raters(found)
        yield from _weighed_dimensions(found)
    if found.predicted:
        means = [(text, found.mean_predicted[name]) for name, text in _PREDICTED_BY.items()]
        shares = [f"{mean:.0%} by {text}" for text, mean in means if mean is not None]
        yield (
            f"Held-out answers predicted, mean over raters: {and_list(shares)} (guessing: "
            f"{found.chance:.0%})."
        )


_PREDICTED_BY = {
    "pooled": "one map for all",
    "others": "a map of the other raters' answers",
    "own": "a map of their own other answers",
    "weights": "one map with each rater's own weights",
}


#: Weights that differ by a smaller factor are not named.
_WORTH_SAYING = 1.05


def _groups_of_raters(found: Individuals) -> Iterator[str]:
    if found.groups_p_value is None:
        yield "There are too few raters to look for groups among them."
        return
    if not found.groups:
        yield f"No groups of them could be confirmed ({p_text(found.groups_p_value)})."
        return
    sizes = [f"{len(group.raters):,}" for group in found.groups]
    yield (
        f"They fall into {count(len(sizes), 'group')}, of {and_list(sizes)} raters "
        f"({p_text(found.groups_p_value)})."
    )
    yield from _most_central((f"group {i}", group) for i, group in enumerate(found.groups, 1))


def _weighed_dimensions(found: Individuals) -> Iterator[str]:
    spreads = [dimension.spread for dimension in found.dimensions]
    if found.groups or not spreads or exp(max(spreads)) < _WORTH_SAYING:
        return
    number = spreads.index(max(spreads))
    widest = found.dimensions[number]
    yield (
        f"They differ most in how much dimension {number + 1} counts (from "
        f"{and_list(widest.low)} to {and_list(widest.high)}): a third of them weigh it more than "
        f"{exp(widest.spread):.1f} times as much, or as little, as is usual."
    )


# ---- groups of raters, compared -----------------------------------------------------------------


def compared_groups(found: ComparedGroups) -> Iterator[str]:
    """Whether groups answer differently, and about what."""
    sizes = [
        f"{g.name} ({counted(g.answers, 'answer')}"
        + ("" if g.raters is None else f" of {counted(g.raters, 'rater')}")
        + ")"
        for g in found.groups
    ]
    yield f"Compared were {and_list(sizes)}."
    if found.p_value is None:
        yield f"Whether they answer differently cannot be determined: {found.why_not}."
    else:
        verdict = "They answer differently"
        if not found.differ:
            verdict = "There is no evidence that they answer differently"
        yield f"{verdict} ({p_text(found.p_value)}, by exchanging {_exchanged(found)})."
    if found.differ and found.object_p_value is not None:
        if found.differing:
            verb = "lies" if len(found.differing) == 1 else "lie"
            named = listed(found.differing, 6)
            yield f"{named} {verb} in different places for the groups."
        else:
            yield "No single object could be shown to lie in different places for the groups."
    if found.agreement is not None:
        yield agreement_by_group(found.agreement)
    yield from _most_central((g.name, g) for g in found.groups)
    for g in found.groups:
        if g.predicted_by_own is not None and g.predicted_by_others is not None:
            yield (
                f"Of the answers of {g.name}, {g.predicted_by_own:.0%} are predicted by the other "
                f"half of the group, {g.predicted_by_others:.0%} by the other groups (guessing: "
                f"{found.chance:.0%})."
            )
    yield from left_out_of_groups(found.without_group, found.without_answers)


def _most_central(groups: Iterable[tuple[str, RaterGroup | GroupView]]) -> Iterator[str]:
    """The most central object for each group of raters, and how many others it could be."""
    said = []
    for name, group in groups:
        if group.medoid is not None:
            others = len(group.candidates) - 1
            may = f" (or one of {others:,} others)" if others > 1 else ""
            said.append(f"{group.medoid} for {name}{' (or one other)' if others == 1 else may}")
    if said:
        yield f"Most central is {and_list(said)}."


def left_out_of_groups(without_group: int, without_answers: Sequence[str]) -> Iterator[str]:
    """What could not be compared."""
    if without_group:
        yield f"{counted(without_group, 'answer')} without a group {_were(without_group)} left out."
    if without_answers:
        yield f"In the groups, but not in the answers: {listed(without_answers, 6)}."


def _exchanged(found: ComparedGroups) -> str:
    if found.exchanged == "raters":
        on = "" if found.shared is None else f", on the {found.shared:,} questions all were asked"
        return f"raters between the groups{on}"
    if found.shared is not None:
        return f"the answers to each of the {found.shared:,} questions asked in all groups"
    return "the answers of each rater"


# ---- a paragraph for the Methods section --------------------------------------------------------


def another_kind(found: KindFit) -> str:
    """What speaks for the kind that fits, where another one is said; empty where none does."""
    if found.fitting is None:
        return ""
    told = [
        f"as kind {kind} in {found.accuracy[kind]:.0%} of cases (guessing: {chance(kind):.0%})"
        for kind in (found.fitting, found.kind)
    ]
    return f"On a plane, three quarters of the answers predict the rest {told[0]}, {told[1]}"


#: Why it is not known how often two raters agree.
NO_CEILING = {
    "no answers": "there are no answers",
    "all chosen": "all questions were chosen by earlier answers",
    "one rater": "all answers are from one rater, and a ceiling compares two",
    "no shared question": "no question was answered by two raters",
    "no repeated question": "no question was asked twice",
    "few": "too few questions were answered twice",
}


#: What the shares of careless answers of single raters rest on.
CARELESS_SHARES = (
    "careless: the share of answers that fit the other {unit}s' answers no better than a guess "
    "does; it holds only for {unit}s who see alike"
)
#: Two error rates: which one to report, and why they differ; said where each is printed.
ERROR_RATE_OF_A_FIT = "this error rate is the map's; report that of trilens reliability"
ERROR_RATE_TO_REPORT = (
    "report this error rate: it allows for how raters differ and for questions that are not clear, "
    "so that its interval is usually wider than that of trilens fit, which is the map's"
)


def reliability(found: Reliability) -> str:
    """The headline: whether the answers say anything, and how well they do."""
    if not found.collected["used"]:
        return "There are no answers."
    if found.is_noise:
        return little_to_conclude("guesses")
    if found.predicted is None:
        return "How many answers could be predicted is not known: there are too few."
    said = (
        f"A map of some answers predicts {found.predicted:.0%} of the others (guessing: "
        f"{found.chance:.0%})"
    )
    if found.error_rate is not None:
        said += f"; about {found.error_rate:.0%} of the answers to clear questions are wrong"
    return f"{said}."


def methods(found: Reliability) -> Iterator[str]:
    """How the answers were collected, and how reliable they are."""
    yield _collection(found)
    yield from _exclusions(found)
    yield from _agreement(found)
    yield from _prediction(found)
    if found.halves is not None:
        yield (
            f"The split-half reliability of the objects' depths was "
            f"{round(found.halves.reliability, 2) + 0.0:.2f} (Spearman-Brown corrected, mean of "
            f"{found.halves.splits} random splits of the {found.halves.unit}s)."
        )
    if found.catch is not None:
        yield (
            f"Test questions were answered correctly in {found.catch['right']:,} of "
            f"{found.catch['asked']:,} cases."
        )
    advised = [step for step in found.exclusions if not step.done and step.answers]
    if advised:
        rules = "; ".join(f"{step.rule} ({step.raters:,})" for step in advised)
        yield sentence(f"{rules} were flagged but not excluded")
    groups = found.groups
    if groups is not None and groups.p_value is not None:
        sizes = ", ".join(f"{group.name}: {group.raters:,}" for group in groups.groups)
        verb = "differed" if groups.differ else "could not be distinguished"
        shared = ""
        if groups.shared is not None:
            shared = f", on the {groups.shared:,} questions asked in all groups"
        yield (
            f"Groups of {found.unit}s ({sizes}) {verb} (permutation test, "
            f"{groups.permutations:,} permutations of {found.unit}s, "
            f"{p_text(groups.p_value)}{shared})."
        )
    from trilens import __version__

    yield f"All figures were computed with trilens {__version__}; intervals are 95% intervals."


def _collection(found: Reliability) -> str:
    c = found.collected
    who = "Raters were"
    if c["raters"]:
        who = f"{counted(c['raters'], 'rater')} {_were(c['raters'])}"
        if found.unit == "round":
            who = f"In {counted(c['raters'], 'round')}, raters were"
    assumed = any(caution.code == "kind" for caution in found.cautions)
    asked = f"{ASKED[found.kind]}{' (assumed: the file does not say)' if assumed else ''}"
    return (
        f"{who} asked {asked}; {counted(c['answers'], 'answer')} about "
        f"{counted(c['objects'], 'object')} {_were(c['answers'])} collected."
    )


def _exclusions(found: Reliability) -> Iterator[str]:
    skipped = found.collected.get("skipped", 0)
    if skipped:
        yield (
            f"{counted(skipped, 'further row')} of the data could not be read as "
            f"{'an answer' if skipped == 1 else 'answers'} and {_were(skipped)} skipped."
        )
    checks = found.collected.get("checks", 0)
    if checks:
        yield (
            f"{counted(checks, 'further row')} {'shows' if checks == 1 else 'show'} an object "
            f"twice: {'it was' if checks == 1 else 'they were'} taken as "
            f"{'a test question' if checks == 1 else 'test questions'}, and not as "
            f"{'an answer' if checks == 1 else 'answers'}."
        )
    if found.aside:
        yield f"Answers to the survey's own questions are no part of the findings: {found.aside}."
    if found.conditions:
        yield (
            f"Only answers with {' and '.join(found.conditions)} were counted; how many others "
            f"there are is not known."
        )
        return
    done = [step for step in found.exclusions if step.done and step.answers]
    if not done:
        yield f"No {'other ' if skipped or checks or found.aside else ''}answers were excluded."
        return
    rules = "; ".join(f"{step.answers:,} ({step.rule})" for step in done)
    left = counted(done[-1].left, "answer")
    yield f"The following answers were excluded: {rules}, leaving {left}."


def _agreement(found: Reliability) -> Iterator[str]:
    between, within = found.between, found.within
    if between is None:
        yield f"A noise ceiling cannot be estimated: {found.no_ceiling}."
    else:
        whose = "" if found.unit is None else f"from different {found.unit}s "
        most = ""
        if found.reachable is not None:
            most = (
                f", so no model that treats all raters alike could predict more than about "
                f"{found.reachable:.0%} of the answers"
            )
        yield (
            f"Two answers {whose}to the same question agreed in {between.share:.0%} "
            f"({span(*between.interval)}) of cases ({counted(between.questions, 'question')}, each "
            f"counted once; chance: {found.chance:.0%}){most}."
        )
    if within is not None:
        yield (
            f"Two answers from the same {found.unit or 'rater'} to the same question agreed in "
            f"{within.share:.0%} ({span(*within.interval)}) of cases "
            f"({counted(within.questions, 'question')})."
        )
    if any(caution.code == "views" for caution in found.cautions):
        yield (
            f"As this is more often, {found.unit or 'rater'}s seem to see different things; error "
            f"rates are of one map for all."
        )


def _prediction(found: Reliability) -> Iterator[str]:
    if found.predicted is None:
        return
    seen = f"the answers from other {found.unit}s" if found.unit else "answers to other questions"
    most = found.reachable is not None and found.predicted >= found.reachable
    yield (
        f"A choice map of {seen} predicted {found.predicted:.0%} of the held-out answers"
        f"{', as much as any model could' if most else ''}."
    )
    if found.is_noise:
        yield "As a whole, the answers could not be distinguished from guessing."
    elif found.error_rate is not None and found.error_rate_interval is not None:
        yield (
            f"The estimated error rate on clear questions was {found.error_rate:.0%} "
            f"({span(*found.error_rate_interval)})."
        )


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


# ---- the design of a study ----------------------------------------------------------------------


def chosen_questions(chosen: int, answers: int) -> str:
    """That questions were chosen by earlier answers, and how many are counted."""
    return (
        f"{chosen:,} of {answers:,} questions were chosen by earlier answers (depths by counting "
        f"use the other {answers - chosen:,}; agreement and ceilings leave them out too)"
    )


def why_counts_fail(design: Design) -> Iterator[str]:
    """What of a design keeps counts from speaking for all questions."""
    if design.few_questions:
        who = "all raters answered the same" if design.one_list else "raters answered only"
        yield f"{who} {design.questions:,} questions ({design.per_question:.0f} answers to each)"
    if design.landmarks:
        named = ", ".join(design.landmarks[:5])
        yield f"nearly every question has one of {len(design.landmarks)} objects ({named})"
    elif design.uneven:
        yield "some objects were asked about much more often than others"
    if design.blocks > 1:
        yield f"the objects form {design.blocks} parts that few questions link"
    elif design.paired and not design.landmarks and not design.uneven:
        yield "some objects were asked about together much more often than others"
    if design.chosen:
        yield chosen_questions(design.chosen, design.answers)
    elif design.adaptive:
        yield "later questions seem to depend on earlier answers"


def about_design(design: Design) -> Iterator[str]:
    """What was asked, and what the counts may say."""
    yield (
        f"{counted(design.answers, 'answer')} to "
        f"{counted(design.questions, 'different question')} about "
        f"{counted(design.objects, 'object')}."
    )
    if design.counts_hold:
        yield (
            "The questions look as if drawn at random, so shares of the answers speak for all "
            "questions."
        )
    else:
        yield (
            f"Shares of the answers speak for these questions only: {'; '.join(design.why)}. "
            "What is said about all questions rests on the choice model."
        )
    if design.one_list:
        yield "More raters with the same list would not widen what was asked; new questions do."
    if design.one_rater_leads:
        who = "" if design.largest_rater is None else f" ({design.largest_rater})"
        yield f"One rater{who} gave {design.largest_share:.0%} of the answers."


# ---- the plan of a study ------------------------------------------------------------------------

#: What was assumed, and what to know before a study is made.
PLAN_NOTES = {
    "as the pilot": (
        "{places}how many answers are wrong and how sharp they are: as the pilot allows"
    ),
    "sharpness": (
        "answers follow distances about as sharply as in public studies (a mean distance of "
        "{low:g} to {high:g} on the choice map)"
    ),
    "error rate": "{rate:.0%} of the answers to clear questions are wrong",
    "error rates": "{low:.0%} to {high:.0%} of the answers to clear questions are wrong",
    "dimensions": "objects vary along {dimensions}",
    "groups": "there are {number} groups, {apart:g} standard deviations apart",
    "classes": (
        "there are {number} classes, {apart:g} standard deviations apart, and half of the objects "
        "have labels"
    ),
    "difference": (
        "half of the people see {elsewhere} of the {objects} objects elsewhere; everybody weighs "
        "the dimensions a little differently"
    ),
    "random": "questions are drawn at random",
    "budget": (
        "the budget pays for {paid:,} of {total:,} answers, of {raters} with {questions} each, "
        "for {price:,.2f}: expect {expected}"
    ),
    "enough money": (
        "the budget of {budget:,.2f} pays for {paid:,} answers, no fewer than the {total:,} that "
        "are planned: with so many, expect {expected}"
    ),
    "enough answers": (
        "the pilot has {pilot:,} answers, no fewer than are planned: they may already say enough"
    ),
    "none again": (
        "there are too few questions to ask some of them twice or of all raters, so how far people "
        "agree will not be known"
    ),
    "chosen": (
        "some questions of the pilot were chosen by earlier answers; the plan is for questions "
        "that are drawn at random"
    ),
    "few questions": (
        "{objects:,} objects make {possible:,} questions of kind {kind}, so some are asked of "
        "several people"
    ),
    "long": (
        "{minutes:.0f} minutes are long for one sitting: ask more than {raters} raters, or divide "
        "it into several"
    ),
    "some simulated": (
        "{simulated} objects were simulated, with as many answers for each as {objects:,} would "
        "have"
    ),
    "small pilot": (
        "the pilot has {pilot} of the {objects} objects; the others are taken to be like these"
    ),
    "large pilot": (
        "the pilot has {pilot} objects; the plan is for {objects} of them, whichever they are"
    ),
    "public seconds": (
        "the seconds of an answer are those of public studies of other objects (odd: taken from "
        "central); time a few of your own, and give them"
    ),
}
#: What the quality of each goal is; and what its target is measured in, where that is another.
PLAN_QUALITIES = {
    "medoid": "objects that could be the most central one",
    "rank": "rank correlation of centrality with the truth",
    "map": "share of what a perfect map would predict",
    "groups": "studies that find the groups",
    "classes": "studies that find the classes",
    "difference": "studies that find the difference (power)",
}
_PLAN_SCALES = {
    "groups": "adjusted Rand index with the truth",
    "classes": "share of objects in the right class",
}
_PLANNED = {
    "medoid": "at most {:g} objects could be the most central one",
    "rank": "the rank correlation of centrality with the truth is {:g}",
    "map": "the map predicts {:.0%} of what a perfect one would beyond chance",
    "groups": "the groups are found (adjusted Rand index {:g})",
    "classes": "{:.0%} of the unlabeled objects get their class",
    "difference": "the difference is found",
}


def plan_aim(goal: str, target: float) -> str:
    """The target of a plan, and what it is measured in.

    >>> plan_aim("groups", 0.9)
    'adjusted Rand index with the truth: 0.9'
    """
    return f"{_PLAN_SCALES.get(goal, PLAN_QUALITIES[goal])}: {target:g}"


def expected_quality(goal: str, point: Expected) -> str:
    """What so many answers give."""
    if goal == "medoid":
        ends = f"{round(point.low)} to {round(point.high)}"
        number = counted(round(point.value), "object")
        return f"{number} that could be the most central one ({ends})"
    if goal in ("groups", "classes", "difference"):
        return f"{PLAN_QUALITIES[goal]}: {point.value:.0%} ({point.low:.0%} to {point.high:.0%})"
    return f"{PLAN_QUALITIES[goal]}: {point.value:.2f} ({point.low:.2f} to {point.high:.2f})"


def plan(made: Plan, sure: float, half: int, least: int) -> Iterator[str]:
    """What a study needs.

    ``sure`` is the share of studies that reach the target, ``half`` the answers that half of them
    need, ``least`` those without which none is planned.
    """
    need = f"no more than {least:,}, without which nothing can be said"
    if half > least:
        need = f"fewer than {half:,}"
    again = f" ({made.repeats} asked twice and {made.shared} asked of all)"
    minutes = "less than 1 minute"
    if made.minutes >= 1:
        minutes = f"about {counted(round(made.minutes), 'minute')}"
    yield (
        f"{made.answers:,} {made.kind} answers: with so many, "
        f"{_PLANNED[made.goal].format(made.target)} in {sure:.0%} of such studies. "
        f"Half of all studies need {need}; 95 % need {made.low:,} to {made.high:,}."
    )
    yield (
        f"{counted(made.raters, 'rater')} with {counted(made.questions, 'question')} each"
        f"{again if made.repeats or made.shared else ''}: {minutes} at {made.seconds:.1f} s an "
        f"answer, "
        f"{made.total:,} answers in all."
    )
    if made.price is not None and made.price_interval is not None:
        low, high = made.price_interval
        yield f"Price: {made.price:,.2f} ({low:,.2f} to {high:,.2f} for what a study may need)."
    if len(made.kinds) > 1:
        others = ", ".join(f"{each.kind} {each.hours:.1f} h" for each in made.kinds)
        yield (
            f"People's time by kind of question, the least first, without what is asked again: "
            f"{others}."
        )
    yield from map(sentence, made.remarks)
