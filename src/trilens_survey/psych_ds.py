"""A study's answers as a Psych-DS data set: a folder with its description, ready to be shared.

The rules are those of https://psychds-docs.readthedocs.io: ``dataset_description.json``
in schema.org's terms, and CSV files under ``data`` whose names are keywords with values.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from trilens import __version__
from trilens.errors import SurveyError
from trilens.kinds import Kind
from trilens_survey.export import AnswerTable, write_export
from trilens_survey.sets import Set
from trilens_survey.study import Study

_CHOSEN = {
    "central": "the object that was chosen as the most central of the three",
    "odd": "the object that was chosen as the odd one of the three",
}
#: What each column of an export holds.
_COLUMNS = {
    "shown_1": "the object shown first",
    "shown_2": "the object shown second",
    "shown_3": "the object shown third",
    "anchor": "the object that the two others were compared with",
    "near": "the object that was chosen as closer to the anchor",
    "far": "the object that was not chosen",
    "other_1": "another object on the screen",
    "other_2": "a third object on the screen",
    "question": "number of the screen, over all participants",
    "block": "part of the study",
    "condition": "condition of the participant",
    "rater": "code of the participant, a keyed hash",
    "round": "number of the round, over all participants",
    "number": "number of the question in its round",
    "seconds": "response time",
    "place": "where the chosen object was shown: 0, 1 or 2",
    "reason": "why the question was asked: random, adaptive (chosen by a model), shared (by all), "
    "repeat, or test",
    "model": "version of the model that chose the question",
    "test": "how the test question of the round was answered: passed, failed, open or none",
    "counted": "whether the round has enough answers",
    "design": "version of the questions, their wording and the stimuli",
    "language": "language of the page",
    "answered_at": "when the answer was stored, in UTC",
}
_UNITS = {"seconds": "s"}


def write_psych_ds(collected: AnswerTable, study: Study, which: Set, folder: Path) -> int:
    """Write the data set to a new folder, whole or not at all; the number of answers."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SurveyError(f"{folder} already exists; choose a new folder")
    if which not in ("all", "counted", "passed"):
        raise SurveyError(
            "a Psych-DS data set holds single answers; choose the set all, counted or passed"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        (part / "data").mkdir()
        title = study.title[study.languages[0]]
        file = part / "data" / f"study-{_keyword(title)}_task-{collected.kind}_data.csv"
        rows = write_export(collected, which, file)
        columns = [name for name in collected.select(which).column_names if name != "stored"]
        described = _description(study, collected, columns)
        text = json.dumps(described, ensure_ascii=False, indent=1)
        (part / "dataset_description.json").write_text(text + "\n", encoding="utf-8")
        (part / "README.md").write_text(_readme(study, collected.kind, rows), encoding="utf-8")
        part.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return rows


def _description(study: Study, collected: AnswerTable, columns: list[str]) -> dict[str, Any]:
    code = study.languages[0]
    known = _COLUMNS | _CHOSEN
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.title[code],
        "description": _about(study, collected.kind),
        "keywords": ["triplet comparisons", "similarity judgements", collected.kind],
        "variableMeasured": [
            {
                "@type": "PropertyValue",
                "name": name,
                "description": known.get(name, name),
                **({"unitText": _UNITS[name]} if name in _UNITS else {}),
            }
            for name in columns
        ],
    }


def _about(study: Study, kind: Kind) -> str:
    """What was asked: each wording, with the conditions and blocks in which it is used."""
    code = study.languages[0]
    places: dict[str, list[str]] = {}
    for blocks in study.conditions.values():
        for block in blocks:
            if block.kind == kind:
                at = [f"condition {block.condition}"] * bool(block.condition)
                at += [f"block {block.name}"] * bool(block.name)
                shown = "three" if block.shown == 3 else str(block.shown)
                asked = f"{shown} at a time ({kind}): {block.question[code]}"
                places.setdefault(asked, []).append(", ".join(at))
    asked = "; ".join(
        f"in {' and in '.join(at)}, {text}" if len(places) > 1 else text
        for text, at in places.items()
    )
    return (
        f"Answers about {len(study.stimuli)} objects, {asked} "
        f"Collected and exported by trilens {__version__}."
    )


def _readme(study: Study, kind: Kind, rows: int) -> str:
    code = study.languages[0]
    return (
        f"# {study.title[code]}\n\n{_about(study, kind)}\n\n"
        f"- {rows:,} answers, a row each, in `data`.\n"
        f"- What the columns hold is said in `dataset_description.json`.\n"
        f"- Add author, licence and citation there before you share the data set.\n"
    )


def _keyword(title: str) -> str:
    """A title as the value of a keyword: letters and digits alone.

    >>> _keyword("Fruit & other food")
    'fruitotherfood'
    """
    return re.sub(r"[^a-z0-9]", "", title.lower())[:40] or "survey"
