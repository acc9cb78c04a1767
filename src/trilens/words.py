"""Sentences for people: made here, of codes and numbers, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from trilens._tabular import counted
from trilens.kinds import KINDS

if TYPE_CHECKING:
    from trilens.maps.support import Reason
    from trilens.questions.group_agreement import GroupAgreement
    from trilens.questions.group_test import GroupTest
    from trilens.questions.stopping import Stopping
    from trilens.study_design import Design

#: Why nothing can be claimed, as the end of a sentence.
REASONS: dict[Reason, str] = {
    "no answers": "there are no answers",
    "unasked objects": "some objects were never asked about",
    "unconnected objects": "some objects are never compared with the others, not even indirectly",
    "few questions": "there are too few different questions",
    "few answers": "there are too few answers about each object",
    "guesses": "the answers cannot be distinguished from guessing",
    "few objects": "there are too few objects",
    "same places": "too few objects differ",
    "only counts": "counts do not say which objects were compared with which",
    "no test": "this map ranks the objects but has no test",
}


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


def reason(code: Reason | None) -> str | None:
    """Why nothing can be claimed; None where something can."""
    return None if code is None else REASONS[code]


def listed(names: Sequence[str], most: int = 5) -> str:
    """Some names, and how many more there are.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


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


def few_raters(n_raters: int) -> str:
    """What intervals are about where raters are too few to stand for others."""
    who = "one rater" if n_raters == 1 else f"{n_raters} raters"
    return f"the answers are of {who}: intervals are about other questions to the same"


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

    Parameters
    ----------
    held_out : int
    predicted : sequence of float
        The share of held-out answers by answers alone, by features alone and by both.
    chance : float
    gain : (float, float) or None
        The interval of what both predict beyond answers alone; None where features were left out.
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
    'Give the kind that was asked: --kind odd, or --kind central (in Python: kind=).'
    """
    return _CAUTIONS[code](**facts)


def _no_statements() -> Said:
    return (
        "There are no answers.",
        "Nothing can be concluded.",
        "Check the file, or collect answers.",
    )


def _not_held(answers: int, looked_at: int) -> Said:
    part = f"a random part of them, {looked_at:,} of {answers:,}, was"
    return (
        f"The files are too large to hold in memory: "
        f"{'all answers were' if looked_at == answers else part} looked at without raters and "
        f"response times.",
        "Single raters, exclusions and response times were not checked, and intervals treat the "
        "answers as independent.",
        "For these, analyze a random sample of the answers that fits into memory.",
    )


def _kind(kind: str, fits: str | None = None, doubt: str = "") -> Said:
    what = f"Which question was asked is not told; kind {kind} is assumed."
    other = " or ".join(f"--kind {each}" for each in KINDS if each != kind)
    if fits is not None:
        what = f"{what[:-1]}, but the answers fit kind {fits}. {doubt}."
        other, kind = f"--kind {kind}", fits
    return (
        what,
        "If another question was asked, every finding below is wrong.",
        f"Give the kind that was asked: --kind {kind}, or {other} (in Python: kind=).",
    )


def _pooled(conditions: Sequence[str]) -> Said:
    named = f"{', '.join(conditions[:-1])} and {conditions[-1]}"
    return (
        f"Conditions {named} are pooled.",
        "What differs between them is averaged in the findings.",
        f"To take one: --where 'condition={conditions[0]}'. To compare them: --by condition.",
    )


def _unseen(objects: int) -> Said:
    return (
        f"{counted(objects, 'object')} {'does' if objects == 1 else 'do'} not appear in any "
        f"answer.",
        "Nothing is known about them: their depth counts as 0, and their position on the map "
        "means nothing.",
        "Ask about them, or remove them from the list of objects.",
    )


def _rare(objects: int, fewer_than: int) -> Said:
    return (
        f"{counted(objects, 'object')} {'appears' if objects == 1 else 'appear'} in fewer than "
        f"{fewer_than} answers.",
        "Their depths are uncertain by more than 0.2 either way, so it is known only roughly how "
        "central each of them is; intervals and lists of candidates allow for that.",
        f"Collect answers until each appears in at least {fewer_than}; a hundred bring the "
        "uncertainty down to 0.1.",
    )


def _apart(parts: int) -> Said:
    return (
        f"The objects fall into {parts} parts that no answer connects.",
        "Objects in different parts cannot be compared: depths, map and groups mix unrelated "
        "scales.",
        "Ask questions that mix the parts, or analyze each part by itself.",
    )


def _copies(times: int) -> Said:
    return (
        f"Every row occurs in the data a multiple of {times} times.",
        "If the same answers are included more than once, everything looks more certain than it "
        "is: intervals are too narrow, and people seem to agree with themselves.",
        "Check whether a file was read twice, and include each answer once.",
    )


def _noise(predicted: float, chance: float) -> Said:
    return (
        f"A map of some answers predicts {predicted:.0%} of the others; guessing would reach "
        f"{chance:.0%}.",
        "As a whole, the answers cannot be distinguished from guessing, or there are too few.",
        "Collect more answers, and check that the question was understood.",
    )


def _design(design: Design) -> Said:
    return (
        f"The questions were not drawn at random: {'; '.join(design.why)}.",
        "Shares of the answers speak for these questions only; what is said about all questions "
        "rests on the choice model.",
        "Ask random triples of objects, different ones of each rater.",
    )


def _wrong(rate: float, low: float, high: float) -> Said:
    return (
        f"About {rate:.0%} of the answers seem to be wrong (between {low:.0%} and {high:.0%}).",
        "Results that rest on few answers are uncertain.",
        "Look at who answered, and rely on results that come with an interval.",
    )


def _most_guess(share: float, unit: str, noise: bool) -> Said:
    return (
        f"About {share:.0%} of the {unit}s seem careless: their answers look like guesses.",
        "Perhaps all of them are: no answers could be predicted from the others."
        if noise
        else f"The findings rest on the other {unit}s alone, and some careless ones may still be "
        "among them.",
        f"Find out how the {unit}s were recruited; exclude the careless ones, and ask others.",
    )


def _guessing(raters: int, unit: str) -> Said:
    return (
        f"The answers of {counted(raters, unit)} fit those of the others no better than guesses, "
        "and do not go together with each other either.",
        "They blur every result.",
        f"Look at {_these(raters, unit)}, and run the analysis again without them.",
    )


def _same_place(raters: int, unit: str) -> Said:
    return (
        f"{counted(raters, unit)} mostly chose the same place on the screen.",
        "Such answers do not depend on the objects.",
        f"Run the analysis again without {_these(raters, unit)}.",
    )


def _one_rater(share: float, unit: str) -> Said:
    return (
        f"One {unit} gave {share:.0%} of the answers.",
        f"What holds for all answers holds mostly for that {unit}; for other {unit}s it is less "
        "certain than so many answers suggest.",
        f"Ask more {unit}s, or compare with the results without this one.",
    )


def _differs(raters: int, unit: str) -> Said:
    return (
        f"{counted(raters, unit)} {'sees' if raters == 1 else 'see'} it differently: these "
        f"answers do not fit those of the others, but they are no guesses.",
        "One map for all does not show what they see.",
        "Do not exclude them for that; look at them by themselves (trilens individuals).",
    )


def _inverted(raters: int, unit: str) -> Said:
    return (
        f"{counted(raters, unit)} answered the opposite of the others.",
        "The question was probably misread.",
        f"Ask {_these(raters, unit)}; turn the answers round, or exclude them.",
    )


def _unclear(raters: int, unit: str) -> Said:
    return (
        f"{counted(raters, unit)} {'does' if raters == 1 else 'do'} not fit the others.",
        "There are too few answers to tell carelessness from another view.",
        "Do not exclude them for that; ask them more questions, some of them twice.",
    )


def _contradictions(agreement: float, questions: int, chance: float) -> Said:
    return (
        f"Two answers to the same question agree in {agreement:.0%} of cases ({questions:,} "
        f"questions, each counted once); guesses would agree in {chance:.0%}.",
        "Raters differ, or the questions are hard: a single answer says little.",
        "Rely on results that rest on many answers, and treat close calls as ties.",
    )


def _these(raters: int, unit: str) -> str:
    return f"this {unit}" if raters == 1 else f"these {unit}s"


_CAUTIONS: dict[str, Callable[..., Said]] = {
    "no-statements": _no_statements,
    "counted": _not_held,
    "kind": _kind,
    "pooled": _pooled,
    "unseen": _unseen,
    "rare": _rare,
    "apart": _apart,
    "copies": _copies,
    "noise": _noise,
    "design": _design,
    "wrong": _wrong,
    "most-guess": _most_guess,
    "guessing": _guessing,
    "same-place": _same_place,
    "one-rater": _one_rater,
    "differs": _differs,
    "inverted": _inverted,
    "unclear": _unclear,
    "contradictions": _contradictions,
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
        number = "no question was" if not test.shared else f"only {test.shared} questions were"
        if test.shared == 1:
            number = "only one question was"
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


def few_objects_to_choose_by(objects: int, needed: int) -> str:
    """Why all questions are drawn at random."""
    return (
        f"{objects:,} objects are too few to choose by, which needs {needed:,}: all questions are "
        f"drawn at random"
    )


def few_answers_to_choose_by(answers: int, objects: int, needed: int) -> str:
    """Why all questions are drawn at random."""
    return (
        f"{answers:,} answers about {objects:,} objects are too few to choose by, which needs "
        f"{needed:,}: all questions are drawn at random"
    )


def choosing_gains_little(wrong: float, per_object: int, answers: int) -> str:
    """That chosen questions may be no better than random ones."""
    return (
        f"about {wrong:.0%} of the answers are wrong: in trials with so many, chosen questions of "
        f"kind closer told no more than random ones until there were {per_object} answers for each "
        f"object, here {answers:,}"
    )


def random_ones_are_left_over(asked: int, possible: int) -> str:
    """That questions that are drawn at random are no random ones any more."""
    return (
        f"{asked:,} of all {possible:,} questions have been asked: those drawn at random are now "
        f"what the chosen ones left, so that depths by counting are off; for a given rater a "
        f"question may come again"
    )


# ---- stopping ---------------------------------------------------------------------------------


def stopping(found: Stopping) -> tuple[str, str]:
    """What a rule saw, and what it takes to go on."""
    why = _SEEN[found.rule](found) if found.look or found.rule == "price" else ""
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


def _seen_of_medoid(found: Stopping) -> str:
    return (
        f"{len(found.candidates):,} of {found.objects:,} objects could be the most central; the "
        f"rule allows {found.limit:,.0f}"
    )


def _seen_of_map(found: Stopping) -> str:
    return (
        f"1,000 more answers would raise the share of predicted answers by about "
        f"{max(found.expected or 0.0, 0):.4f}, at most {found.value:.4f}; the limit is "
        f"{found.limit:g}"
    )


def _seen_of_groups(found: Stopping) -> str:
    now, before = int(found.value or 0), found.before
    if found.stop:
        return f"{now} groups, at this look and the one before"
    if now == 1:
        return "no groups stand out so far; that there are none is never certain"
    if before is None:
        return f"{now} groups, at this look only"
    was = f"{before} groups" if before > 1 else "none"
    return f"{now} groups at this look, {was} at the one before"


def _seen_of_price(found: Stopping) -> str:
    return (
        f"{found.answers:,} answers at {found.price:g} cost {found.value:,.2f} of "
        f"{found.limit:,.2f}"
    )


_SEEN: dict[str, Callable[[Stopping], str]] = {
    "medoid": _seen_of_medoid,
    "map": _seen_of_map,
    "groups": _seen_of_groups,
    "price": _seen_of_price,
}


# ---- outliers and groups ------------------------------------------------------------------------

#: What the answers cannot tell about groups, or why a map is not divided.
GROUP_NOTES = {
    "line": "the objects lie along a line without a gap: to divide them would be arbitrary",
    "ring": "the objects lie on a ring without a gap: to divide them would be arbitrary",
    "arms": "the objects lie on arms that meet: to call the arms groups would be arbitrary",
    "no dip": (
        "the objects seem to fall into parts, but a lopsided or curved whole would look the same: "
        "groups are not claimed"
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


def about_outliers(why: Reason | None) -> str | None:
    """Why nothing can be said about outliers; None where something can."""
    return None if why is None else f"outliers cannot be determined: {REASONS[why]}"


def about_groups(why: Reason | None, notes: Sequence[str]) -> str | None:
    """What cannot be determined about groups; None where nothing needs to be said.

    >>> about_groups("no answers", ())
    'whether there are groups cannot be determined: there are no answers'
    """
    said = [] if why is None else [f"whether there are groups cannot be determined: {REASONS[why]}"]
    said += [GROUP_NOTES[note] for note in notes]
    return "; ".join(said) or None


def about_shape(why: Reason) -> str:
    """Why the shape of the objects cannot be determined."""
    return f"the shape that the objects form cannot be determined: {REASONS[why]}"


def about_aside(names: Sequence[str]) -> str:
    """That some objects are in no group.

    >>> about_aside(["a"])
    'One object stands apart: a.'
    """
    if len(names) == 1:
        return f"One object stands apart: {names[0]}."
    return f"{len(names)} objects stand apart: {listed(names)}."


def about_tree(
    why: Reason | None,
    known: bool,
    shape: str | None,
    branches: int,
    claimed: int | None,
    level: float,
) -> str:
    """What is claimed of the branches of a tree.

    Parameters
    ----------
    why
        Why nothing can be claimed.
    known
        Whether the support of the branches is known.
    shape
        The sentence about the shape of the objects.
    branches, claimed
        How many there are; None are claimed where the objects do not form groups.
    level
        The support from which on a branch is claimed.
    """
    if why is not None:
        return f"No branch is claimed: {REASONS[why]}."
    if not known:
        return "No branch is claimed: its support is not known without a model of the answers."
    if claimed is None:
        return f"No branch is claimed. {shape} A tree is only one way to draw them."
    them = "it" if claimed == 1 else "them"
    return (
        f"{shape} Of the {branches:,} branches of the tree, {claimed:,} "
        f"{'is' if claimed == 1 else 'are'} well supported: at least {level:.0%} of the maps that "
        f"the answers allow have {them}."
    )
