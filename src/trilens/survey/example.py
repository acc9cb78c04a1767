"""The study that ``trilens survey init`` writes: small, and served as it is."""

from __future__ import annotations

import datetime
from pathlib import Path

from trilens.errors import StudyError
from trilens.statements import Kind
from trilens.survey.study import FILE

_OBJECTS = (
    ("apple", "an apple", "ein Apfel"),
    ("pear", "a pear", "eine Birne"),
    ("plum", "a plum", "eine Pflaume"),
    ("cherry", "a cherry", "eine Kirsche"),
    ("orange", "an orange", "eine Orange"),
    ("lemon", "a lemon", "eine Zitrone"),
    ("banana", "a banana", "eine Banane"),
    ("grape", "a grape", "eine Traube"),
    ("melon", "a melon", "eine Melone"),
    ("tomato", "a tomato", "eine Tomate"),
    ("carrot", "a carrot", "eine Karotte"),
    ("potato", "a potato", "eine Kartoffel"),
    ("walnut", "a walnut", "eine Walnuss"),
    ("bread", "a loaf of bread", "ein Laib Brot"),
)
#: Objects and answer of the test and of the example, by kind.
_KNOWN = {
    "central": (("apple", "pear", "bread"), "pear", ("orange", "lemon", "potato"), "lemon"),
    "odd": (("apple", "pear", "bread"), "bread", ("orange", "lemon", "potato"), "potato"),
    "closer": (("apple", "pear", "bread"), "pear", ("orange", "lemon", "potato"), "lemon"),
}
_HOW = {
    "central": (
        "You see three things. Choose the one that lies between the two others: "
        "the one that is most like both.",
        "Sie sehen drei Dinge. Wählen Sie dasjenige, das zwischen den beiden anderen liegt: "
        "das beiden am meisten gleicht.",
        "A lemon is like an orange, and of the two fruits it is the one nearer to a potato.",
        "Eine Zitrone gleicht einer Orange und ist von beiden der Kartoffel näher.",
    ),
    "odd": (
        "You see three things. Choose the one that fits the two others least.",
        "Sie sehen drei Dinge. Wählen Sie dasjenige, das am wenigsten zu den anderen passt.",
        "Orange and lemon are citrus fruits; a potato is not.",
        "Orange und Zitrone sind Zitrusfrüchte; eine Kartoffel ist keine.",
    ),
    "closer": (
        "You see one thing, and below it two others. Choose the one that is more like the first.",
        "Sie sehen ein Ding und darunter zwei andere. Wählen Sie das, das dem ersten mehr gleicht.",
        "A lemon is more like an orange than a potato is.",
        "Eine Zitrone gleicht einer Orange mehr als eine Kartoffel.",
    ),
}
_STUDY = """\
# A study of trilens. `trilens survey check .` says what is wrong with it,
# `trilens survey serve .` serves it. A text is one line for all languages, or one for each.
title:
  en: Fruit and other food
  de: Obst und anderes Essen
kind: {kind}               # central, odd or closer
languages: [en, de]
objects: objects.csv         # name,text (or text_en, text_de); or a folder of pictures or sounds

instructions:
  en: >-
    {how_en}
  de: >-
    {how_de}
example:                     # shown with the instructions; may be left out
  objects: [{example}]
  answer: {example_answer}
  why:
    en: {why_en}
    de: {why_de}

consent:
  version: "1"               # change it with the text: it is stored with every participant
  text:
    en: >-
      Taking part is voluntary. We store your choices and how long each took, and nothing about
      you. You can stop at any time, and have your answers erased with the receipt that you get.
    de: >-
      Die Teilnahme ist freiwillig. Wir speichern Ihre Antworten und deren Dauer, aber nichts über
      Sie. Sie können jederzeit aufhören und Ihre Antworten mit der Quittung löschen lassen.
contact: researcher@example.org

rounds:
  length: 20                 # questions in a round
  minimum: 12                # answers that make a round count
  most: 3                    # rounds that a participant may do
  needed: 1                  # rounds before a participant may finish
tests:                       # one in each round, marked but never held against a participant
  among_first: 10
  triples:
    - objects: [{test}]
      answer: {test_answer}
shared: 2                    # questions of a round that everybody gets
repeated: 2                  # questions of a round that are asked a second time
seed: 1

thanks:
  en: Your answers are stored.
  de: Ihre Antworten sind gespeichert.
completion:
  code: THANKS
  # platform: prolific       # or connect, sona: who sent the participant
  # redirect: https://app.prolific.com/submissions/complete?cc={{code}}
  # failed: SORRY            # the code for a participant whose answers could not be stored
retention: {retention}        # when the answers will be erased
"""


def write_example(folder: Path, kind: Kind = "central") -> list[Path]:
    """Write a study that can be served at once; a folder that has one is left alone."""
    study, objects = folder / FILE, folder / "objects.csv"
    for file in (study, objects):
        if file.exists():
            raise StudyError([f"{file} already exists; choose another folder"])
    folder.mkdir(parents=True, exist_ok=True)
    test, test_answer, example, example_answer = _KNOWN[kind]
    how_en, how_de, why_en, why_de = _HOW[kind]
    text = _STUDY.format(
        kind=kind,
        how_en=how_en,
        how_de=how_de,
        why_en=f'"{why_en}"',
        why_de=f'"{why_de}"',
        example=", ".join(example),
        example_answer=example_answer,
        test=", ".join(test),
        test_answer=test_answer,
        retention=datetime.date.today().replace(day=1) + datetime.timedelta(days=730),
    )
    objects.write_text(
        "name,text_en,text_de\n" + "".join(",".join(row) + "\n" for row in _OBJECTS),
        encoding="utf-8",
    )
    study.write_text(text, encoding="utf-8")
    return [study, objects]
