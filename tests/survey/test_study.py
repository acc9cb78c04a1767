"""A study's folder: what is wrong in it, in which languages it speaks, and what may change."""

from __future__ import annotations

import io
import json
import logging
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from PIL import Image
from sqlalchemy import select

import trilens as tl
from studies import edit, one_language, plain, running, short_study, survey
from trilens.errors import StudyError, SurveyError
from trilens_survey.database import Database
from trilens_survey.export import collect
from trilens_survey.languages import QUESTIONS, TEXTS, UNREVIEWED
from trilens_survey.log import JsonLines
from trilens_survey.media import damaged
from trilens_survey.schema import designs, participants
from trilens_survey.study import check_study, load_study, remarks
from trilens_survey.study_file import read_text

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def wrong(folder: Path) -> str:
    return "\n".join(map(str, check_study(folder)))


def test_everything_wrong_stands_in_one_list(folder: Path) -> None:
    edit(
        folder,
        ("kind: central", "kind: middle"),
        ("length: 20", "length: none"),
        ("needed: 1 ", "needed: 9 "),
        ("retention: ", "retention: soon # "),
        ("seed: 1", "seeds: 1"),
    )
    (folder / "objects.csv").write_text("name,text_en,text_de\na,x,y\na,x,y\nb,,y\nc,x\n")
    found = wrong(folder)
    for line in (
        "kind must be 'central', 'odd' or 'closer', not 'middle'",
        "rounds.length must be a whole number, not 'none'",
        "tests.triples 1: there is no object 'apple'",
        "retention must be a date such as 2027-12-31, not 'soon'",
        "unknown key 'seeds'; did you mean 'seed'?",
        "objects.csv, line 3: the name 'a' appears twice",
        "objects.csv, line 4: the text of 'b' is missing in: en",
        "objects.csv, line 5: 2 cells, but the header has 3",
    ):
        assert line in found
    numbers = [p.line for p in check_study(folder) if p.file == "study.yaml"]
    text = (folder / "study.yaml").read_text().splitlines()
    assert all(number is not None for number in numbers)
    assert "kind: middle" in text[(numbers[0] or 0) - 1]


def test_files_that_are_no_study(folder: Path, tmp_path: Path) -> None:
    edit(folder, ("languages: [en, de]", "languages: [en, de"))
    (problem,) = check_study(folder)
    assert problem.line is not None
    assert "not valid YAML" in problem.text
    edit(folder, ("languages: [en, de", "kind: odd\nlanguages: [en, de]"))
    assert "the key 'kind' appears twice" in wrong(folder)
    for text in ("", "[1, 2]", "just words", "&a [*a]", "a: &b {c: *b}", "\0"):
        (folder / "study.yaml").write_text(text)
        assert check_study(folder), text
    assert "no such folder" in wrong(tmp_path / "none")
    assert "no such file; create one with trilens survey init" in wrong(tmp_path)
    (tmp_path / "study.yaml").write_bytes(b"\xff\xfe\x00")
    assert "cannot be read as UTF-8" in wrong(tmp_path)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_reason(text: str) -> None:
    found, problems = read_text(text)
    assert (found is None) == bool(problems)
    assert all(str(problem).startswith("study.yaml") for problem in problems)


#: What is put in place of what, and what is said of it.
CHANGED = [
    ("length: 20", "length: 500", "14 objects make only 363 questions"),
    ("length: 20", "length: 5", "make rounds longer"),
    ("minimum: 12", "minimum: 21", "a round has only 20 answers"),
    ("repeated: 2", "repeated: 8", "at most a third of a round"),
    ("needed: 1 ", "needed: 4 ", "rounds.most is 3"),
    ("objects: objects.csv", "objects: ../other", "inside the study's folder"),
    ("objects: objects.csv", "objects: pictures", "there is no 'pictures'"),
    ("languages: [en, de]", "languages: [en, no]", 'put "no" in quotes'),
    ("languages: [en, de]", "languages: [en, de, fr]", "title is missing in: fr"),
    ("languages: [en, de]", "languages: [en]", "'de', which is not one of the study's"),
    ("kind: central", "grid: {of: 9, choose: 2}\nkind: central", "grid.choose must be 1"),
    ("kind: central", "platform: prolific\nkind: central", "belongs under completion:"),
    (
        "retention:",
        "links: {secret: short}\nretention:",
        "links.secret must have at least 16 characters",
    ),
    ("retention:", "x: {ask: Why: so}\nretention:", "put quotes around the text"),
    ("code: THANKS", "redirect: http://x.org", "must be an https:// address"),
    ("code: THANKS", "redirect: https://x.org/{code}", "completion.code is missing"),
    ("code: THANKS", "redirect: https://x.org/{cod}", "may contain {code} and"),
    ("contact: researcher@example.org", "contact: [a]", "contact must be a line of text"),
    ('version: "1"', "version:", "consent.version is missing"),
    ("[apple, pear, bread]", "[apple, pear, pear]", "the three objects must be different"),
    ("[apple, pear, bread]", "[apple, pear]", "three objects and an answer are needed"),
    ("answer: pear", "answer: bus", "must be one of apple, pear, bread, not 'bus'"),
    ("rounds:", "rounds: 5\nx:", "rounds must be a section of `key: value` lines"),
    ("title:", "texts: {en: {bgin: x}}\ntitle:", "texts.en: unknown key 'bgin'"),
]
#: Lines that are added to a study of short rounds.
ADDED = [
        ("before: {name: a}", "before must be a list"),
        ("before:\n  - {name: a b, type: text, ask: x}", "before 1: name must be a word"),
        ("before:\n  - {name: a, type: date, ask: x}", "before 1: type must be one of"),
        ("before:\n  - {name: a, type: choice, ask: x, options: [yes, no]}", '"no" in quotes'),
        ("before:\n  - {name: a, type: scale, ask: x, most: 90}", "must go from `least` to `most`"),
        ("before:\n  - {name: rater, type: text, ask: x}", "is a column already"),
        ("before:\n  - &a {name: a, type: text, ask: x}\nafter:\n  - *a", "'a' appears twice"),
        ("grid: {of: 50}", "grid.of must be at most 24"),
        ("grid: {of: 20}", "each screen shows 20 objects, but there are only 14"),
        ("grid: {of: 5}", "tests.triples 1: 5 objects and an answer are needed"),
        ("conditions: {one: {}}", "two names or more"),
        ("conditions: {a: {objects: [apple, pear, kiwi]}, b: {}}", "there is no object 'kiwi'"),
        ("conditions: {a: {blocks: [x]}, b: {}}", "unknown key 'blocks'"),
        ("blocks:\n  - {name: a}\n  - {name: a}", "the name 'a' appears twice"),
        ("blocks:\n  - {length: 4}", "blocks 1: name is missing"),
        (
            "blocks:\n  - {name: one}\n  - {name: two, length: 3, repeated: 2}",
            "blocks 2: length is 3, but each round has",
        ),
        (
            "blocks:\n  - {name: a}\n"
            "  - {name: b, tests: {triples: [{objects: [apple, pear, kiwi], answer: pear}]}}",
            "blocks 2: tests.triples 1: there is no object 'kiwi'",
        ),
        (
            "practice:\n  - {objects: [apple, pear, plum], answer: pear, why: x}\n"
            "blocks:\n  - {name: a, kind: odd}",
            "practice: the first block asks another kind",
        ),
        (
            "blocks:\n  - {name: a}\nconditions: {a: {}, b: {}}",
            "a study has blocks or conditions, not both",
        ),
        ("goal: medoid", "goal needs questions: adaptive"),
        ("questions: adaptive\ngoal: best", "goal is 'best'; it must be one of"),
        ("questions: adaptive\ngrid: {of: 6}", "adaptive questions show three objects"),
        ("questions: adaptive\nconditions: {a: {}, b: {}}", "without blocks and conditions"),
        ("stop: {rule: medoid, at_most: 0}", "stop.at_most must be at least 1, not 0"),
        ("stop: {rule: medoid, level: 2}", "stop: level"),
        ("stop: {rule: medoid, at_most: 50}", "write 13 or less"),
        ("stop: {rule: medoid, gain: 0.1}", "rule medoid does not use gain; it uses at_most and"),
        ("stop: {rule: groups, level: 0.9}", "rule groups does not use level"),
        ("stop: {rule: map}\nconditions: {a: {}, b: {}}", "without blocks and conditions"),
]  # fmt: skip


def test_each_mistake_is_named(folder: Path) -> None:
    file = folder / "study.yaml"
    before = file.read_text()
    missed = {}
    for old, new, said in CHANGED:
        found = wrong(edit(folder, (old, new)))
        if said not in found:
            missed[said] = found
        file.write_text(before)
    assert missed == {}


def test_each_mistake_has_its_line(tmp_path: Path) -> None:
    folder = short_study(tmp_path / "study", most=3)
    file = folder / "study.yaml"
    before = file.read_text()
    missed = {}
    for more, said in ADDED:
        file.write_text(f"{before}{more}\n")
        problems = check_study(folder)
        lines = [problem.line or 0 for problem in problems if said in problem.text]
        elsewhere = "rounds." in said or said.startswith(("tests", "each", "practice"))
        if not lines or not (elsewhere or lines[0] > before.count("\n")):
            missed[said] = "\n".join(map(str, problems))
    assert missed == {}


def test_texts_of_the_pages_can_be_replaced_and_added(folder: Path) -> None:
    latin = {key: f"la {key}" for key in TEXTS["en"]}
    lines = "".join(f"    {key}: {value}\n" for key, value in latin.items())
    (folder / "study.yaml").write_text(
        "title: T\nlanguages: [la, en]\nobjects: objects.csv\ninstructions: I\n"
        "question: Q\nthanks: merci\nconsent: {version: 1, text: C}\n"
        "rounds: {length: 10, minimum: 5}\n"
        "texts:\n  en: {begin: Go}\n  la:\n" + lines
    )
    (folder / "objects.csv").write_text("name,text\na,x\nb,x\nc,x\nd,x\ne,x\nf,x\n")
    assert wrong(folder) == ""
    study = load_study(folder)
    assert study.texts["en"]["begin"] == "Go"
    assert study.texts["la"]["agree"] == "la agree"
    assert study.settings.title == {"la": "T", "en": "T"}


def _pictures(folder: Path) -> Path:
    (folder / "objects.csv").unlink()
    (folder / "pictures").mkdir()
    edit(plain(folder), ("objects: objects.csv", "objects: pictures"))
    for i in (10, 9, 1, 2, 3, 4, 5, 6):
        Image.new("RGB", (40, 40), (0, i, 0)).save(folder / "pictures" / f"{i}.png")
    return folder / "pictures"


def test_pictures_and_sounds_by_their_names_and_what_is_wrong_with_them(
    folder: Path, tmp_path: Path
) -> None:
    pictures = _pictures(folder)
    (pictures / "car.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    (pictures / "tone.wav").write_bytes(b"RIFF\0\0\0\0WAVEfmt ")
    (pictures / "legal_note.txt").write_text("x")
    (pictures / ".hidden").write_text("x")
    (pictures / "raw").mkdir()
    study = load_study(folder)
    assert study.by_name["tone"].shown("en")["form"] == "audio"
    assert study.names == ("1", "2", "3", "4", "5", "6", "9", "10", "car", "tone")
    assert len(study.media) == 10
    shown = study.by_name["car"].shown("en")
    assert shown["form"] == "image"
    # the address says nothing about the name
    assert "car" not in shown["url"]
    # what lies beside the pictures is named, and no object
    assert any("ignored: legal_note.txt, raw (2 files" in line for line in remarks(study))
    (pictures / "1.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    (pictures / "empty.png").write_bytes(b"")
    (pictures / "text.png").write_text("not a picture")
    (pictures / "nan.png").write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(PNG)
    (pictures / "link.png").symlink_to(tmp_path / "secret.png")
    found = wrong(folder)
    for line in (
        "pictures/1.png: 1.jpg has the same name",
        "pictures/empty.png: the file is empty",
        "pictures/text.png: the content is not image/png",
        "the name 'nan' would be read as a missing value",
        "pictures/link.png: links to a file outside the folder",
    ):
        assert line in found
    assert "hidden" not in found
    assert "note" not in found


def test_pictures_are_decoded_by_check(folder: Path) -> None:
    pictures = _pictures(folder)
    assert damaged(load_study(folder).stimuli) == []
    rng = np.random.default_rng(0)
    noise = Image.fromarray(rng.integers(0, 256, (60, 60, 3), dtype=np.uint8))
    for ending in ("png", "jpg", "webp"):
        noise.save(pictures / f"cut.{ending}")
        whole = (pictures / f"cut.{ending}").read_bytes()
        (pictures / f"{ending}.{ending}").write_bytes(whole[: len(whole) // 2])
        (pictures / f"cut.{ending}").unlink()
    (pictures / "drawn.svg").write_text("<svg><g></svg>")
    (pictures / "tone.wav").write_bytes(b"RIFF\0\0\0\0WAVEfmt ")
    broken = ["drawn.svg", "jpg.jpg", "png.png", "tone.wav", "webp.webp"]
    found = sorted(problem.file for problem in damaged(load_study(folder).stimuli))
    assert found == [f"pictures/{name}" for name in broken]
    checked = survey("check", folder)
    assert checked.exit_code == 1
    assert "pictures/png.png: cannot be shown or played" in checked.stdout
    # in one list with what is wrong with the file, however much that is
    found = wrong(edit(folder, ("kind: central", "kind: middle"), ("title:", "titel:")))
    for said in ("kind must be", "title is missing", "pictures/png.png: cannot be shown"):
        assert said in found


def test_a_large_picture_is_named_and_sent_as_a_smaller_copy(folder: Path) -> None:
    pictures = _pictures(folder)
    Image.new("RGB", (2_400, 600), (9, 9, 9)).save(pictures / "1.png")
    noise = np.random.default_rng(0).integers(0, 256, (1_000, 1_000, 3), dtype=np.uint8)
    Image.fromarray(noise).save(pictures / "2.png")
    checked = survey("check", folder)
    assert checked.exit_code == 0, checked.output
    assert "pictures/1.png: 0.0 MB, 2,400 x 600 pixels; participants get a copy" in checked.stderr
    assert "pictures/2.png: 3.0 MB, 1,000 x 1,000 pixels" in checked.stderr
    assert "pictures/3.png" not in checked.stderr
    with running(folder) as app:
        client = app.participant()
        for name, media, size in (
            ("1", "image/webp", (1_600, 400)),
            ("2", "image/webp", (1_000, 1_000)),
            ("3", "image/png", (40, 40)),
        ):
            got = client.get(f"/media/{app.survey.study.by_name[name].key}")
            assert got.headers["content-type"] == media
            with Image.open(io.BytesIO(got.content)) as picture:
                assert picture.size == size
            assert len(got.content) < 1_500_000


def test_a_table_of_pictures_with_alternative_texts(folder: Path) -> None:
    pictures = _pictures(folder)
    edit(folder, ("objects: pictures", "objects: objects.csv"))
    table = folder / "objects.csv"
    rows = [f"p{i},pictures/{i}.png,picture {i},{'Bild' if i > 4 else ''}" for i in range(1, 7)]
    table.write_text("name,file,alt,alt_de\n" + "\n".join(rows) + "\n")
    study = load_study(folder)
    assert study.names == ("p1", "p2", "p3", "p4", "p5", "p6")
    shown = study.by_name["p1"].shown("en")
    assert shown["form"] == "image"
    assert shown["alt"] == "picture 1"
    assert "alt" not in study.by_name["p1"].shown("de"), "the file's name is no help"
    assert any("4 of 6 pictures and sounds have no alternative" in s for s in remarks(study))
    assert not any(line.startswith("ignored") for line in remarks(study))
    table.write_text("name,file\na,../x.png\nb,pictures/no.png\nc,\nd,study.yaml\n")
    (pictures / "empty.png").touch()
    for line in (
        "objects.csv, line 2: ../x.png: outside the folder of the table",
        "objects.csv, line 3: pictures/no.png: no such file",
        "objects.csv, line 4: 'c' has neither a file nor a text",
        "objects.csv, line 5: study.yaml: objects end in .jpg",
    ):
        assert line in wrong(folder)


def test_codes_and_secrets_are_the_text_as_it_is_written(folder: Path) -> None:
    secret = "0123456789_123456"
    edit(folder, ("retention:", f"links: {{secret: {secret}}}\nretention:"))
    before = "THANKS"
    for code in ("0123", "12_34", "0x1F", "1:30", "1.50", "yes", "2027-01-01"):
        edit(folder, (f"code: {before}", f"code: {code}"))
        found = load_study(folder).settings
        assert found.completion.code == code
        assert found.links is not None
        assert found.links.secret == secret
        before = code


LANGUAGES = TEXTS.keys() | UNREVIEWED.keys()
#: What every key is, whatever the language: a question of a kind, or a text of the pages.
ENGLISH = {key: QUESTIONS[key]["en"] for key in QUESTIONS} | TEXTS["en"]


def test_texts_that_nobody_has_reviewed_are_chosen_on_purpose(folder: Path) -> None:
    """And a study speaks every language without texts of its own."""
    others = ", ".join(sorted(UNREVIEWED))
    one_language(folder, f"{', '.join(sorted(TEXTS))}, {others}")
    study = load_study(folder)
    assert set(study.languages) == LANGUAGES
    assert study.first.question["pl"] == QUESTIONS["central"]["pl"]
    assert study.texts["ja"] == UNREVIEWED["ja"]
    assert study.settings.title["ja"] == "Fruit and other food"
    edit(folder, (f"not_reviewed: [{others}]\n", ""))
    with pytest.raises(StudyError, match=r"write not_reviewed: \[ar\]"):
        load_study(folder)


#: Where the noun changes with its number in ways that one sentence cannot follow.
_COUNTED = {
    "pl": r"\{(answers|k|n|most)\} (odpowied|element|znak)",
    "ar": r"\{(answers|k|n|most)\} (إجاب|عنصر|عناصر|حرف|أحرف)",
}


def test_twelve_languages_are_complete() -> None:
    assert len(LANGUAGES) == 12
    for language in LANGUAGES:
        words = {key: texts[language] for key, texts in QUESTIONS.items()}
        words |= (TEXTS | UNREVIEWED)[language]
        assert words.keys() == ENGLISH.keys()
        for key, english in ENGLISH.items():
            assert words[key] == words[key].strip() != "", (language, key)
            gaps = re.findall(r"\{\w+\}", words[key])
            assert sorted(gaps) == sorted(re.findall(r"\{\w+\}", english)), (language, key)
            if language in _COUNTED:
                assert not re.search(_COUNTED[language], words[key]), (language, key)


def test_the_language_is_that_of_the_address_or_of_the_browser(folder: Path) -> None:
    with running(one_language(folder, "en, ar, pt-BR")) as app:
        for address, browser, language in (
            ("/", "", "en"),
            ("/", "sv, ar-EG;q=0.8, en;q=0.9", "en"),
            ("/", "ar-EG, en;q=0.9", "ar"),
            ("/?lang=pt", "ar", "pt-BR"),
            ("/?lang=AR", "en", "ar"),
            ("/?lang=xx", "ar", "ar"),
            ("/?language=ar", "en", "ar"),
        ):
            page = app.participant().get(address, headers={"accept-language": browser}).text
            way = "rtl" if language == "ar" else "ltr"
            assert f'<html lang="{language}" dir="{way}">' in page, (address, browser)


def test_objects_can_be_added(folder: Path) -> None:
    with running(folder) as app:
        cookies = dict(app.rater().cookies)
    with (folder / "objects.csv").open("a") as file:
        file.write("kiwi,a kiwi,eine Kiwi\n")
    with running(folder) as app:
        rater = app.participant(cookies=cookies)
        rater.post("/api/round")
        rater.round()
        app.rater()
        collected = app.look(lambda c: collect(c, "central", 0))
        kept = app.look(lambda c: c.execute(select(designs.c.content).order_by(designs.c.id)).all())
    assert [len(json.loads(row.content)["objects"]) for row in kept] == [14, 15]
    assert Counter(collected.column("design")) == {1: 20, 2: 40}
    # still without replacement for whoever had begun before
    columns = [collected.column(name) for name in ("round", "reason", "shown")]
    drawn = [
        set(names) for i, why, names in zip(*columns, strict=True) if i < 3 and why == "random"
    ]
    assert len(drawn) == 30
    assert all(drawn.count(three) == 1 for three in drawn)


def test_only_objects_that_nobody_was_asked_about_may_vanish(
    folder: Path, database: Database
) -> None:
    with running(folder, database):
        pass
    objects = folder / "objects.csv"
    objects.write_text(objects.read_text().replace("walnut,a walnut", "hazelnut,a hazelnut"))
    with running(folder, database) as app:
        assert "walnut" not in app.survey.store.assigned.numbers
        for _ in range(3):
            app.joined()
    objects.write_text(objects.read_text().replace("hazelnut,a hazelnut,eine Walnuss\n", ""))
    gone = "'hazelnut' was part of this study"
    with pytest.raises(SurveyError, match=gone), running(folder, database):
        pass
    if database.embedded:
        checked = survey("check", folder)
        assert (checked.exit_code, gone in checked.stdout) == (1, True), checked.output


def test_blocks_that_were_answered_and_are_gone_are_noticed(folder: Path) -> None:
    file = folder / "study.yaml"
    before = file.read_text()
    file.write_text(before + "\nconditions: {a: {}, b: {}}\n")
    with running(folder) as app:
        app.rater()
        (condition,) = app.look(lambda c: c.execute(select(participants.c.condition)).all())[0]
    file.write_text(before)
    checked = survey("check", folder)
    said = f"the condition '{condition}' has been taken out of the study since answers were stored"
    assert (checked.exit_code, said in checked.stderr) == (0, True), checked.output


def test_a_study_with_answers_keeps_its_kind_and_a_new_wording_or_picture_is_a_new_design(
    folder: Path,
) -> None:
    def one_round() -> None:
        with running(folder) as app:
            app.rater()

    one_round()
    edit(folder, ("Fruit and other food", "Fruit"), ("code: THANKS", "code: BYE"))
    one_round()
    wording = 'question: {en: "Which is between?", de: "Was ist dazwischen?"}'
    edit(folder, ("\nseed: 1\n", f"\nseed: 1\n{wording}\n"))
    objects = folder / "objects.csv"
    objects.write_text(objects.read_text().replace("a walnut", "a big walnut"))
    checked = survey("check", folder)
    assert checked.exit_code == 0, checked.output
    assert "the wording of the question has changed since answers were stored" in checked.stderr
    assert "what is shown for 'walnut' has changed" in checked.stderr
    one_round()
    edit(folder, ("kind: central", "kind: closer"))
    with pytest.raises(SurveyError, match="60 answers are stored to questions of kind central"):
        one_round()
    checked = survey("check", folder)
    assert checked.exit_code == 1
    assert "questions of kind central; change it back" in checked.stdout
    out = folder / "answers.csv"
    survey("export", folder, "-o", out)
    assert tl.read_statements(out).kind == "central", "the export speaks of what was asked"
    assert pd.read_csv(out)["design"].value_counts().to_dict() == {1: 40, 2: 20}


def test_a_server_that_cannot_store_says_so_and_the_log_says_why(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(folder) as app:
        rater = app.joined()
        question = rater.question()
        with closing(sqlite3.connect(folder / "answers.db")) as connection, connection:
            connection.execute("ALTER TABLE answers RENAME TO hidden")
        with caplog.at_level(logging.ERROR, "trilens_survey"):
            answer = rater.answer(question["token"], question["objects"][0])
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
        (line,) = [JsonLines().format(record) for record in errors]
        assert json.loads(line)["why"] == "no such table: answers"
        assert question["token"] not in line
        assert "SELECT" not in line
        with closing(sqlite3.connect(folder / "answers.db")) as connection, connection:
            connection.execute("ALTER TABLE hidden RENAME TO answers")
        assert rater.question() == question
        again = rater.answer(question["token"], question["objects"][0])
        assert again.json() == {"stored": True}
        question = rater.question()
        app.survey.writer.close()
        assert rater.get("/healthz").status_code == 503
        answer = rater.answer(question["token"], question["objects"][0])
        assert answer.status_code == 503
        assert "stored" not in answer.text
        # reading goes on
        assert rater.question() == question
