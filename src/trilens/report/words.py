"""The findings in plain sentences, with every object's name marked as a name."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from trilens._tabular import shorten
from trilens.agreement import SAYS_NOTHING, TOO_FEW
from trilens.calibration import ISOLATION_DRAWS
from trilens.questions.clouds import p_text
from trilens.report.page import OTHER_VIEWS, Facts

#: How the page speaks of the kinds of question.
QUESTIONS = {
    "central": "Which of the three is the most central?",
    "odd": "Which of the three is the odd one out?",
    "closer": "Which of the two is closer to the first?",
}
#: What the share is called that says how central an object is.
DEPTH = {"central": "lens depth", "odd": "centrality", "closer": "rank centrality"}
COUNTED = {
    "central": "Counted, it was chosen in {} of the questions that showed it.",
    "odd": "Counted, it was not the odd one out in {} of the questions that showed it.",
    "closer": "Counted, it was the closer one in {} of its comparisons with another object.",
}
#: The same in words: what the number beside an object is.
SHARE = {
    "central": "of its questions call it the most central",
    "odd": "of its questions do not call it the odd one out",
    "closer": "of its comparisons call it the closer one",
}
EXPECTED_OF = {
    "central": "the share of all questions that can show it in which it would be chosen, by the "
    "model",
    "odd": "the share of all questions that can show it in which it would not be the odd one out, "
    "by the model",
    "closer": "the share of all comparisons with another object in which it would be the closer "
    "one, by the model",
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
    "pooled": ("About the questions", "conditions that are pooled"),
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


def fact(key: str, text: object) -> Markup:
    """A number that stands at several places of the page, marked by what it is.

    The same quantity has one value: a test compares all that have the same mark.
    """
    return Markup('<span data-fact="{}">{}</span>').format(key, text)


def name(text: str) -> Markup:
    """An object's name inside a sentence: text of its own direction, cut where it is too long."""
    shown = Markup("<bdi>{}</bdi>").format(shorten(text, 60))
    return Markup("object {}").format(shown) if text.isdigit() else shown


def names(listed: Sequence[str], most: int = 6) -> Markup:
    """Several names: a, b and c; after ``most`` of them, how many more."""
    shown = [Markup("<bdi>{}</bdi>").format(shorten(x, 40)) for x in listed]
    if len(shown) > most:
        shown = [*shown[: most - 1], Markup(f"{len(listed) - most + 1:,} more")]
    return _and(shown)


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


def span(low: float, high: float, digits: int = 0) -> str:
    """An interval of a share; one that says nothing is said to say nothing.

    >>> span(0.124, 0.31), span(0.01, 1.0)
    ('12 to 31%', 'too few answers to tell')
    """
    if high - low >= SAYS_NOTHING:
        return TOO_FEW
    return f"{100 * low:.{digits}f} to {100 * high:.{digits}f}%"


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
    answers = fact("answers", f"{c['statements']:,}")
    noun = "answer" if c["statements"] == 1 else "answers"
    left_out = r["collected"]["answers"] - r["collected"]["used"]
    of_all = Markup("")
    if left_out > 0:
        total = fact("collected", f"{r['collected']['answers']:,}")
        of_all = Markup(" of {} that were collected").format(total)
    about = fact("objects", count(c["objects"], "object"))
    sentence = Markup("{} {}{}, about {}; each object appears in {}.").format(
        answers, noun, of_all, about, each
    )
    if r["predicted"] is not None:
        sentence += Markup(
            " A map of part of the answers{} predicts {} of the others; guessing would get {}."
        ).format(
            ", without the features," if facts["features"] else "",
            fact("predicted", percent(r["predicted"])),
            fact("chance", percent(r["chance"])),
        )
    return sentence


def about(code: str, unit: str = "rater") -> str:
    """What a caution is about."""
    return _ABOUT.get(code, ("About the answers", ""))[0].format(unit)


def cautions(facts: Facts, pictures: int = 0) -> Markup:
    """The cautions in one sentence, each by what it is about.

    Parameters
    ----------
    pictures
        How many pictures cannot be shown.
    """
    unit = facts["reliability"]["rater_unit"] or "rater"
    told = [
        _ABOUT.get(each["code"], ("", ""))[1].format(unit) or each["what"]
        for each in facts["reliability"]["cautions"]
    ]
    told += [divided] if (divided := rater_groups(facts)) else []
    told += ["pictures that cannot be shown"] if pictures else []
    if told:
        start = fact("cautions", count(len(told), "caution").capitalize())
        return Markup("{}: {}.").format(start, "; ".join(text.rstrip(".") for text in told))
    untold = [facts["outliers"]["caution"]]
    if facts["structure"] is not None:
        untold.append(facts["structure"]["caution"])
    if any(text is not None and "cannot" in text for text in untold):
        return Markup("No fault was found in the answers; some questions they cannot answer.")
    return Markup("No fault was found in the answers.")


def rater_groups(facts: Facts) -> str:
    """That raters fall into groups; empty where they do not."""
    people = facts["individuals"]
    unit = facts["reliability"]["rater_unit"] or "rater"
    if people is None or not people["groups"]:
        return ""
    return (
        f"{unit}s who fall into {count(len(people['groups']), 'group')} that see different things"
    )


def remark(rater: Facts) -> str:
    """What stands out about a rater."""
    told = [_VERDICTS[rater["verdict"]]] if rater["verdict"] in _VERDICTS else []
    told += ["mostly one place"] if rater["one_place"] else []
    told += [] if rater["judged"] else ["cannot be judged"]
    return ", ".join(told)


def guesses(rater: Facts) -> str:
    """How many of a rater's answers seem to be guesses."""
    if rater["verdict"] in OTHER_VIEWS:
        return "\N{EN DASH}"
    sure = span(rater["blind_low"], rater["blind_high"])
    return f"{percent(rater['blind'])} ({sure})" if sure[0].isdigit() else sure


def object_remark(facts: Facts, row: Facts) -> str:
    """What stands out about an object."""
    if row["outlier"]:
        return "stands apart"
    if is_ring(facts):
        return ""
    if row["object"] == facts["medoid"]["medoid"]:
        return "most central" if len(facts["medoid"]["candidates"]) == 1 else "ranks first"
    return "could be the most central" if row["maybe_medoid"] else ""


def medoid(facts: Facts) -> Markup:
    """Finding of section 2."""
    m = facts["medoid"]
    if facts["describe"]["statements"] == 0:
        return _NOTHING
    first = capital(name(m["medoid"]))
    if any(caution["code"] == "apart" for caution in facts["reliability"]["cautions"]):
        return Markup(
            "The objects fall into parts that no answer connects, so none can be the most central "
            "of all. {} ranks first in its own part."
        ).format(first)
    if is_ring(facts):
        return Markup(
            "The objects lie on a ring, and no object of a ring is the most central. {} ranks "
            "first in these answers."
        ).format(first)
    others = [x for x in m["candidates"] if x != m["medoid"]]
    level = fact("level", percent(m["level"]))
    if not m["stands_out"]:
        return Markup(
            "No object stands out as the most central: {} of {:,} could be ({} confidence). {} "
            "ranks first in these answers."
        ).format(
            fact("candidates", f"{len(m['candidates']):,}"),
            facts["describe"]["objects"],
            level,
            first,
        )
    if not others:
        return Markup("{} is the most central; no other object could be ({} confidence).").format(
            first, level
        )
    close = [x for x in m.get("close", ()) if x != m["medoid"]]
    start = first + " comes out as the most central"
    if close and len(close) <= 3:
        start = capital(
            Markup("{} come out level as the most central").format(names([m["medoid"], *close]))
        )
    if len(others) <= 3:
        told = names([m["medoid"], *others]).replace(" and ", " or ")
        return Markup("{}; with {} confidence, it is {}.").format(start, level, told)
    number = fact("candidates", f"{len(m['candidates']):,}")
    return Markup("{}; with {} confidence, it is one of the {} objects below.").format(
        start, level, number
    )


def is_ring(facts: Facts) -> bool:
    """Whether the objects lie on a ring, which has no middle."""
    return facts["structure"] is not None and facts["structure"]["shape"] == "ring"


def structure(facts: Facts) -> Markup | None:
    """The headline: the shape that the objects form; None where there is nothing to say."""
    found, dimension = facts["structure"], facts["dimension"]
    if found is None or (found["p_value"] is None and found["shape"] == "cloud"):
        return None
    shape, order = found["shape"], found.get("order")
    if shape == "line":
        straight = "one dimension" if dimension == 1 else "a line"
        bent = "a bent line" if "bent" in found["sentence"] else straight
        return Markup("The objects lie along {}, from {} to {}.").format(
            bent, name(order[0]), name(order[-1])
        )
    if shape == "ring":
        return Markup("The objects lie on a ring: there is no most central object.")
    if shape == "arms":
        outwards = {who: far for who, far in found["outwards"].items() if far is not None}
        middle = min(outwards, key=outwards.__getitem__)
        number = len(set(found["arm"].values()) - {-1})
        return Markup("The objects lie on {} that meet near {}.").format(
            count(number, "arm"), name(middle)
        )
    if shape == "cloud":
        return Markup(
            "The objects spread over {}; no groups, line, ring or arms stand out from chance."
        ).format(fact("dimension", count(dimension or 2, "dimension")))
    return _grouped(facts)


def _grouped(facts: Facts) -> Markup:
    """How many groups there are, and how they lie in each other."""
    c, found = facts["cluster"], facts["structure"]
    suggested = c["suggestion"]["n_clusters"] if c["suggestion"] else c["n_clusters"]
    if suggested != c["n_clusters"]:
        return Markup("The answers suggest {}.").format(
            fact("suggested", count(suggested, "group"))
        )
    sizes = _and([Markup(f"{group['size']:,}") for group in c["groups"]])
    start = Markup("The objects form {}, of {} objects").format(
        fact("groups", count(c["n_clusters"], "group")), sizes
    )
    if found is None or found["shape"] != "groups in groups":
        return start + "."
    outer, inner = (len(set(found[key].values()) - {-1}) for key in ("group", "inner_group"))
    if outer == c["n_clusters"]:
        return start + f"; these fall into {inner} smaller ones."
    if inner == c["n_clusters"]:
        return start + f"; these make up {outer} larger ones."
    return start + "."


def outliers(facts: Facts) -> Markup:
    """Finding of section 3."""
    o = facts["outliers"]
    listed = [row["object"] for row in o["outliers"]]
    if facts["describe"]["statements"] == 0:
        return _NOTHING
    if o["caution"] is not None:
        return Markup("{}").format(_sentence(o["caution"]))
    if not listed:
        least = names(o["least_central"][:4])
        said = Markup("No outlier could be confirmed. Least central: {}.").format(least)
        if o["tail"] is not None:
            said += Markup(" The objects thin out into a long tail; farthest out: {}.").format(
                names(o["tail"], 8)
            )
        if o["clearly_least"] is not None:
            said += Markup(" {} is clearly less central than every other object.").format(
                capital(name(o["clearly_least"]))
            )
        return said
    verb = "stands" if len(listed) == 1 else "stand"
    start = count(len(listed), "object").capitalize()
    return Markup("{} {} apart from the rest: {}.").format(start, verb, names(listed, 8))


def apart(facts: Facts, row: Facts) -> str:
    """How far out an object lies: what the list is sorted by."""
    if facts["outliers"]["method"] == "depth":
        return f"centrality {percent(row['score'], 1)}"
    return f"{-row['score']:.1f} times as isolated as its neighbours"


def counted(facts: Facts, share: Markup) -> Markup:
    """How often the object that ranks first was singled out."""
    return Markup(COUNTED[facts["kind"]]).format(share)


def outlier_rule(facts: Facts) -> str:
    """What "stands apart" means."""
    if facts["outliers"]["caution"] is not None:
        return "The objects are ranked by how little they fit the others; nothing more is claimed."
    return (
        "An object is said to stand apart when at most one in twenty simulated collections without "
        "outliers, of as many objects and answers, has one as far from all others. They may form "
        "groups, and have long tails. That holds for the list as a whole: "
        "of several objects, those listed last are the least certain. How isolated an object is: "
        "how far it lies from the objects near it, by how far those lie from the ones near them "
        "(local outlier factor)."
    )


def clusters(facts: Facts) -> Markup:
    """Finding of section 4."""
    first = grouping(facts)
    stable = [group["stability"] for group in facts["cluster"]["groups"]]
    if facts["cluster"]["n_clusters"] <= 1 or None in stable or not stable:
        return first
    words_ = [stability(value) for value in stable]
    number = words_.count("stable")
    again = "when the answers are drawn anew"
    if number == len(words_):
        all_ = "Both come" if number == 2 else "All of them come"
        return first + f" {all_} back {again}."
    if "dissolves" in words_:
        gone = words_.count("dissolves")
        return first + f" {gone:,} of them {'dissolves' if gone == 1 else 'dissolve'} {again}."
    return first + f" {number:,} of them {'comes' if number == 1 else 'come'} back {again}."


def stability(value: float) -> str:
    """What becomes of a group when the answers are drawn anew (Hennig, 2007)."""
    return "stable" if value >= 0.75 else "uncertain" if value >= 0.5 else "dissolves"


def grouping(facts: Facts) -> Markup:
    """Whether there are groups, in one sentence."""
    c = facts["cluster"]
    suggested = c["suggestion"]["n_clusters"] if c["suggestion"] else None
    if facts["describe"]["statements"] == 0:
        return _NOTHING
    if c["n_clusters"] <= 1 and not c["given"] and c["suggestion"]:
        if c["suggestion"]["p_value"] is None and not structure(facts):
            said = c["suggestion"]["caution"] or "whether there are groups cannot be told"
            return Markup("{}").format(_sentence(said))
        found = structure(facts)
        return found or Markup("The answers do not divide the objects into separate groups.")
    if not c["given"]:
        return _grouped(facts)
    sizes = _and([Markup(f"{group['size']:,}") for group in c["groups"]])
    number = fact("groups", count(c["n_clusters"], "group").capitalize())
    said = "as requested"
    if suggested == c["n_clusters"]:
        said = "as the answers suggest"
    elif suggested is not None:
        none = "none" if suggested == 1 else count(suggested, "group")
        said = f"as requested; the answers suggest {none}"
    return Markup("{} of {} objects, {}.").format(number, sizes, said)


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
            f"The answers suggest {count(s['n_clusters'], 'group')}: at most one in twenty "
            f"collections without groups divides this clearly."
        )
    elif s["p_value"] <= 0.2:
        said = (
            f"The best division, into {s['best']}, is clearer than that of most collections "
            f"without groups, but {percent(s['p_value'])} of them divide as clearly: too many to "
            f"claim that there are groups."
        )
    else:
        said = (
            f"The best division, into {s['best']}, is no clearer than that of collections without "
            f"groups."
        )
    return said if s["caution"] is None else f"{said} {_sentence(s['caution'])}"


def halves(reliability: float) -> str:
    """How alike two halves of the answers order the objects.

    >>> halves(0.9), halves(-0.07)
    ('much alike', 'not alike')
    """
    if reliability >= 0.8:
        return "much alike"
    return (
        "roughly alike"
        if reliability >= 0.5
        else "hardly alike"
        if reliability > 0.2
        else "not alike"
    )


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
    spectral = (
        "Spectral clustering (Shi and Malik) of the symmetric k-NN graph of the "
        f"{MAPS.get(k['method'], k['method'])}"
    )
    return [
        ("Most central", central),
        ("Outliers", f"Method: {outlying}.{_tested(facts['outliers'])}"),
        ("Map", f"{capital(shown)} in two dimensions. Edges: {edges}."),
        ("Groups", f"{spectral}{space}.{_compared(k)}"),
        *_classified(facts["classify"]),
        ("Version", f"trilens {facts['how']['version']}, seed {facts['how']['seed']}."),
    ]


def _tested(found: Facts) -> str:
    """How often chance has outliers, in the words of a Methods section."""
    if found["p_value"] is None:
        return ""
    return (
        " Compared with simulated maps of groups without outliers "
        f"({ISOLATION_DRAWS} with and without long tails): {p_text(found['p_value'])}."
    )


def _compared(found: Facts) -> str:
    """How often chance has groups, in the words of a Methods section."""
    if found["p_value"] is None:
        return ""
    return f" Compared with simulated clouds without groups: {p_text(found['p_value'])}."


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
