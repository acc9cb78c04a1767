"""The findings in plain sentences, with every name of an object marked as a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

#: How the page speaks of the kinds of question.
QUESTIONS = {
    "central": "Which of the three is the most central?",
    "odd": "Which of the three is the odd one out?",
    "closer": "Which of the two is closer to the first?",
}
#: What the share is called by which an object is central.
DEPTH = {"central": "lens depth", "odd": "centrality", "closer": "rank centrality"}
EXPECTED = {
    "central": "By the model it is the most central in {:.0f}% of all questions that can show it.",
    "odd": "By the model it is not the odd one in {:.0f}% of all questions that can show it.",
    "closer": "By the model it is the nearer one in {:.0f}% of all comparisons with another.",
}
COUNTED = {
    "central": "It was chosen in {:.0f}% of the questions that showed it.",
    "odd": "It was not the odd one in {:.0f}% of the questions that showed it.",
    "closer": "It was the nearer one in {:.0f}% of its comparisons with another.",
}
#: The same in words: what the number beside an object is.
SHARE = {
    "central": "of its questions call it the most central",
    "odd": "of its questions do not call it the odd one",
    "closer": "of its comparisons call it the nearer one",
}
SHARE_OF = {
    "central": "the share of its questions in which it was chosen",
    "odd": "the share of its questions in which it was not the odd one",
    "closer": "the share of its comparisons in which it was the nearer one",
}
METHODS = {
    "krng": "neighbours",
    "depth": "centrality in each class",
    "lensmap": "nearest labelled objects on the map",
    "choice": "nearest labelled objects on the map",
}
#: The terms for these.
_CLASSIFIED = {
    "krng": "Majority of the neighbours in the k-RNG (Algorithm 4)",
    "depth": "k nearest neighbours by the depth in each class (Algorithm 3)",
    "lensmap": "A classifier on the lens map",
    "choice": "A classifier on the choice map",
}
#: What a caution is about, and the same as a part of a sentence.
_ABOUT = {
    "no-statements": ("About the answers", "there are none"),
    "unseen": ("About the objects", "objects that nobody was asked about"),
    "rare": ("About the objects", "objects that few were asked about"),
    "apart": ("About the objects", "parts that no answer connects"),
    "noise": ("About the answers", "answers like guesses"),
    "wrong": ("About the answers", "many wrong answers"),
    "guessing": ("About the {}s", "{}s who seem to guess"),
    "most-guess": ("About the {}s", "most {}s seem to guess"),
    "copies": ("About the answers", "every row stands there several times"),
    "same-place": ("About the {}s", "{}s who choose one place on the screen"),
    "contradictions": ("About the answers", "answers that contradict each other"),
    "medoid-open": ("About the most central object", "which object is the most central"),
    "counted": ("About this report", "what counts of very large files do not tell"),
}
MAPS = {"choice": "choice map", "lensmap": "lens map"}
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def name(text: str) -> Markup:
    """An object's name inside a sentence: text of its own direction, cut where it is too long."""
    short = text if len(text) <= 60 else text[:59] + "…"
    shown = Markup("<bdi>{}</bdi>").format(short)
    return Markup("object {}").format(shown) if text.isdigit() else shown


def names(listed: Sequence[str], most: int = 6) -> Markup:
    """Several names: a, b and c; after ``most`` of them, how many more."""
    shown = [Markup("<bdi>{}</bdi>").format(x if len(x) <= 40 else x[:39] + "…") for x in listed]
    if len(shown) > most:
        shown = [*shown[: most - 1], Markup(f"{len(listed) - most + 1:,} more")]
    if len(shown) <= 1:
        return Markup("").join(shown)
    return Markup(", ").join(shown[:-1]) + " and " + shown[-1]


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: one object, 12 objects.

    >>> count(1, "object"), count(12, "class", "classes")
    ('one object', '12 classes')
    """
    shown = _SMALL[number] if 0 <= number < len(_SMALL) else f"{number:,}"
    return f"{shown} {noun if number == 1 else plural or noun + 's'}"


def capital(text: Markup | str) -> Markup:
    """The sentence with a capital; a name at its start stays as it is."""
    return Markup(str(text)[:1].upper() + str(text)[1:])


def collected(facts: dict[str, Any]) -> Markup:
    """Finding of section 1."""
    c, r = facts["describe"], facts["reliability"]
    seen = c["appearances"]
    answers, times = c["statements"], "once" if seen["max"] == 1 == seen["min"] else None
    sentence = Markup(
        f"{answers:,} {'answer' if answers == 1 else 'answers'} about "
        f"{count(c['objects'], 'object')}; each object was asked about "
        f"{times or _range(seen['min'], seen['max']) + ' times'}."
    )
    if r["predicted"] is not None:
        sentence += (
            f" Part of the answers predicts {r['predicted']:.0%} of the others, where guessing "
            f"would get {r['chance']:.0%}."
        )
    cautions = len(r["cautions"])
    if cautions:
        verb = "limits" if cautions == 1 else "limit"
        sentence += f" {count(cautions, 'thing').capitalize()} {verb} what can be concluded."
    return sentence


def about(code: str, unit: str = "rater") -> str:
    """What a caution is about."""
    return _ABOUT.get(code, ("About the answers", ""))[0].format(unit)


def cautions(facts: dict[str, Any]) -> Markup:
    """The cautions in one sentence, each by what it is about."""
    given = facts["reliability"]["cautions"]
    unit = facts["reliability"]["rater_unit"] or "rater"
    if not given:
        return Markup("No cautions.")
    told = [_ABOUT.get(each["code"], ("", ""))[1].format(unit) or each["what"] for each in given]
    start = count(len(given), "caution").capitalize()
    return Markup("{}: {}.").format(start, "; ".join(text.rstrip(".") for text in told))


def medoid(facts: dict[str, Any]) -> Markup:
    """Finding of section 2."""
    m = facts["medoid"]
    if facts["describe"]["statements"] == 0:
        return Markup("There are no answers, so nothing can be said.")
    if any(caution["code"] == "apart" for caution in facts["reliability"]["cautions"]):
        return Markup(
            "The objects fall into parts that no answer connects, so there is no most central one "
            "of all. {} comes first by its own part."
        ).format(capital(name(m["medoid"])))
    others = [x for x in m["candidates"] if x != m["medoid"]]
    n = facts["describe"]["objects"]
    level = f"{m['level']:.0%}"
    if not m["stands_out"]:
        return Markup(
            "No object stands out as the most central: at {} confidence {} of {} may be it. {} "
            "comes first in these answers."
        ).format(level, f"{len(m['candidates']):,}", f"{n:,}", capital(name(m["medoid"])))
    close = [x for x in m.get("close", ()) if x != m["medoid"]]
    if close and len(close) <= 3:
        first = Markup("{} are level as the most central").format(names([m["medoid"], *close]))
        rest = len(others) - len(close)
        tail = f"; {count(rest, 'other')} may be it at {level} confidence." if rest > 0 else "."
        return capital(first) + tail
    first = capital(name(m["medoid"])) + " is the most central"
    if not others:
        return first + f", and at {level} confidence no other object is."
    told = "cannot be told apart from it"
    if len(others) <= 3:
        return first + "; " + names(others) + f" {told}."
    return first + f"; {count(len(others), 'other')} {told} at {level} confidence."


def outliers(facts: dict[str, Any]) -> Markup:
    """Finding of section 3."""
    o = facts["outliers"]
    listed = [row["object"] for row in o["outliers"]]
    if facts["describe"]["statements"] == 0:
        return Markup("There are no answers, so nothing can be said.")
    if o["caution"] is not None:
        return Markup("{}").format(_sentence(o["caution"]))
    if not listed:
        least = names(o["least_central"][:4])
        return Markup("No object stands apart beyond chance. Least typical: {}.").format(least)
    verb = "stands" if len(listed) == 1 else "stand"
    start = count(len(listed), "object").capitalize()
    return Markup("{} {} apart from the rest: {}.").format(start, verb, names(listed, 8))


def outlier_rule(facts: dict[str, Any]) -> str:
    """What "stands apart" means."""
    if facts["outliers"]["caution"] is not None:
        return "The objects are ranked by how little they fit the others; that claims nothing."
    return (
        "An object stands apart when at most one cloud in twenty without outliers, of as many "
        "objects and answers, shows as much. That holds of them together: of several, those listed "
        "last are the least sure."
    )


def clusters(facts: dict[str, Any]) -> Markup:
    """Finding of section 4."""
    c = facts["cluster"]
    suggested = c["suggestion"]["n_clusters"] if c["suggestion"] else None
    if facts["describe"]["statements"] == 0:
        return Markup("There are no answers, so nothing can be said.")
    if c["n_clusters"] <= 1 and not c["given"] and c["suggestion"]:
        if c["suggestion"]["p_value"] is None:
            said = c["suggestion"]["caution"] or "whether there are groups cannot be told"
            return Markup("{}").format(_sentence(said))
        return Markup(
            "The answers do not divide the objects into separate groups: the map is one cloud."
        )
    sizes = ", ".join(str(group["size"]) for group in c["groups"])
    if c["given"]:
        said = (
            "as asked for"
            if suggested is None
            else "as the answers suggest"
            if suggested == c["n_clusters"]
            else "as asked for; the answers suggest none"
            if suggested == 1
            else f"as asked for; the answers suggest {count(suggested, 'group')}"
        )
        start = f"{count(c['n_clusters'], 'group').capitalize()} of {sizes} objects, {said}"
    else:
        start = f"The objects form {count(c['n_clusters'], 'group')}, of {sizes} objects"
    kept = c["agreement"]
    if kept is None:
        return Markup(f"{start}.")
    how = (
        "They hardly change"
        if kept >= 0.85
        else "They change a little"
        if kept >= 0.6
        else "They change much"
    )
    return Markup(f"{start}. {how} when the answers are drawn anew (agreement {kept:.2f} of 1).")


def how_many(facts: dict[str, Any]) -> str:
    """What speaks for the number of groups."""
    s = facts["cluster"]["suggestion"]
    if s and s["p_value"] is None and s["caution"]:
        return _sentence(s["caution"])
    if not s:
        return "How many groups there are was not looked at."
    if not s["candidates"]:
        return "There is too little to divide."
    if s["p_value"] is None:
        return "Whether there are groups cannot be told."
    if s["n_clusters"] > 1:
        said = (
            f"The answers suggest {count(s['n_clusters'], 'group')}: of clouds without groups at "
            f"most one in twenty falls apart so clearly."
        )
    elif s["p_value"] <= 0.2:
        said = (
            f"The best division, into {s['best']}, is clearer than those of most clouds without "
            f"groups, but {s['p_value']:.0%} of them are divided as clearly: too many to say that "
            f"there are groups."
        )
    else:
        said = (
            f"The best division, into {s['best']}, is no clearer than those of clouds without "
            f"groups."
        )
    return said if s["caution"] is None else f"{said} {_sentence(s['caution'])}"


def classes(facts: dict[str, Any]) -> Markup:
    """Finding of section 5."""
    c = facts["classify"]
    sentence = Markup(
        f"With its label hidden and classified by its {METHODS.get(c['method'], c['method'])}, an "
        f"object gets the wrong class in {c['error']:.0%} of the cases; always naming the largest "
        f"class would in {c['baseline']:.0%}."
    )
    wrong = c["contradicted"]
    known = sum(c["classes"].values())
    if not c["learnable"] and c["error"] < c["baseline"]:
        sentence += (
            f" With {count(known, 'label')} that may be chance: either the labels cannot be learnt "
            "from the answers, or they are too few to tell. What is predicted below are guesses."
        )
    elif not c["learnable"]:
        sentence += (
            " So the labels cannot be learnt from the answers, and what is predicted below is no "
            "better than a guess."
        )
    elif wrong:
        sentence += " The answers contradict {} of {}.".format(
            count(len(wrong), "label"), sum(c["classes"].values())
        )
    else:
        sentence += " They contradict no label."
    if c["labels"]:
        sentence += f" {count(len(c['labels']), 'object').capitalize()} had no label and got one."
    return sentence


def methods(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """How each part was computed."""
    kind, m, k, g = facts["kind"], facts["medoid"], facts["cluster"], facts["graph"]
    counted = {
        "central": "Lens depth: the share of the answers about an object in which it is the most "
        "central one (Algorithm 1 of the paper).",
        "odd": "1 - P(odd): the share of the answers about an object in which it is not the odd "
        "one (Crowd-Median).",
        "closer": "Rank centrality: the share of its comparisons with another object in which it "
        "is the nearer one to the third (Rendsburg and Garreau, 2021).",
    }[kind]
    by = MAPS.get(m["method"])
    central = counted if by is None else f"{counted} The medoid is that of the {by}, a model of "
    if by is not None:
        central += "the answers fitted to all of them."
    edges = (
        f"the estimated k-RNG with k = {g['k']}, in {count(g['connected_parts'], 'connected part')}"
        if g["method"] == "krng"
        else f"the {g['k']} nearest objects on the map"
    )
    shown = MAPS.get(facts["map"]["method"], facts["map"]["method"])
    return [
        ("Most central", central),
        ("Outliers", f"By {MAPS.get(facts['outliers']['method'], facts['outliers']['method'])}."),
        ("Map", f"{capital(shown)} in the plane. Edges: {edges}."),
        (
            "Groups",
            f"Spectral clustering (Shi and Malik) of the symmetric k-NN graph of the "
            f"{MAPS.get(k['method'], k['method'])}, in {k['parameters'].get('dim')} dimensions.",
        ),
        *_classified(facts["classify"]),
        ("Version", f"trilens {facts['how']['version']}, seed {facts['how']['seed']}."),
    ]


def _classified(classes: dict[str, Any] | None) -> list[tuple[str, str]]:
    if classes is None:
        return []
    chosen = ", ".join(f"{key} = {value}" for key, value in classes["parameters"].items())
    how = _CLASSIFIED.get(classes["method"], classes["method"])
    return [("Classes", f"{how}; {chosen}." if chosen else f"{how}.")]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
