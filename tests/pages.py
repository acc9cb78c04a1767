"""What a report says, read as a reader would: numbers by what they are, and what contradicts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

_WORDS = {
    word: number
    for number, word in enumerate(
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    )
}
_VOID = {"meta", "link", "img", "br", "hr", "input", "rect", "line", "circle", "path", "use"}


class Node:
    """An element of a page."""

    def __init__(self, tag: str, attributes: dict[str, str], parent: Node | None) -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Node | str] = []

    @property
    def text(self) -> str:
        parts = [c if isinstance(c, str) else c.text for c in self.children]
        return "".join(parts) if self.tag not in ("script", "style") else ""

    @property
    def said(self) -> str:
        return re.sub(r"\s+", " ", self.text).strip()

    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def all(self, tag: str | None = None, css: str | None = None, **attributes: str) -> list[Node]:
        """The elements below, in their order."""
        found: list[Node] = []
        for child in self.children:
            if isinstance(child, str):
                continue
            wanted = (tag is None or child.tag == tag) and (css is None or css in child.classes())
            if wanted and all(child.attributes.get(k) == v for k, v in attributes.items()):
                found.append(child)
            found += child.all(tag, css, **attributes)
        return found

    def one(self, tag: str | None = None, css: str | None = None, **attributes: str) -> Node:
        found = self.all(tag, css, **attributes)
        assert found, (tag, css, attributes)
        return found[0]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.here = Node("page", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Node(tag, {key: value or "" for key, value in attrs}, self.here)
        self.here.children.append(made)
        if tag not in _VOID:
            self.here = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.children.append(Node(tag, {k: v or "" for k, v in attrs}, self.here))

    def handle_endtag(self, tag: str) -> None:
        here: Node | None = self.here
        while here is not None and here.tag != tag:
            here = here.parent
        if here is not None and here.parent is not None:
            self.here = here.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


def read_page(html: str) -> Node:
    reader = _Reader()
    reader.feed(html)
    return reader.root


def value_of(text: str) -> tuple[float, float]:
    """The range that a number on the page stands for, by its digits.

    >>> value_of("76%")
    (0.755, 0.765)
    """
    text = text.strip()
    limit = re.match(r"(less|more) than ([\d.]+)%", text)
    if limit:
        share = float(limit[2]) / 100
        return (0.0, share) if limit[1] == "less" else (share, 1.0)
    number = re.match(r"-?[\d,]+(\.\d+)?", text)
    if number is None:
        found = _WORDS[text.split()[0].lower()]
        return (found, found)
    plain = number[0].replace(",", "")
    half = 0.5 * 10.0 ** -len(number[1][1:]) if number[1] else 0.0
    value = float(plain)
    if text[number.end() :].startswith("%"):
        half = half or 0.5
        return ((value - half) / 100, (value + half) / 100)
    return (value - half, value + half)


def contradictions(html: str, facts: dict[str, Any]) -> list[str]:
    """What on a page does not go together; empty where all does."""
    page = read_page(html)
    return [
        *_same_quantities(page),
        *_collection(page, facts),
        *_headline(page, facts),
        *_centrality(page, facts),
        *_groups(page, facts),
        *_outliers(page, facts),
        *_words(page, facts),
    ]


def _same_quantities(page: Node) -> list[str]:
    """The same mark, the same value."""
    seen: dict[str, list[str]] = {}
    for node in page.all():
        if "data-fact" in node.attributes:
            seen.setdefault(node.attributes["data-fact"], []).append(node.said)
    wrong = []
    for key, texts in seen.items():
        ranges = [value_of(text) for text in texts]
        if max(low for low, _ in ranges) > min(high for _, high in ranges) + 1e-9:
            wrong.append(f"{key} is {sorted(set(texts))}")
    if len(seen) < 4:
        wrong.append(f"the page marks only {sorted(seen)}")
    return wrong


def _marked(page: Node, key: str) -> str | None:
    found = page.all(**{"data-fact": key})
    return found[0].said if found else None


def _collection(page: Node, facts: dict[str, Any]) -> list[str]:
    """Counts of answers, raters and cautions, and the paragraph for a paper."""
    wrong, r = [], facts["reliability"]
    used = int((_marked(page, "answers") or "0").replace(",", ""))
    if used != r["collected"]["used"] or used != facts["describe"]["statements"]:
        wrong.append(f"{used} answers, of which {r['collected']['used']} are used")
    methods = r["methods"]
    left_out = r["collected"]["answers"] - used
    done = sum(step["answers"] for step in r["exclusions"] if step["done"])
    if left_out != done:
        wrong.append(f"{left_out} answers are missing, {done} were excluded")
    if (left_out > 0) == ("answers were excluded." in methods and "following" not in methods):
        wrong.append(f"{left_out} left out, and the methods say: {methods}")
    told = re.search(r"leaving ([\d,]+) answer", methods)
    if told and int(told[1].replace(",", "")) != used:
        wrong.append(f"the methods leave {told[1]} of {used}")
    for key, pattern in (
        ("predicted", r"predicted (\d+)% of the held-out"),
        ("agreement", r"Two answers [^.]*?to the same question agreed in (\d+)%"),
        ("error_rate", r"error rate on clear questions was (\d+)%"),
    ):
        said, shown = re.search(pattern, methods), _marked(page, key)
        if said and shown and said[1] != "0" and said[1] != "100":
            low, high = value_of(shown)
            if not low - 1e-9 <= int(said[1]) / 100 <= high + 1e-9:
                wrong.append(f"{key}: {shown} on the page, {said[1]}% in the methods")
    if methods not in page.said:
        wrong.append("the paragraph for a paper is not on the page")
    boxes, said = page.all("details", css="caution"), finding(page, "answers").said
    number = _marked(page, "cautions")
    if bool(boxes) != (number is not None):
        wrong.append(f"{len(boxes)} cautions, and the card says: {said}")
    if number is not None and value_of(number)[0] != len(boxes):
        wrong.append(f"{number}, but {len(boxes)} are shown")
    return wrong


def finding(page: Node, section: str) -> Node:
    """The card of a finding, by the section that says more."""
    return next(card for card in page.all("li", css="card") if card.all("a", href=f"#{section}"))


def figure(page: Node, name: str) -> Node | None:
    """A figure by its name."""
    found = page.all("figure", **{"data-name": name})
    return found[0] if found else None


def _headline(page: Node, facts: dict[str, Any]) -> list[str]:
    """What the headline denies is claimed nowhere, and what it claims stands on the cards."""
    said, cards = page.one(css="headline").said, page.one(css="findings").said
    section, wrong = page.one("section", id="groups").said, []
    told = re.search(r"form (\w+) groups", said)
    if told and f"{told[1].capitalize()} groups, of" not in cards:
        wrong.append(f"{said} {cards}")
    few = facts["describe"]["statements"] < facts["describe"]["objects"]
    nothing = any(each in said for each in ("guessing", "too few to conclude", "no answers"))
    if nothing != (few or facts["support"] == "guesses"):
        wrong.append(f"{facts['support']}: {said}")
    if nothing and (figure(page, "candidates") or "confidence" in cards or "apart:" in cards):
        wrong.append(f"{said} {cards}")
    if nothing and not facts["cluster"]["given"] and page.all("li", css="group"):
        wrong.append(f"{said} {section}")
    central = re.search(r"(.*) (is|comes? out as) the most central", said)
    if (
        central
        and "none of them" not in said
        and facts["medoid"]["medoid"].strip()[:20] not in central[1]
    ):
        wrong.append(said)
    if "none of them is the most central" in said and "no object is" not in cards:
        wrong.append(f"{said} {cards}")
    return wrong


def _centrality(page: Node, facts: dict[str, Any]) -> list[str]:
    wrong, m = [], facts["medoid"]
    section, rows = page.one("section", id="medoid"), figure(page, "candidates")
    values = [value_of(node.said)[0] for node in rows.all("text", css="what")] if rows else []
    if values != sorted(values, reverse=True):
        wrong.append(f"the candidates are not sorted: {values}")
    if len(values) not in (0, min(len(m["candidates"]), 10)):
        wrong.append(f"{len(values)} of {len(m['candidates'])} candidates")
    ring = "ring" in page.one(css="headline").said
    if ring and values:
        wrong.append(f"a ring has a most central object: {section.said}")
    rows_ = page.one("section", id="objects").all("tr")[1:]
    remarks = [row.all("td")[-1].said for row in rows_]
    maybe = sum("most central" in said or "ranks first" in said for said in remarks)
    outlying = sum(row["outlier"] and row["maybe_medoid"] for row in facts["objects"])
    whole = len(rows_) == len(facts["objects"])
    if whole and maybe and maybe + outlying != len(m["candidates"]):
        wrong.append(f"{len(m['candidates'])} candidates, {maybe} in the table")
    for row, known in zip(rows_, facts["objects"], strict=False):
        span = re.search(r"([\d.]+) to ([\d.]+)%", row.said)
        at = value_of(row.one("td", **{"data-h": "centrality"}).said)
        if span and not (float(span[1]) / 100 <= at[1] and float(span[2]) / 100 >= at[0]):
            wrong.append(f"{known['object']}: {row.said}")
    return wrong


def _groups(page: Node, facts: dict[str, Any]) -> list[str]:
    wrong, number = [], facts["cluster"]["n_clusters"]
    said = finding(page, "groups").said
    listed = page.all("li", css="group")
    if len(listed) != (min(number, 24) if number > 1 else 0):
        wrong.append(f"{number} groups, {len(listed)} listed")
    marked = _marked(page, "groups")
    if marked is not None and value_of(marked)[0] != number:
        wrong.append(f"{marked}, but there are {number}")
    shown = [one.one("b").said for one in listed]
    if shown != [f"Group {i}" for i in range(1, len(shown) + 1)]:
        wrong.append(f"groups are numbered {shown}")
    summaries = [one.one("summary").said for one in listed]
    if re.search("(Both|All) reappear", said) and not all("stable" in s for s in summaries):
        wrong.append(f"{said} {summaries}")
    if "dissolve" in said and not any("dissolves" in s for s in summaries):
        wrong.append(f"{said} {summaries}")
    sizes = [value_of(one.one("span").said)[0] for one in listed]
    alone = sum(row["cluster"] < 0 for row in facts["objects"])
    if listed and len(listed) == number and sum(sizes) + alone != len(facts["objects"]):
        wrong.append(f"the groups have {sum(sizes)} of {len(facts['objects'])} objects")
    return wrong


def _outliers(page: Node, facts: dict[str, Any]) -> list[str]:
    wrong, found = [], facts["outliers"]["outliers"]
    said = finding(page, "outliers").said
    marked = _marked(page, "outliers")
    claimed = 0 if marked is None else value_of(marked)[0]
    nothing = "cannot be determined" in said
    if claimed != (0 if nothing else len(found)):
        wrong.append(f"{len(found)} outliers: {said}")
    if (claimed > 0) == (nothing or "No outlier" in said or "no outlier" in said):
        wrong.append(f"{len(found)} outliers: {said}")
    drawn = [g for g in figure(page, "centrality").all("g", css="dot") if "out" in g.classes()]
    if len(drawn) != len(found):
        wrong.append(f"{len(drawn)} of {len(found)} outliers are highlighted")
    rows = page.one("section", id="objects").all("tr")[1:]
    apart = sum(row.all("td")[-1].said == "stands apart" for row in rows)
    if len(rows) == len(facts["objects"]) and apart != len(found):
        wrong.append(f"{apart} objects stand apart in the table, {len(found)} on the card")
    return wrong


def _words(page: Node, facts: dict[str, Any]) -> list[str]:
    """What is never written."""
    text = f"{page.one('main').said} {page.one('header').said} {page.one('nav').said}"
    wrong = [
        f"the page says {match[0]!r}"
        for pattern in (
            r"No cautions", r"as above", r"p = 0\.0+\b", r"\b[01] to 100%", r"\bnan\b", r"None\b",
            r"-0\.0+\b", r"<span", r"data-fact", r"\bNaN\b", r"blind answers", r"eigenvalue",
        )
        for match in [re.search(pattern, text)]
        if match
    ]  # fmt: skip
    if facts["classify"] is not None:
        wrong = [each for each in wrong if "None" not in each]  # a class may be called so
    half = facts["reliability"]["split_half"]
    if half is not None and half["reliability"] < 0.2 and "the objects very similarly" in text:
        wrong.append("two halves are called alike that are not")
    for section in page.all("section"):
        plain = " ".join(node.said for node in section.all(css="finding"))
        wrong += [f"jargon: {word}" for word in ("cloud", "eigenvalue", "k-RNG") if word in plain]
    return wrong
