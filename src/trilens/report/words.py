"""The findings in plain sentences, with every object's name marked as a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from markupsafe import Markup

from trilens._tabular import shorten
from trilens.words import (
    LEAST_OF_ALL,
    LIE,
    MEASURE as MEASURE,
    OTHER_VIEWS,
    VERDICTS,
    best_division,
    count as count,
    listed,
    little_to_conclude,
    p_text,
    sentence as sentence,
    span as span,
    stand_apart,
    two_levels,
    unclear_class_medoids,
)

#: What ``--json`` prints, and the templates take.
Facts: TypeAlias = dict[str, Any]

#: How the page speaks of the kinds of question.
QUESTIONS = {
    "central": "Which of the three is the most central?",
    "odd": "Which of the three is the odd one out?",
    "closer": "Which of the two is closer to the first?",
}
#: Centrality as a number of an object, as the model estimates it, and as it was counted.
_ESTIMATED = {
    "central": "would be chosen in {} of all questions that can show it",
    "odd": "would not be the odd one out in {} of all questions that can show it",
    "closer": "would be the closer one in {} of all its comparisons with another object",
}
_COUNTED = {
    "central": "was chosen in {} of the questions that showed it",
    "odd": "was not the odd one out in {} of the questions that showed it",
    "closer": "was the closer one in {} of its comparisons with another object",
}
_CLASSIFIED = {
    "krng": "the majority of the neighbors in the k-RNG (Algorithm 4)",
    "depth": "the nearest by depth in each class (Algorithm 3)",
}
MAPS = {"choice": "choice map", "lensmap": "lens map"}
#: What a caution is about, as a part of a sentence.
_ABOUT = {
    "no-statements": "there are no answers",
    "kind": "which question was asked is assumed",
    "header": "the answers fit another question than the columns say",
    "unseen": "objects that nobody was asked about",
    "rare": "objects with few answers",
    "apart": "parts that no answer connects",
    "noise": "answers that cannot be distinguished from guesses",
    "wrong": "many wrong answers",
    "guessing": "careless {}s",
    "most-guess": "most {}s seem careless",
    "pooled": "conditions that are pooled",
    "copies": "every row occurs several times",
    "same-place": "{}s that mostly choose one place on the screen",
    "one-rater": "one {} gave a large part of the answers",
    "differs": "some {}s see it differently",
    "views": "{}s seem to see different things",
    "inverted": "some {}s answered the opposite",
    "unclear": "some {}s do not fit the others",
    "design": "questions that were not drawn at random",
    "contradictions": "two answers often differ",
    "counted": "what counts of very large files cannot show",
}
#: Names that a card has room for, and letters of one that need not be broken.
_MOST_NAMED, _SHORT = 5, 16
#: What is not told of answers that tell nothing of the objects.
_UNDETERMINED = {
    "medoid": "Which object is the most central cannot be determined.",
    "outliers": "Whether there are outliers cannot be determined.",
    "groups": "Whether there are groups cannot be determined.",
}


@dataclass(frozen=True)
class Finding:
    """One of the four findings."""

    title: str
    #: Where the page says more.
    section: str
    sentence: Markup
    #: How certain it is; empty where the sentence says it.
    sure: Markup = field(default_factory=Markup)
    #: Whom it is about.
    objects: tuple[str, ...] = ()


# ---- parts of sentences ---------------------------------------------------------------------


def fact(key: str, text: object) -> Markup:
    """A number that stands at several places of the page, marked by what it is.

    The same quantity has one value: a test compares all that have the same mark.
    """
    return Markup('<span data-fact="{}">{}</span>').format(key, text)


def name(text: str) -> Markup:
    """An object's name inside a sentence: text of its own direction, cut where it is too long."""
    shown = _bdi(text, 60)
    return Markup("object {}").format(shown) if text.isdigit() else shown


def names(given: Sequence[str], most: int = 6, last: str = "and") -> Markup:
    """Several names: a, b and c; after ``most`` of them, how many more."""
    shown = [_bdi(each, 40) for each in given[:most]]
    if len(given) > most:
        shown = [*shown[: most - 1], Markup(f"{len(given) - most + 1:,} more")]
    return _join(shown, last)


def _objects(given: Sequence[str]) -> Markup:
    """Some names inside a sentence; numbers are said to be objects."""
    if len(given) == 1:
        return name(given[0])
    said = Markup("objects ") if all(map(str.isdigit, given)) else Markup("")
    return said + names(given, _MOST_NAMED)


def percent(share: float, digits: int = 0) -> str:
    """A share for people: 7%, and never 0% or 100% of what is neither.

    >>> percent(0.0712), percent(0.9996), percent(0.0004), percent(1.0)
    ('7%', 'more than 99%', 'less than 1%', '100%')
    """
    shown = f"{share:.{digits}%}"
    if share < 1 and float(shown[:-1]) == 100:
        return f"more than {100 - 10.0**-digits:.{digits}f}%"
    if share > 0 and float(shown[:-1]) == 0:
        return f"less than {10.0**-digits:.{digits}f}%"
    return shown


def _p(value: float | None) -> str:
    """A p-value behind a sentence, on one line; nothing where there is none."""
    return (
        ""
        if value is None
        else f" ({p_text(value)})".replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    )


def capital(text: Markup | str) -> Markup:
    """The sentence with a capital; a name at its start stays as it is."""
    return Markup(str(text)[:1].upper() + str(text)[1:])


def _bdi(text: str, most: int) -> Markup:
    """A short name is not broken at its hyphens; one that is cut stands whole in its title."""
    if len(text) <= _SHORT:
        return Markup('<bdi class="nb">{}</bdi>').format(text)
    if len(text) <= most:
        return Markup("<bdi>{}</bdi>").format(text)
    return Markup('<bdi title="{}">{}</bdi>').format(text[:2000], shorten(text, most))


def _join(shown: Sequence[Markup], last: str = "and") -> Markup:
    if len(shown) <= 1:
        return Markup("").join(shown)
    return Markup(", ").join(shown[:-1]) + f" {last} " + shown[-1]


# ---- what can be said at all ----------------------------------------------------------------


def unsupported(facts: Facts) -> str | None:
    """The code of the reason why nothing is said of the objects; None where something is."""
    if facts["describe"]["statements"] < facts["describe"]["objects"]:
        return "few answers" if facts["describe"]["statements"] else "no answers"
    code: str | None = facts["support"]
    return code if code == "guesses" else None


def shape_of(facts: Facts) -> str | None:
    """The shape that the objects form; None where it is not told."""
    found = facts["structure"]
    if found is None or unsupported(facts):
        return None
    if found["shape"] == "cloud" and found["p_value"] is None and not _nearly(facts):
        return None
    shape: str = found["shape"]
    return shape


def _nearly(facts: Facts) -> bool:
    """Whether the objects divide more clearly than by chance, and yet into no groups."""
    suggestion = facts["cluster"]["suggestion"]
    return suggestion is not None and bool(suggestion["nearly"])


def is_ring(facts: Facts) -> bool:
    """Whether the objects lie on a ring, which has no middle."""
    return shape_of(facts) == "ring"


# ---- the headline and the four findings -----------------------------------------------------


def headline(facts: Facts) -> Markup:
    """What the answers say, in a sentence or two."""
    said = _headline(facts)
    far = [row["object"] for row in facts["outliers"]["outliers"]]
    if far and facts["outliers"]["p_value"] is not None and unsupported(facts) is None:
        said += Markup(" {} {}.").format(capital(_objects(far)), stand_apart(len(far)))
    return said + Markup(" {}").format(divided) if (divided := rater_groups(facts)) else said


def _headline(facts: Facts) -> Markup:
    code = unsupported(facts)
    answers, objects = facts["describe"]["statements"], facts["describe"]["objects"]
    if code == "no answers":
        return Markup("There are no answers yet.")
    if code == "few answers":
        return Markup("{} about {} {} too few to conclude anything.").format(
            capital(count(answers, "answer")),
            count(objects, "object"),
            "is" if answers == 1 else "are",
        )
    if facts["support"] not in (None, "few answers"):
        return Markup("{}").format(little_to_conclude(facts["support"]))
    shape, middle = shape_of(facts), _middle(facts)
    if shape in ("line", "ring", "arms"):
        return _lie(facts) + (
            ", so that none of them is the most central." if shape == "ring" else "."
        )
    number = facts["cluster"]["n_clusters"]
    if shape is not None and "groups" in shape and not facts["cluster"]["given"] and number > 1:
        form = f"The objects form {count(number, 'group')}"
        if shape == "groups in groups":
            levels = (facts["structure"][key].values() for key in ("group", "inner_group"))
            form = two_levels(*(len(set(level) - {-1}) for level in levels))
        return Markup("{}; {}.").format(form, middle)
    if shape is None:
        return capital(middle) + "."
    return capital(middle) + "; no groups could be confirmed."


def _middle(facts: Facts) -> Markup:
    m = facts["medoid"]
    if not m["stands_out"]:
        return Markup("no object stands out as the most central")
    if len(m["candidates"]) == 1:
        return Markup("{} is the most central").format(name(m["medoid"]))
    if close := _close(facts):
        return Markup("{} come out as the most central").format(_objects([m["medoid"], *close]))
    return Markup("{} comes out as the most central").format(name(m["medoid"]))


def _close(facts: Facts) -> list[str]:
    """The few others that are about as central as the first; empty where they are many."""
    m = facts["medoid"]
    close = [each for each in m.get("close", ()) if each != m["medoid"]]
    return close if len(close) <= 3 else []


def _lie(facts: Facts) -> Markup:
    """A line, a ring or arms."""
    found = facts["structure"]
    if found["shape"] == "line":
        ends = found["order"][0], found["order"][-1]
        straight = "one dimension" if facts["dimension"] == 1 else "a line"
        way = "a bent line" if found.get("bent") else straight
        return Markup(LIE["line"]).format(way=way, first=name(ends[0]), last=name(ends[1]))
    if found["shape"] == "ring":
        return Markup(LIE["ring"])
    outwards = {who: far for who, far in found["outwards"].items() if far is not None}
    inner = min(outwards, key=outwards.__getitem__)
    arms = count(len(set(found["arm"].values()) - {-1}), "arm")
    return Markup(LIE["arms"]).format(arms=arms, inner=name(inner))


def findings(facts: Facts) -> tuple[Finding, ...]:
    """What is most central, what stands apart, the groups or the shape, and how good it all is."""
    return medoid(facts), outliers(facts), shape(facts), answers(facts)


def medoid(facts: Facts) -> Finding:
    """The most central object."""
    if unsupported(facts) is not None:
        return _undetermined("Most central", "medoid")
    m, said = facts["medoid"], _middle(facts)
    sure, shown = Markup(""), tuple(m["candidates"])
    if any(caution["code"] == "apart" for caution in facts["reliability"]["cautions"]):
        said = Markup("none is the most central of all: no answer connects some of the objects")
        sure, shown = Markup("{} ranks first in its own part.").format(name(m["medoid"])), ()
    elif is_ring(facts):
        said = Markup("on a ring no object is the most central")
        sure, shown = Markup("Which one ranks first is a matter of chance."), ()
    else:
        sure = _candidates(facts)
        if m["stands_out"] and (close := _close(facts)):
            verb = "is" if len(close) == 1 else "are"
            said = Markup("{} ranks first; {} {} about equally central").format(
                name(m["medoid"]), _objects(close), verb
            )
    return Finding("Most central", "medoid", capital(said) + ".", sure, shown)


def _candidates(facts: Facts) -> Markup:
    m = facts["medoid"]
    level = fact("level", percent(m["level"]))
    listed_ = m["candidates"]
    if len(listed_) == 1:
        return Markup("No other object could be the most central ({} confidence).").format(level)
    if len(listed_) <= _MOST_NAMED:
        return Markup("With {} confidence, it is {}.").format(level, names(listed_, last="or"))
    number = fact("candidates", count(len(listed_), "object"))
    return Markup("With {} confidence, it is one of {}.").format(level, number)


def unclear_classes(facts: Facts) -> str:
    """Of which classes it cannot be told which object is the most central."""
    classes = facts["medoid"]["per_class"]
    unclear = [shorten(label, 40) for label, one in classes.items() if not one["stands_out"]]
    return sentence(unclear_class_medoids(unclear)) if unclear else ""


def outliers(facts: Facts) -> Finding:
    """What stands apart."""
    o = facts["outliers"]
    if unsupported(facts) is not None:
        return _undetermined("Outliers", "outliers")
    if o["caution"] is not None:
        return Finding("Outliers", "outliers", Markup("{}").format(sentence(o["caution"])))
    found = tuple(row["object"] for row in o["outliers"])
    p = _p(o["p_value"])
    said = Markup("No outlier could be confirmed")
    sure = Markup("The farthest out could be chance{}.").format(p)
    shown = () if is_ring(facts) else tuple(o["least_central"])
    if found:
        number = fact("outliers", count(len(found), "object").capitalize())
        verb = stand_apart(len(found))
        said = Markup("{} {}: {}").format(number, verb, names(found, _MOST_NAMED))
        sure, shown = Markup("Rare by chance{}.").format(p), found
    elif o["tail"] is not None:
        said = Markup("The objects thin out into a long tail; no outlier could be confirmed")
        sure = Markup("No gap sets its end apart{}.").format(p)
        shown = tuple(o["tail"])
    if not found and o["clearly_least"] is not None:
        least = capital(name(o["clearly_least"]))
        sure += Markup(" {}.").format(Markup(LEAST_OF_ALL).format(least))
    return Finding("Outliers", "outliers", said + ".", sure, shown)


def shape(facts: Facts) -> Finding:
    """The groups, or the shape that the objects form."""
    c, found = facts["cluster"], shape_of(facts)
    p = _p(c["p_value"])
    title, shown = "Groups", ()
    if c["given"]:
        said, sure = _sizes(facts) + ", as requested.", Markup("{}").format(_suggested(facts))
    elif unsupported(facts) is not None:
        return _undetermined("Groups", "groups")
    elif found in ("line", "ring", "arms"):
        title = "Shape"
        said = Markup("The objects form {}.").format(
            {"line": "a line", "ring": "a ring", "arms": "arms"}[found]
        )
        sure = Markup(
            "The answers need no second dimension."
            if facts["dimension"] == 1
            else "This describes the map better than a cloud or groups would."
        )
    elif c["n_clusters"] > 1:
        said = _sizes(facts) + "."
        sure = Markup("Rare by chance{}.{}").format(p, _again(facts))
    elif c["p_value"] is None:
        said, sure = Markup("{}").format(_untold(facts)), Markup("")
    else:
        looked = "" if found is None else ", and no line or ring"
        said = Markup("No groups could be confirmed{}.").format(looked)
        sure = Markup("The clearest division could be chance{}.").format(p)
    if found == "ring" or found == "line":
        shown = tuple(facts["structure"]["order"])
    return Finding(title, "groups", said, sure, shown)


def _undetermined(title: str, section: str) -> Finding:
    return Finding(title, section, Markup(_UNDETERMINED[section]))


def _sizes(facts: Facts) -> Markup:
    c = facts["cluster"]
    sizes = _join([Markup(f"{group['size']:,}") for group in c["groups"]])
    number = fact("groups", count(c["n_clusters"], "group").capitalize())
    alone = sum(row["cluster"] < 0 for row in facts["objects"])
    rest = f"; {count(alone, 'object')} in none of them" if alone else ""
    return Markup("{}, of {} objects{}").format(number, sizes, rest)


def _untold(facts: Facts) -> str:
    s = facts["cluster"]["suggestion"]
    return sentence(s["caution"]) if s and s["caution"] else _UNDETERMINED["groups"]


def _suggested(facts: Facts) -> str:
    s = facts["cluster"]["suggestion"]
    if s is None or s["p_value"] is None:
        return _untold(facts)
    suggested = "none" if s["n_clusters"] == 1 else count(s["n_clusters"], "group")
    if s["n_clusters"] == facts["cluster"]["n_clusters"]:
        suggested = "the same number"
    return f"The answers suggest {suggested}{_p(s['p_value'])}."


def _again(facts: Facts) -> str:
    """Which groups are found again in resampled answers."""
    stable = [group["stability"] for group in facts["cluster"]["groups"]]
    if not stable or None in stable:
        return ""
    kinds = [stability(value) for value in stable]
    again = "when the answers are resampled"
    if kinds.count("stable") == len(kinds):
        return f" {'Both' if len(kinds) == 2 else 'All'} reappear {again}."
    if "dissolves" in kinds:
        gone = kinds.count("dissolves")
        return f" {gone:,} of them {'dissolves' if gone == 1 else 'dissolve'} {again}."
    number = kinds.count("stable")
    return f" {number:,} of them {'reappears' if number == 1 else 'reappear'} {again}."


def stability(value: float) -> str:
    """What becomes of a group when the answers are resampled (Hennig, 2007)."""
    return "stable" if value >= 0.75 else "uncertain" if value >= 0.5 else "dissolves"


def answers(facts: Facts) -> Finding:
    """How good the answers are."""
    r, said = facts["reliability"], Markup("How many answers could be predicted is not known.")
    if r["predicted"] is not None:
        features = ", without the features," if facts["features"] else ""
        said = Markup("A map of some answers{} predicts {} of the others (guessing: {}).").format(
            features,
            fact("predicted", percent(r["predicted"])),
            fact("chance", percent(r["chance"])),
        )
    return Finding("How good the answers are", "answers", said, cautions(facts))


def cautions(facts: Facts, pictures: int = 0) -> Markup:
    """The cautions in one sentence, each by what it is about; some ``pictures`` may be missing."""
    unit = unit_of(facts)
    told = [
        _ABOUT[each["code"]].format(unit) if each["code"] in _ABOUT else each["what"].rstrip(".")
        for each in facts["reliability"]["cautions"]
    ]
    told += ["pictures that cannot be shown"] if pictures else []
    if not told:
        return Markup("No fault was found in them.")
    start = fact("cautions", count(len(told), "caution").capitalize())
    return Markup("{}: {}.").format(start, listed(told, 3))


def unit_of(facts: Facts) -> str:
    """Who gave the answers: a rater, or a round."""
    unit: str = facts["reliability"]["rater_unit"] or "rater"
    return unit


def rater_groups(facts: Facts) -> str:
    """That raters fall into groups; empty where they do not."""
    people, unit = facts["individuals"], unit_of(facts)
    if people is None or not people["groups"]:
        return ""
    number = count(len(people["groups"]), "group")
    return f"The {unit}s fall into {number} that see different things; these findings mix them."


# ---- sentences of the sections --------------------------------------------------------------


def centrality(facts: Facts, i: int) -> Markup:
    """How central an object is, with the interval."""
    row, m = facts["objects"][i], facts["medoid"]
    share = fact(f"object.{i}.depth", percent(row["depth"]))
    kind, who = facts["kind"], capital(name(row["object"]))
    interval = f"{percent(m['level'])} interval: {span(row['low'], row['high'])}"
    if m["method"] != "choice":
        said = Markup(_COUNTED[kind]).format(share)
        return Markup("{} {} ({}).").format(who, said, interval)
    said = Markup(_ESTIMATED[kind]).format(share)
    return Markup("{} {} (model estimate; {}).").format(who, said, interval)


def counted(facts: Facts, i: int) -> Markup:
    """How central an object is by counting alone."""
    row = facts["objects"][i]
    share = fact(f"object.{i}.counted", percent(row["counted"]))
    asked = count(row["appearances"], "question")
    said = Markup(_COUNTED[facts["kind"]]).format(share)
    return Markup("By counting alone, it {}; it appeared in {}.").format(said, asked)


def apart(facts: Facts) -> Markup:
    """Who lies farthest out."""
    o = facts["outliers"]
    if not o["outliers"] and is_ring(facts):
        return Markup("On a ring no object is farther out than the others.")
    if not o["outliers"]:
        return Markup("Farthest from the others: {}.").format(names(o["least_central"], 8))
    first = o["outliers"][0]
    if o["method"] == "depth":
        return Markup("Farthest out: {}.").format(
            names([row["object"] for row in o["outliers"]], 8)
        )
    return Markup("{} has the highest local outlier factor, {:.1f} (about 1 is usual).").format(
        capital(name(first["object"])), -first["score"]
    )


def outlier_rule(facts: Facts) -> str:
    """What "stands apart" means."""
    if facts["outliers"]["caution"] is not None:
        return "The objects are ranked by how little they fit the others; nothing more is claimed."
    return (
        "An object is said to stand apart when at most one in twenty simulated collections without "
        "outliers has one as far from all others. The collections have as many objects and "
        "answers, and may have groups. This holds for the list as a whole: of several objects, "
        "those listed last are the least certain. Where the objects thin out into a long tail, its "
        "end may be listed as well: it does lie far out."
    )


def division(facts: Facts) -> Markup:
    """What speaks for the number of groups, or for the shape."""
    s = facts["cluster"]["suggestion"]
    if shape_of(facts) in ("line", "ring", "arms"):
        return _lie(facts) + "."
    if unsupported(facts) or not s or not s["candidates"]:
        return Markup("Nothing is claimed here.")
    if s["p_value"] is None:
        best = sentence(best_division(s["best"])) if s["nearly"] else "Nothing is claimed here."
        return Markup("{}").format(best)
    if s["n_clusters"] > 1:
        said = (
            "At most one in twenty simulated collections without groups divides as clearly as "
            f"these objects do into {s['n_clusters']}."
        )
    elif s["p_value"] <= 0.2:
        said = (
            f"The best division, into {s['best']}, is clearer than that of most collections "
            f"without groups, but {percent(s['p_value'])} of them divide as clearly: too many to "
            f"claim groups."
        )
    else:
        said = (
            f"The best division, into {s['best']}, is no clearer than that of objects without "
            f"groups."
        )
    return Markup("{}").format(said if s["caution"] is None else f"{said} {sentence(s['caution'])}")


def classes(facts: Facts) -> Markup:
    """How far the labels fit the answers."""
    c = facts["classify"]
    known = sum(c["classes"].values())
    said = (
        f"With its label hidden, an object gets the wrong class in {c['error']:.0%} of cases; "
        f"always choosing the largest class would be wrong in {c['baseline']:.0%}."
    )
    if not c["learnable"]:
        few = c["error"] < c["baseline"]
        why = f"with {count(known, 'label')} this may be chance: " if few else ""
        said += (
            f" {sentence(f'{why}the labels cannot be learned from the answers')} Predictions are "
            f"no better than guesses."
        )
    elif c["contradicted"]:
        said += f" The answers contradict {count(len(c['contradicted']), 'label')} out of {known}."
    else:
        said += " The labels agree with the answers."
    return Markup("{}").format(said)


def probability(row: Facts) -> str:
    """How probable the class of an object is; empty where that is not known."""
    share = row.get("probability")
    return "" if share is None else f" ({percent(share)})"


def remark(rater: Facts) -> str:
    """What stands out about a rater."""
    told = [VERDICTS[rater["verdict"]]] if rater["verdict"] in VERDICTS else []
    told += ["mostly one place"] if rater["one_place"] else []
    return ", ".join(told)


def guesses(rater: Facts) -> str:
    """How many of a rater's answers seem to be careless."""
    if rater["verdict"] in OTHER_VIEWS or rater["blind"] is None:
        return "\N{EN DASH}"
    sure = span(rater["blind_low"], rater["blind_high"])
    return f"{percent(rater['blind'])} ({sure})" if sure[0].isdigit() else sure


def object_remark(facts: Facts, row: Facts) -> str:
    """What stands out about an object."""
    if row["outlier"]:
        return "stands apart"
    if is_ring(facts) or unsupported(facts):
        return ""
    if row["object"] == facts["medoid"]["medoid"]:
        return "most central" if len(facts["medoid"]["candidates"]) == 1 else "ranks first"
    return "could be the most central" if row["maybe_medoid"] else ""


def about_object(facts: Facts, row: Facts) -> list[str]:
    """The lines of the box that an object on the map shows."""
    sure = span(row["low"], row["high"], 1)
    lines = [f"centrality {100 * row['depth']:.1f}% ({sure})"]
    if facts["cluster"]["n_clusters"] > 1:
        stays = "" if row["stays"] is None else f" (in {row['stays']:.0%} of resamples)"
        lines.append("in no group" if row["cluster"] < 0 else f"group {row['cluster'] + 1}{stays}")
    if row.get("class") is not None:
        lines.append(f"class {row['class']}")
    elif "answers_say" in row:
        lines.append(f"predicted class {row['answers_say']}")
    return [*lines, f"in {count(row['appearances'], 'answer')}"]


def halves(reliability: float) -> str:
    """How alike two halves of the answers order the objects.

    >>> halves(0.9), halves(-0.07)
    ('very similarly', 'differently')
    """
    steps = ((0.8, "very similarly"), (0.5, "similarly"), (0.2, "only roughly alike"))
    return next((said for least, said in steps if reliability > least), "differently")


# ---- methods ----------------------------------------------------------------------------------


def methods(facts: Facts) -> str:
    """The paragraph for the Methods section of a paper."""
    return " ".join([facts["reliability"]["methods"], *_methods(facts)])


def _methods(facts: Facts) -> Iterator[str]:
    m, o, c = facts["medoid"], facts["outliers"], facts["cluster"]
    lens = "lens depth, " if facts["kind"] == "central" else ""
    by = "estimated by a choice model of all answers" if m["method"] == "choice" else "counted"
    yield f"Centrality is {lens}{MEASURE[facts['kind']]}, {by}."
    if facts["dimension"] is not None:
        yield (
            f"The choice map has {count(facts['dimension'], 'dimension')}, the number that "
            f"maximizes the evidence."
        )
    told = unsupported(facts) is None
    if told and o["caution"] is None and o["p_value"] is not None:
        yield (
            f"Outliers were tested against simulated collections without any "
            f"({p_text(o['p_value'])})."
        )
    if told and c["p_value"] is not None:
        yield (
            f"Groups were tested against simulated collections without groups "
            f"({p_text(c['p_value'])})."
        )
    if c["n_clusters"] > 1:
        yield (
            f"Groups are by spectral clustering of the nearest neighbors on the "
            f"{MAPS.get(c['method'], c['method'])}."
        )
    if facts["classify"] is not None:
        how = facts["classify"]["method"]
        by = _CLASSIFIED.get(how, f"a classifier on the {MAPS.get(how, how)}")
        p = p_text(facts["classify"]["p_value"])
        yield f"Classes are by {by}; the error was measured on hidden labels ({p})."
    yield f"The seed of all random numbers was {facts['how']['seed']}."
