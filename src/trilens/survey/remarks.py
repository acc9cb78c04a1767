"""What is not wrong with a study, but worth a word before it is served."""

from __future__ import annotations

import datetime

from trilens.survey.stimuli import MEDIA, ignored
from trilens.survey.study import Study


def remarks(study: Study) -> list[str]:
    """Lines for whoever runs the study."""
    said = []
    if study.retention is None:
        said.append("no retention date: say in study.yaml when the answers will be erased")
    elif study.retention < datetime.date.today():
        said.append(f"the retention date {study.retention} has passed: erase the answers")
    if not study.tests:
        said.append("no test triples: every round counts as passed")
    if not study.shared and not study.repeated:
        said.append("no shared and no repeated questions: the noise ceiling cannot be told")
    beside = ignored(study.stimuli)
    if beside:
        allowed = ", ".join(MEDIA)
        said.append(f"not an object: {', '.join(beside[:5])} ({len(beside)} in all; {allowed} are)")
    forms = {stimulus.form for stimulus in study.stimuli}
    if len(forms) > 1:
        said.append(f"the objects are of several forms: {', '.join(sorted(forms))}")
    return said
