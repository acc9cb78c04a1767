"""A paragraph for the Methods section of a paper, made of what was measured."""

from __future__ import annotations

from typing import Any

_ASKED = {
    "central": "to say which of three objects is the most central",
    "odd": "to say which of three objects is the odd one out",
    "closer": "to say which of two objects is closer to a third",
}


def methods_paragraph(facts: dict[str, Any]) -> str:
    """Sentences about the facts of `Reliability.to_dict`; what is not known is not in it."""
    return " ".join(
        sentence
        for part in (_collected, _left_out, _ceiling, _predicted, _halves, _raters, _groups, _end)
        for sentence in part(facts)
    )


def _collected(f: dict[str, Any]) -> list[str]:
    c = f["collected"]
    who = "Raters were"
    if c["raters"]:
        who = f"{_count(c['raters'], 'rater')} {_were(c['raters'])}"
        if f["rater_unit"] == "round":
            who = f"In {_count(c['raters'], 'round')} raters were"
    return [
        f"{who} asked {_ASKED[f['kind']]}; {_count(c['answers'], 'answer')} about "
        f"{_count(c['objects'], 'object')} {_were(c['answers'])} collected."
    ]


def _left_out(f: dict[str, Any]) -> list[str]:
    done = [step for step in f["exclusions"] if step["done"]]
    said, none = [], "No answers were left out."
    skipped = f["collected"].get("skipped", 0)
    if skipped:
        said = [
            f"{_count(skipped, 'further row')} of the data {_were(skipped)} not readable as an "
            f"answer and {_were(skipped)} skipped."
        ]
        none = "No other answers were left out."
    if not done:
        return [*said, none]
    listed = "; ".join(f"{step['answers']:,} ({step['rule']})" for step in done)
    return [*said, f"Not used were {listed}, which left {_count(done[-1]['left'], 'answer')}."]


def _ceiling(f: dict[str, Any]) -> list[str]:
    between, within = f["between"], f["within"]
    if between is None:
        said = [f"A noise ceiling cannot be given: {f['no_ceiling']}."]
    else:
        said = [
            f"Two answers {_whose(f)}to the same question agreed in "
            f"{_share(between)} of the cases ({_count(between['questions'], 'question')}, each "
            f"counted once; guessing: {f['chance']:.0%}), so that no model could predict more "
            f"than about {f['reachable']:.0%} of the answers."
        ]
    if within is not None:
        said.append(
            f"Of one {f['rater_unit'] or 'rater'} two answers to the same question agreed in "
            f"{_share(within)} ({_count(within['questions'], 'question')})."
        )
    return said


def _predicted(f: dict[str, Any]) -> list[str]:
    if f["predicted"] is None:
        return []
    held = f"of other {f['rater_unit']}s" if f["rater_unit"] else "to other questions"
    said = [
        f"A choice map of the answers {held} predicted {f['predicted']:.0%} of the answers that "
        f"it had not seen."
    ]
    if f["error_rate"] is not None:
        low, high = f["error_rate_interval"]
        said.append(
            f"An estimated {f['error_rate']:.0%} of the answers ({low:.0%} to {high:.0%}) were "
            f"wrong although the question was clear."
        )
    return said


def _halves(f: dict[str, Any]) -> list[str]:
    half = f["split_half"]
    if half is None:
        return []
    return [
        f"The split-half reliability of the objects' depths was {half['reliability']:.2f} "
        f"(Spearman-Brown corrected, mean of {half['splits']} random splits of the "
        f"{half['unit']}s)."
    ]


def _raters(f: dict[str, Any]) -> list[str]:
    said = []
    tests = f["catch"]
    if tests is not None:
        said.append(
            f"Test questions were answered rightly in {tests['right']:,} of {tests['asked']:,} "
            f"cases."
        )
    advised = [step for step in f["exclusions"] if not step["done"] and step["answers"]]
    if advised:
        listed = "; ".join(f"{step['rule']} ({step['raters']:,})" for step in advised)
        said.append(f"{listed[:1].upper()}{listed[1:]} were marked and not left out.")
    return said


def _groups(f: dict[str, Any]) -> list[str]:
    groups = f["groups"]
    if groups is None or groups["p_value"] is None:
        return []
    sizes = ", ".join(f"{g['group']}: {g['raters']:,}" for g in groups["groups"])
    verb = "differed" if groups["p_value"] <= 0.05 else "could not be told apart"
    return [
        f"Groups of {f['rater_unit']}s ({sizes}) {verb} (test by {groups['permutations']:,} "
        f"permutations of {f['rater_unit']}s, p = {groups['p_value']:.3f})."
    ]


def _end(f: dict[str, Any]) -> list[str]:
    return [f"Figures are by trilens {f['version']}; intervals are at 95 %."]


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _whose(f: dict[str, Any]) -> str:
    unit = f["rater_unit"]
    return "" if unit is None else f"of different {unit}s "


def _share(agreement: dict[str, Any]) -> str:
    return f"{agreement['share']:.0%} ({agreement['low']:.0%} to {agreement['high']:.0%})"
