"""The findings in plain sentences, with every object's name marked as a name."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from trilens.report.page import Facts

#: How the page speaks of the kinds of question.
QUESTIONS = {
    "central": "Which of the three is the most central?",
    "odd": "Which of the three is the odd one out?",
    "closer": "Which of the two is closer to the first?",
}
#: What the share is called that says how central an object is.
DEPTH = {"central": "lens depth", "odd": "centrality", "closer": "rank centrality"}
EXPECTED = {
    "central": "By the model, it is the most central in {:.0f}% of all questions that can show it.",
    "odd": "By the model, it is not the odd one out in {:.0f}% of all questions that can show it.",
    "closer": "By the model, it is the closer one in {:.0f}% of all comparisons with another "
    "object.",
}
COUNTED = {
    "central": "It was chosen in {:.0f}% of the questions that showed it.",
    "odd": "It was not the odd one out in {:.0f}% of the questions that showed it.",
    "closer": "It was the closer one in {:.0f}% of its comparisons with another object.",
}
#: The same in words: what the number beside an object is.
SHARE = {
    "central": "of its questions call it the most central",
    "odd": "of its questions do not call it the odd one out",
    "closer": "of its comparisons call it the closer one",
}
SHARE_OF = {
    "central": "the share of its questions in which it was chosen",
    "odd": "the share of its questions in which it was not the odd one out",
    "closer": "the share of its comparisons in which it was the closer one",
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
    "no-statements": ("About the answers", "there are no answers"),
    "unseen": ("About the objects", "objects that nobody was asked about"),
    "rare": ("About the objects", "objects with few answers"),
    "apart": ("About the objects", "parts that no answer connects"),
    "noise": ("About the answers", "answers that look like guesses"),
    "wrong": ("About the answers", "many wrong answers"),
    "guessing": ("About the {}s", "careless {}s"),
    "most-guess": ("About the {}s", "most {}s seem careless"),
    "copies": ("About the answers", "every row occurs several times"),
    "same-place": ("About the {}s", "{}s that mostly choose one place on the screen"),
    "one-rater": ("About the {}s", "one {} who gave much of the answers"),
    "differs": ("About the {}s", "{}s who see it differently"),
    "inverted": ("About the {}s", "{}s who answered the opposite"),
    "unclear": ("About the {}s", "{}s who do not fit the others"),
    "design": ("About the questions", "questions that were not drawn at random"),
    "contradictions": ("About the answers", "answers that contradict each other"),
    "counted": ("About this report", "what counts of very large files cannot show"),
}
#: What is remarked about raters who are not careful.
_VERDICTS = {
    "careless": "no better than guessing",
    "inverted": "answers the opposite",
    "differs": "sees it differently",
    "unclear": "does not fit the others",
}
MAPS = {"choice": "choice map", "lensmap": "lens map"}
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NOTHING = Markup("There are no answers, so nothing can be said.")


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
    return _and(shown)


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


def collected(facts: Facts) -> Markup:
    """Finding of section 1."""
    c, r = facts["describe"], facts["reliability"]
    low, high = c["appearances"]["min"], c["appearances"]["max"]
    each = count(high, "answer") if low == high else f"{low:,} to {high:,} answers"
    answers = f"{c['statements']:,} {'answer' if c['statements'] == 1 else 'answers'}"
    sentence = f"{answers} about {count(c['objects'], 'object')}; each object appears in {each}."
    if r["predicted"] is not None:
        sentence += (
            f" A map of part of the answers predicts {r['predicted']:.0%} of the others; guessing "
            f"would get {r['chance']:.0%}."
        )
    cautions = len(r["cautions"])
    if cautions:
        verb = "limits" if cautions == 1 else "limit"
        sentence += f" {count(cautions, 'caution').capitalize()} {verb} what can be concluded."
    return Markup(sentence)


def about(code: str, unit: str = "rater") -> str:
    """What a caution is about."""
    return _ABOUT.get(code, ("About the answers", ""))[0].format(unit)


def cautions(facts: Facts) -> Markup:
    """The cautions in one sentence, each by what it is about."""
    given = facts["reliability"]["cautions"]
    unit = facts["reliability"]["rater_unit"] or "rater"
    people = facts["individuals"]
    several = ""
    if people is not None and people["groups"]:
        several = (
            f" The {unit}s fall into {len(people['groups'])} groups that see different things."
        )
    if not given:
        return Markup("No cautions.{}").format(several)
    told = [_ABOUT.get(each["code"], ("", ""))[1].format(unit) or each["what"] for each in given]
    start = count(len(given), "caution").capitalize()
    listed = "; ".join(text.rstrip(".") for text in told)
    return Markup("{}: {}.{}").format(start, listed, several)


def remark(rater: Facts) -> str:
    """What stands out about a rater."""
    told = [_VERDICTS[rater["verdict"]]] if rater["verdict"] in _VERDICTS else []
    told += ["mostly one place"] if rater["one_place"] else []
    told += [] if rater["judged"] else ["cannot be judged"]
    return ", ".join(told)


def medoid(facts: Facts) -> Markup:
    """Finding of section 2."""
    m = facts["medoid"]
    if facts["describe"]["statements"] == 0:
        return _NOTHING
    if any(caution["code"] == "apart" for caution in facts["reliability"]["cautions"]):
        return Markup(
            "The objects fall into parts that no answer connects, so none can be the most central "
            "of all. {} ranks first in its own part."
        ).format(capital(name(m["medoid"])))
    if facts["structure"] is not None and facts["structure"]["shape"] == "ring":
        return Markup(
            "The objects lie on a ring, and no object of a ring is the most central. {} ranks "
            "first in these answers."
        ).format(capital(name(m["medoid"])))
    others = [x for x in m["candidates"] if x != m["medoid"]]
    sure = f"({m['level']:.0%} confidence)"
    if not m["stands_out"]:
        return Markup(
            "No object stands out as the most central: {:,} of {:,} could be {}. {} ranks first in "
            "these answers."
        ).format(
            len(m["candidates"]),
            facts["describe"]["objects"],
            sure,
            capital(name(m["medoid"])),
        )
    close = [x for x in m.get("close", ()) if x != m["medoid"]]
    if close and len(close) <= 3:
        rest = len(others) - len(close)
        tail = f"; {count(rest, 'other')} could also be {sure}." if rest > 0 else "."
        tied = names([m["medoid"], *close])
        return capital(Markup("{} are tied as the most central").format(tied)) + tail
    first = capital(name(m["medoid"])) + " is the most central"
    if not others:
        return first + f"; no other object could be {sure}."
    listed = names(others) if len(others) <= 3 else count(len(others), "other")
    return first + "; " + listed + f" could also be the most central {sure}."


def outliers(facts: Facts) -> Markup:
    """Finding of section 3."""
    o = facts["outliers"]
    listed = [row["object"] for row in o["outliers"]]
    if facts["describe"]["statements"] == 0:
        return _NOTHING
    if o["caution"] is not None:
        return Markup("{}").format(_sentence(o["caution"]))
    if o["tail"] is not None:
        return Markup(
            "The objects thin out into a long tail; none stands apart from it. Farthest out: {}."
        ).format(names(o["tail"], 8))
    if not listed:
        least = names(o["least_central"][:4])
        return Markup("No object stands apart by more than chance. Least typical: {}.").format(
            least
        )
    verb = "stands" if len(listed) == 1 else "stand"
    start = count(len(listed), "object").capitalize()
    return Markup("{} {} apart from the rest: {}.").format(start, verb, names(listed, 8))


def outlier_rule(facts: Facts) -> str:
    """What "stands apart" means."""
    if facts["outliers"]["caution"] is not None:
        return "The objects are ranked by how little they fit the others; nothing more is claimed."
    return (
        "An object is said to stand apart when at most one in twenty clouds without outliers, with "
        "as many objects and answers, shows anything as far out, and at most one in twenty clouds "
        "with a long tail leaves such a gap. That holds for the list as a whole: of several "
        "objects, those listed last are the least certain."
    )


def clusters(facts: Facts) -> Markup:
    """Finding of section 4."""
    c = facts["cluster"]
    suggested = c["suggestion"]["n_clusters"] if c["suggestion"] else None
    if facts["describe"]["statements"] == 0:
        return _NOTHING
    if c["n_clusters"] <= 1 and not c["given"] and c["suggestion"]:
        if c["suggestion"]["p_value"] is None:
            said = c["suggestion"]["caution"] or "whether there are groups cannot be told"
            return Markup("{}").format(_sentence(said))
        if facts["structure"] is None:
            return Markup("The answers do not divide the objects into separate groups.")
        return Markup("{}").format(facts["structure"]["sentence"])
    sizes = _and([Markup(f"{group['size']:,}") for group in c["groups"]])
    number = count(c["n_clusters"], "group")
    start = Markup("The objects form {}, of {} objects").format(number, sizes)
    if c["given"]:
        said = "as requested"
        if suggested == c["n_clusters"]:
            said = "as the answers suggest"
        elif suggested is not None:
            none = "none" if suggested == 1 else count(suggested, "group")
            said = f"as requested; the answers suggest {none}"
        start = Markup("{} of {} objects, {}").format(number.capitalize(), sizes, said)
    kept = c["agreement"]
    if facts["structure"] is not None and facts["structure"]["shape"] == "groups in groups":
        start = Markup("{} ").format(facts["structure"]["sentence"]) + start
    if kept is None:
        return start + "."
    changed = "change a lot"
    if kept >= 0.6:
        changed = "hardly change" if kept >= 0.85 else "change a little"
    return start + (
        f". They {changed} when the answers are drawn anew (agreement {kept:.2f}, where 1 is "
        f"perfect)."
    )


def how_many(facts: Facts) -> str:
    """What speaks for the number of groups."""
    s = facts["cluster"]["suggestion"]
    if s and s["p_value"] is None and s["caution"]:
        return _sentence(s["caution"])
    if not s:
        return "How many groups there are was not examined."
    if not s["candidates"]:
        return "There is too little to divide."
    if s["p_value"] is None:
        return "Whether there are groups cannot be told."
    if s["n_clusters"] > 1:
        said = (
            f"The answers suggest {count(s['n_clusters'], 'group')}: at most one in twenty clouds "
            f"without groups divides this clearly."
        )
    elif s["p_value"] <= 0.2:
        said = (
            f"The best division, into {s['best']}, is clearer than that of most clouds without "
            f"groups, but {s['p_value']:.0%} of them divide as clearly: too many to claim that "
            f"there are groups."
        )
    else:
        said = (
            f"The best division, into {s['best']}, is no clearer than that of clouds without "
            f"groups."
        )
    return said if s["caution"] is None else f"{said} {_sentence(s['caution'])}"


def classes(facts: Facts) -> Markup:
    """Finding of section 5."""
    c = facts["classify"]
    known = sum(c["classes"].values())
    sentence = Markup(
        f"With its label hidden and classified by its {METHODS.get(c['method'], c['method'])}, an "
        f"object gets the wrong class in {c['error']:.0%} of cases; always choosing the largest "
        f"class would be wrong in {c['baseline']:.0%}."
    )
    if not c["learnable"] and c["error"] < c["baseline"]:
        sentence += (
            f" With {count(known, 'label')} this may be chance: either the labels cannot be learnt "
            "from the answers, or there are too few to tell. The predictions below are guesses."
        )
    elif not c["learnable"]:
        sentence += (
            " So the labels cannot be learnt from the answers, and the predictions below are no "
            "better than guesses."
        )
    elif c["contradicted"]:
        wrong = count(len(c["contradicted"]), "label")
        sentence += f" The answers contradict {wrong} out of {known}."
    else:
        sentence += " The answers contradict no label."
    if c["labels"]:
        unlabelled = count(len(c["labels"]), "object").capitalize()
        sentence += f" {unlabelled} had no label; their classes are predicted below."
    return sentence


def methods(facts: Facts) -> list[tuple[str, str]]:
    """How each part was computed."""
    kind, m, k, g = facts["kind"], facts["medoid"], facts["cluster"], facts["graph"]
    central = {
        "central": "Lens depth: the share of the answers about an object in which it is the most "
        "central (Algorithm 1 of the paper).",
        "odd": "1 - P(odd): the share of the answers about an object in which it is not the odd "
        "one out (Crowd-Median).",
        "closer": "Rank centrality: the share of an object's comparisons with another in which it "
        "is closer to the third (Rendsburg and Garreau, 2021).",
    }[kind]
    if m["method"] in MAPS:
        central += f" The medoid is that of the {MAPS[m['method']]}, a model fitted to all answers."
    edges = (
        f"the estimated k-RNG with k = {g['k']}, in {count(g['connected_parts'], 'connected part')}"
        if g["method"] == "krng"
        else f"the {g['k']} nearest objects on the map"
    )
    shown = MAPS.get(facts["map"]["method"], facts["map"]["method"])
    outlying = MAPS.get(facts["outliers"]["method"], facts["outliers"]["method"])
    dim = k["parameters"].get("dim")
    space = f", in {count(dim, 'dimension')}" if dim else ""
    return [
        ("Most central", central),
        ("Outliers", f"Method: {outlying}."),
        ("Map", f"{capital(shown)} in two dimensions. Edges: {edges}."),
        (
            "Groups",
            f"Spectral clustering (Shi and Malik) of the symmetric k-NN graph of the "
            f"{MAPS.get(k['method'], k['method'])}{space}.",
        ),
        *_classified(facts["classify"]),
        ("Version", f"trilens {facts['how']['version']}, seed {facts['how']['seed']}."),
    ]


def _classified(classes: Facts | None) -> list[tuple[str, str]]:
    if classes is None:
        return []
    chosen = ", ".join(f"{key} = {value}" for key, value in classes["parameters"].items())
    how = _CLASSIFIED.get(classes["method"], classes["method"])
    return [("Classes", f"{how}; {chosen}." if chosen else f"{how}.")]


def _and(shown: Sequence[Markup]) -> Markup:
    if len(shown) <= 1:
        return Markup("").join(shown)
    return Markup(", ").join(shown[:-1]) + " and " + shown[-1]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
