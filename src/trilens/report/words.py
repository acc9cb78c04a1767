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
METHODS = {
    "lensmap": "nearest labelled objects on the lens map",
    "krng": "neighbours in the k-RNG (Algorithm 4)",
    "depth": "depth in each class (Algorithm 3, k-NN)",
}
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
    c = facts["collected"]
    seen = c["appearances"]
    sentence = Markup(
        f"{c['statements']:,} answers about {count(c['objects'], 'object')}; each object was "
        f"asked about {_range(seen['min'], seen['max'])} times."
    )
    if c["predicted"] is not None:
        sentence += (
            f" Part of the answers predicts {c['predicted']:.0%} of the others, where guessing "
            f"would get {c['chance']:.0%}."
        )
    cautions = len(c["cautions"])
    if cautions:
        verb = "limits" if cautions == 1 else "limit"
        sentence += f" {count(cautions, 'thing').capitalize()} {verb} what can be concluded."
    else:
        sentence += " Nothing in the data speaks against the conclusions below."
    return sentence


def medoid(facts: dict[str, Any]) -> Markup:
    """Finding of section 2."""
    m = facts["medoid"]
    others = len(m["set"]) - 1
    first = capital(name(m["object"])) + " is the most central"
    if others == 0:
        return first + f", and at {m['level']:.0%} confidence no other object is."
    told = "cannot be told apart from it"
    if others <= 3:
        return first + "; " + names([x for x in m["set"] if x != m["object"]]) + f" {told}."
    return first + f"; {count(others, 'other')} {told} at {m['level']:.0%} confidence."


def outliers(facts: dict[str, Any]) -> Markup:
    """Finding of section 3."""
    o = facts["outliers"]
    listed = [row["object"] for row in o["objects"]]
    if not listed:
        least = names(o["least_central"][:4])
        return Markup("No object stands clearly apart. The least central are {}.").format(least)
    verb = "stands" if len(listed) == 1 else "stand"
    start = count(len(listed), "object").capitalize()
    return Markup("{} {} apart from the rest: {}.").format(start, verb, names(listed, 8))


def clusters(facts: dict[str, Any]) -> Markup:
    """Finding of section 4."""
    c = facts["clusters"]
    if c["n_clusters"] == 1 and not c["forced"]:
        second = c["by_gaps"]
        if second and second["n_clusters"] > 1:
            number = second["n_clusters"]
            return Markup(
                "The lens map is one cloud, but a map that keeps the gaps between groups falls "
                "into {}: look again with <code>--n-clusters {}</code>."
            ).format(count(number, "group"), number)
        return Markup(
            "The answers do not divide the objects into separate groups: the map is one cloud."
        )
    sizes = ", ".join(str(group["size"]) for group in c["clusters"])
    if c["forced"]:
        said = (
            "as the answers suggest"
            if c["suggested"] == c["n_clusters"]
            else f"as asked for; the answers suggest {count(c['suggested'], 'group')}"
        )
        start = f"{count(c['n_clusters'], 'group').capitalize()}, {said}"
    else:
        start = f"The objects form {count(c['n_clusters'], 'group')}"
    kept = c["agreement"]
    if kept is None:
        return Markup(f"{start}, of {sizes} objects.")
    how = (
        "They hardly change"
        if kept >= 0.85
        else "They change a little"
        if kept >= 0.6
        else "They change much"
    )
    return Markup(
        f"{start}, of {sizes} objects. {how} when the answers are drawn anew "
        f"(agreement {kept:.2f} of 1)."
    )


def classes(facts: dict[str, Any]) -> Markup:
    """Finding of section 5."""
    c = facts["classes"]
    best = c["methods"][0]
    sentence = Markup(
        f"Left out and classified by its {METHODS[best['method']]}, a labelled object gets the "
        f"wrong class in {best['error']:.0%} of the cases; always naming the largest class would "
        f"in {c['baseline']:.0%}."
    )
    wrong = c["contradicted"]
    if wrong:
        sentence += " The answers contradict {} of {}.".format(
            count(len(wrong), "label"), sum(c["classes"].values())
        )
    else:
        sentence += " They contradict no label."
    if c["unlabelled"]:
        sentence += f" {count(c['unlabelled'], 'object').capitalize()} had no label and got one."
    return sentence


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
