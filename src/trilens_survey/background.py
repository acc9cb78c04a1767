"""What is worked out in the background: the analysis of the answers, and the next questions.

`main`, in a process of its own, reads a task from its standard input and prints what was found,
both as JSON. It only reads the database, and lets every other process go first.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
from markupsafe import Markup

import trilens as tl
from trilens.errors import TrilensError
from trilens_survey.charts import response_times, times_by_number
from trilens_survey.database import open_database
from trilens_survey.export import AnswerTable, collect
from trilens_survey.questions import n_questions
from trilens_survey.status import erased_participants, status
from trilens_survey.store.administration import count_answers

#: Rows of a table on the dashboard.
MOST_ROWS = 200


def work(task: dict[str, Any]) -> dict[str, Any]:
    """Do what the task says: `find` or `prepare`."""
    return prepare(task) if task["what"] == "questions" else find(task)


def prepare(task: dict[str, Any]) -> dict[str, Any]:
    """The next questions, and whether to stop, for a task of `trilens_survey.preparation`."""
    with open_database(Path(task["folder"]), task["url"]).reading() as connection:
        stored = count_answers(connection)
        erased = erased_participants(connection)
        collected = collect(connection, task["kind"], 0, only=task["kind"])
    objects = tuple(task["objects"])
    shown = collected.column("shown")
    inside = [set(names) <= set(objects) for names in shown]
    table = collected.table.filter(pa.array(inside, pa.bool_()))
    statements = replace(collected, names=objects, table=table).statements()
    found: dict[str, Any] = {"answers": stored, "questions": [], "stopping": None, "problem": None}
    goal, rule, known = task["goal"], task["rule"], task["known"]
    try:
        if rule is not None:
            if known is None or not _holds(known, len(statements), len(objects), erased):
                seen = tl.stopping(statements, rule, **task["limits"])
                # what was seen then; how many answers there are is said when somebody asks
                known = replace(seen, answers=seen.looked_at).to_dict()
            known |= {"answers": len(statements), "objects": len(objects), "erased": erased}
            found["stopping"] = known
        if goal is not None and len(statements):
            kept = [(*three,) for three in task["reserved"]]
            asked = tl.Statements(kept, names=objects, kind=task["kind"]) if kept else None
            possible = n_questions(task["kind"], len(objects)) - len(kept)
            chosen = tl.next_questions(
                statements,
                goal,
                max(min(task["count"], possible // 2), 1),
                random_share=0.0,
                rater="nobody yet",
                asked=asked,
                random_state=task["seed"],
            )
            pairs = zip(chosen.names, chosen.reasons, strict=True)
            found["questions"] = [list(names) for names, why in pairs if why == "adaptive"]
            found["problem"] = chosen.caution
    except TrilensError as error:
        found["problem"] = str(error)
    return found


def _holds(known: dict[str, Any], statements: int, objects: int, erased: int) -> bool:
    """Whether what the rule saw at its last look is what it would see now.

    Without the answers of an erased person the first ones are others.
    """
    same = known.get("objects") == objects and known.get("erased") == erased
    return same and known["looked_at"] <= statements < known["next_look"]


def find(task: dict[str, Any]) -> dict[str, Any]:
    """The facts of `trilens_survey.dashboard.Findings`, for a task that it wrote."""
    made = time.time()
    with open_database(Path(task["folder"]), task["url"]).reading() as connection:
        collected = collect(connection, task["kind"], task["minimum"]).without_practice()
        now = status(connection, task["minimum"])
    stored, erased, warned = now.answers, now.erased, bool(now.warnings)
    facts: dict[str, Any] = {
        "answers": stored, "erased": erased, "made": made, "problem": None,
        "sentences": [], "report": None,
    }  # fmt: skip
    # what was known beforehand, or asked twice, tells of the raters and not of the objects
    statements, analysis = collected.statements(), None
    try:
        # as an export is read: with what it says of the conditions
        answers = tl.Answers(collected.select("all"), collected.kind, objects=collected.names)
        analysis = tl.analyze(answers, title=task["title"], source="the survey")
        facts |= _report(analysis, task["images"], warned)
    except TrilensError as error:
        facts["problem"] = f"The answers cannot be analyzed: {error}."
    facts["figures"] = {
        "seconds": asdict(response_times(collected.column("seconds"))),
        "by_number": asdict(
            times_by_number(collected.column("number"), collected.column("seconds"))
        ),
        "raters": rater_rows(collected, analysis)[:MOST_ROWS],
        "rounds": round_rows(collected)[:MOST_ROWS],
        "coverage": statements.summary().to_dict(),
        "left_out": collected.left_out,
        "kind": collected.kind,
        "of_kind": len(collected),
        "of_others": max(stored - len(collected), 0),
    }
    return facts


def _report(analysis: tl.Analysis, images: str | None, warned: bool) -> dict[str, Any]:
    """The report, and the sentences at the top of it.

    Where the dashboard ``warned`` of the answers, nothing says that they have no fault.
    """
    from trilens.report import words

    facts = analysis.to_dict()
    sentences = [("Headline", words.headline(facts))]
    for found in words.findings(facts):
        faultless = found.section == "answers" and not facts["reliability"]["cautions"]
        sure = "" if warned and faultless else found.sure
        sentences.append((found.title, Markup("{} {}").format(found.sentence, sure)))
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "report.html"
        analysis.write(page, images)
        return {
            "sentences": [(title, str(text)) for title, text in sentences],
            "report": page.read_text(encoding="utf-8"),
        }


def round_rows(collected: AnswerTable) -> list[dict[str, Any]]:
    """A row for each round, the latest first."""
    rater, test = collected.column("rater"), collected.column("test")
    seconds, counted = collected.column("seconds"), collected.column("counted")
    rows = [
        {
            "round": number, "rater": rater[at[0]], "answers": len(at), "test": test[at[0]],
            "counted": counted[at[0]], "seconds": _median(seconds, at),
        }
        for number, at in _rows_by(collected.column("round")).items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row["round"])


def rater_rows(collected: AnswerTable, analysis: tl.Analysis | None) -> list[dict[str, Any]]:
    """A row for each rater, who answered last first; with what the analysis says of them."""
    from trilens.report import words

    checks = () if analysis is None else analysis.reliability.raters or ()
    said = {check.rater: words.remark(check.to_dict()) for check in checks}
    alike = {check.rater: check.agreement for check in checks}
    round_of, test = collected.column("round"), collected.column("test")
    seconds, stored = collected.column("seconds"), collected.column("stored")
    rows = []
    for name, at in _rows_by(collected.column("rater")).items():
        tests = list({round_of[i]: test[i] for i in at}.values())
        rows.append(
            {
                "rater": name, "answers": len(at), "rounds": len(tests),
                "passed": tests.count("passed"), "failed": tests.count("failed"),
                "seconds": _median(seconds, at), "last": stored[at[-1]],
                "agreement": alike.get(name), "remark": said.get(name, ""),
            }
        )  # fmt: skip
    return sorted(rows, key=lambda row: -row["last"])


def _rows_by(values: list[Any]) -> dict[Any, list[int]]:
    rows = defaultdict(list)
    for i, value in enumerate(values):
        rows[value].append(i)
    return rows


def _median(seconds: list[float | None], at: list[int]) -> float | None:
    known = [taken for i in at if (taken := seconds[i]) is not None]
    return median(known) if known else None


def main() -> None:
    """Do the task on standard input."""
    json.dump(work(json.load(sys.stdin)), sys.stdout)
