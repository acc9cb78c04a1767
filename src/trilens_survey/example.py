"""The study that ``trilens survey init`` writes: small, and served as it is."""

from __future__ import annotations

import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from trilens.errors import StudyError
from trilens_survey.settings import Kind

#: Templates of the files, named like them.
_TEMPLATES = Path(__file__).parent / "example_study"


def write_example(folder: Path, kind: Kind = "central") -> list[Path]:
    """Write a study that can be served at once; a folder that has one is left alone."""
    files = [folder / "study.yaml", folder / "objects.csv"]
    for file in files:
        if file.exists():
            raise StudyError([f"{file} already exists; choose another folder"])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES), trim_blocks=True, keep_trailing_newline=True
    )
    retention = datetime.date.today().replace(day=1) + datetime.timedelta(days=730)
    for file in files:
        text = templates.get_template(file.name).render(kind=kind, retention=retention)
        file.write_text(text, encoding="utf-8")
    return files
