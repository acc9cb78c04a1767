"""What stands around the questions: forms, practice, blocks, conditions, leaving; and grids."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trilens as tl
from studies import Client, Running, edit, plain, running, short_study, survey
from trilens_survey.background import find, rater_rows, round_rows
from trilens_survey.charts import over_time
from trilens_survey.dashboard import _task
from trilens_survey.database import Database
from trilens_survey.export import collect, prepare_export, write_export
from trilens_survey.markdown import to_html
from trilens_survey.payment import payments_due
from trilens_survey.status import progress, status
from trilens_survey.store.administration import count_answers
from trilens_survey.study import check_study, load_study

FORMS = """
before:
  - {name: age, type: number, ask: "How old are you?", least: 18, most: 120, whole: true}
  - {name: taste, type: choice, ask: "What do you like?", options: [sweet, sour], several: true,
     required: false}
after:
  - {name: effort, type: scale, ask: "How hard was it?", ends: [easy, hard]}
  - {name: comment, type: text, ask: "Anything else?", required: false, most: 200}
debriefing: "We looked at [fruit](https://example.org)."
practice:
  - {objects: [orange, lemon, potato], answer: lemon, why: It is between the *others*.}
"""
BLOCKS = """
blocks:
  - {name: three, length: 4}
  - {name: near, kind: closer, grid: {of: 6, choose: 2}, length: 3, instructions: Now **six**.}
  - {name: odd, kind: odd, grid: {of: 5}, length: 3, objects: [apple, pear, plum, cherry, orange,
     lemon, banana]}
"""


@contextmanager
def study(folder: Path, more: str = "", database: Database | None = None) -> Iterator[Running]:
    with running(short_study(folder, most=3, more=more), database) as app:
        yield app


def choose(question: dict[str, Any]) -> Any:
    """The first of the choices, or as many as are wanted."""
    choices = sorted(question["objects"][question["kind"] == "closer" :])
    wanted = question["choose"]
    return choices[0] if wanted == 1 else choices[:wanted]


def through(client: Client, choose: Callable[[dict[str, Any]], Any] = choose) -> list[Any]:
    """Go on to the end; the questions."""
    asked = []
    while "done" not in (said := client.question()):
        if "token" in said:
            answer = client.answer(said["token"], choose(said))
            assert answer.status_code == 200, answer.text
            asked.append(said)
        elif "form" in said:
            values = {"age": 30, "taste": ["sour", "sweet"], "effort": 3}
            body = {"form": said["form"], "values": values}
            assert client.post("/api/form", json=body).status_code == 200
        else:
            assert client.post("/api/round").status_code == 200
    return asked


def table(app: Running, kind: str = "central", **more: Any) -> Any:
    return app.look(lambda c: collect(c, kind, app.survey.study.minimum, **more))


# --- forms, practice and the debriefing -----------------------------------------------------


def test_forms_practice_and_debriefing_in_their_order(tmp_path: Path, database: Database) -> None:
    with study(tmp_path / "s", FORMS, database) as app:
        client = app.joined()
        first = client.question()
        assert first["form"] == "before"
        assert [item["name"] for item in first["items"]] == ["age", "taste"]
        assert client.post("/api/round").status_code == 409
        wrong = client.post("/api/form", json={"form": "before", "values": {"age": 17.5}})
        assert wrong.status_code == 422
        assert wrong.json()["problems"] == {"age": {"text": "form_whole"}}
        late = client.post("/api/form", json={"form": "after", "values": {"effort": 1}})
        assert late.status_code == 409
        good = {"form": "before", "values": {"age": 30, "taste": ["sour"], "other": "x"}}
        practice = client.post("/api/form", json=good).json()
        assert (practice["practice"], practice["round"]) == (True, 0)
        assert client.post("/api/form", json=good).status_code == 200  # sent twice, stored once
        told = client.answer(practice["token"], "orange").json()["feedback"]
        assert (told["right"], told["answer"]) == (False, "lemon")
        assert "<em>others</em>" in told["why"]
        over = client.question()
        assert (over["round_done"], over["practice"], over["answers"]) == (True, True, 0)
        assert client.post("/api/round").json()["number"] == 1
        client.round()
        assert client.post("/api/finish").json()["form"] == "after"
        ended = client.post("/api/form", json={"form": "after", "values": {"effort": 7}}).json()
        assert ended["done"]
        assert ended["completion"]["code"] == "THANKS"
        assert 'href="https://example.org"' in ended["debriefing"]
        # practice tells nothing of the objects, and what was said stands beside the answers
        collected = table(app)
        assert Counter(collected.column("reason"))["practice"] == 1
        assert "practice" not in collected.select("all").column("reason").to_pylist()
        assert len(collected.screens()) == 5
        export = app.look(lambda c: prepare_export(c, app.survey.study, "questionnaire"))
        said = {"age": 30, "taste": "sour", "effort": 7, "comment": None}
        assert export.to_pylist() == [{"rater": collected.column("rater")[0], **said}]
        file = tmp_path / "q.csv"
        write_export(export, "questionnaire", file)
        first_line = file.read_text().splitlines()[0].replace('"', "")
        assert first_line == "rater,age,taste,effort,comment"


def test_what_a_number_may_be(tmp_path: Path) -> None:
    (age, _) = load_study(short_study(tmp_path / "s", more=FORMS)).settings.before
    for value, why in (
        (None, "form_needed"), ("x", "form_number"), (True, "form_number"), (3, "form_least"),
        (1e9, "form_most"), (20.5, "form_whole"), (float("1e300"), "form_number"),
        (10**400, "form_number"), (float("nan"), "form_number"),
    ):  # fmt: skip
        assert age.check(value)[1]["text"] == why, value  # type: ignore[index]
    assert age.check(18.0) == (18, None)


def test_markdown_lets_nothing_run_and_nothing_load() -> None:
    nasty = (
        "<script>alert(1)</script> <img src=x onerror=y> ![p](https://evil/x.png) "
        "[a](javascript:alert(1)) [b](JAVASCRIPT:x) [c](data:text/html,x) [d](vbscript:x) "
        '[e]( https://ok.example "t" ) [f][r]\n\n- one\n- two\n\n[r]: javascript:x'
    )
    html = str(to_html(nasty))
    for tag in ("<script", "<img", 'href="javascript', 'href="JAVA', 'href="data', 'href="vb'):
        assert tag not in html
    assert '<a href="https://ok.example"' in html
    assert "<li>one</li>" in html


PRACTICE = """
practice:
  - {objects: [orange, lemon, potato], answer: lemon, why: It is between the others.}
quota: {answers: 2}
"""


def test_practice_is_no_answer_and_earns_no_code(tmp_path: Path) -> None:
    with study(tmp_path / "s", PRACTICE) as app:
        # not refused: three answers to practice are none
        people = [app.joined(platform_id=f"P{i}") for i in range(3)]
        for client in people:
            client.answer(client.question()["token"], "lemon")
            assert client.post("/api/finish").status_code == 409
        with app.survey.database.reading() as connection:
            assert count_answers(connection) == 0
            assert {row.answers for row in payments_due(connection)} == {0}
            now = progress(connection)
            assert (now.started, max(over_time(connection, time.time()).heights)) == (0, 0)
        assert people[0].post("/api/round").json()["number"] == 1
        people[0].round()  # the quota is reached: there is no other round
        assert people[0].question()["completion"]["code"] == "THANKS"
        assert app.ask_to_join().status_code == 403
        assert app.participant().get("/api/study").json()["open"] is False
        told = survey("status", tmp_path / "s")
        assert "full: the quota is reached" in told.output
        assert people[1].post("/api/finish").status_code == 409
        # whoever began goes on: the first round can be done
        assert people[1].post("/api/round").json()["number"] == 1
        people[1].round()
        assert people[1].question()["completion"]["code"] == "THANKS"
        collected = table(app).without_practice()
        assert {row["round"] for row in round_rows(collected)} == {1, 2}
        assert [row["answers"] for row in rater_rows(collected, None)] == [4, 4]


# --- leaving -------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [True, False])
def test_whoever_leaves_says_what_becomes_of_the_answers(tmp_path: Path, keep: bool) -> None:
    """Who was given a code holds a place all the same, and gets no other."""
    with study(tmp_path / "s", "quota: {participants: 2}\n") as app:
        early = app.joined()
        asked = early.question()
        early.answer(asked["token"], asked["objects"][0])
        asked = early.question()
        said = early.post("/api/leave", json={"keep": keep}).json()
        assert (said["done"], said["left"], said["completion"]["code"]) == (True, True, None)
        after = early.answer(asked["token"], asked["objects"][0])
        assert after.status_code == (409 if keep else 401), "whoever left answers nothing more"
        for name in ("p1", "p2"):
            late = app.rater(platform_id=name)
            said = late.post("/api/leave", json={"keep": keep}).json()
            assert said["completion"]["code"] == "THANKS", "what is needed was done"
            again = app.ask_to_join(platform_id=name)
            assert (again.status_code, again.json()["code"]) == (409, "in_use")
        assert app.ask_to_join(platform_id="p3").status_code == 403
        assert len(table(app)) == (9 if keep else 0)
        if keep:
            assert late.question()["completion"]["code"] == "THANKS"
            assert early.post("/api/round").json()["left"]
        else:
            assert late.get("/api/question").status_code == 401


# --- conditions, blocks and grids ----------------------------------------------------------

FEW = {"apple", "pear", "plum", "cherry", "bread", "potato"}
CONDITIONS = f"""
conditions:
  near: {{question: "Which one is in the middle?"}}
  far: {{kind: odd, objects: [{", ".join(sorted(FEW))}]}}
"""


def test_conditions_are_balanced_and_in_the_export(tmp_path: Path, database: Database) -> None:
    with study(tmp_path / "s", CONDITIONS, database) as app:
        for _ in range(6):
            client = app.joined()
            said = client.question()
            wording = {
                "central": "Which one is in the middle?",
                "odd": "Which of these three is the odd one out?",
            }
            assert said["question"] == wording[said["kind"]]
            assert said["kind"] == "central" or set(said["objects"]) <= FEW
            client.round()
        central, odd = table(app), table(app, only="odd")
        assert Counter(central.column("condition")) == {"near": 12}
        assert Counter(odd.column("condition")) == {"far": 12}
        assert "condition" in odd.select("all").column_names
        assert odd.statements().kind == "odd"


@pytest.mark.slow
def test_the_dashboard_says_that_conditions_are_pooled(tmp_path: Path) -> None:
    two = 'conditions:\n  near: {question: "Which is near?"}\n  far: {question: "Which is far?"}\n'
    with study(tmp_path / "s", two) as app:
        for _ in range(4):
            through(app.joined())
        facts = find(_task(app.survey.study, app.survey.database))
    assert facts["problem"] is None
    assert "conditions that are pooled" in " ".join(text for _, text in facts["sentences"])


def test_blocks_follow_each_other(tmp_path: Path) -> None:
    with study(tmp_path / "s", BLOCKS) as app:
        client = app.joined()
        asked = client.round()
        between = client.question()
        assert (between["part_done"], between["part"], between["parts"]) == (True, 1, 3)
        asked += through(client)
        assert [(q["part"], q["kind"], len(q["objects"]), q["choose"]) for q in asked] == [
            *[(1, "central", 3, 1)] * 4, *[(2, "closer", 7, 2)] * 3, *[(3, "odd", 5, 1)] * 3,
        ]  # fmt: skip
        assert "<strong>six</strong>" in asked[4]["instructions"]
        assert asked[4]["question"] == "Which 2 of these are most similar to the first?"
        assert not any("instructions" in q for q in asked[5:])
        assert asked[4]["anchor"] == asked[4]["objects"][0]
        assert Counter(table(app).column("block")) == {"three": 4}
    found = load_study(edit(tmp_path / "s", ("\nblocks:", "\nblock_order: random\nblocks:")))
    orders = [tuple(one.block for one in found.blocks(None, seed)) for seed in range(100)]
    assert len(set(orders)) == 6
    assert orders[7] == tuple(one.block for one in found.blocks(None, 7))


def test_an_answer_to_a_grid_is_stored_whole(tmp_path: Path, database: Database) -> None:
    grid = short_study(tmp_path / "s", "closer", more="grid: {of: 8, choose: 3}\n")
    with running(plain(grid), database) as app:
        client = app.joined()
        said = client.question()
        anchor, *others = said["objects"]
        token = said["token"]
        assert (len(others), said["choose"]) == (8, 3)
        for wrong in (others[0], others[:2], [anchor, *others[:2]], [others[0]] * 3, []):
            assert client.answer(token, wrong).status_code == 422, wrong
        assert client.answer(token, others[:3]).status_code == 200
        assert client.answer(token, others[2::-1]).status_code == 200  # the same, in another order
        assert client.answer(token, others[1:4]).status_code == 409
        collected = table(app, "closer")
        (row,) = collected.screens().to_pylist()
        assert row["shown"] == said["objects"]
        assert set(row["chosen"]) == set(others[:3])
        statements = collected.statements()
        assert len(statements) == 3 * 5
        assert {anchor} == {statement[0] for statement in statements}
        assert statements.questions is not None
        assert len(set(statements.questions.tolist())) == 1
        write_export(collected, "all", tmp_path / "answers.csv")
        read = tl.read_statements(tmp_path / "answers.csv")
        assert list(read) == list(statements)
        assert read.questions.tolist() == [read.questions[0]] * 15, "one screen, in the file too"


@pytest.mark.slow
def test_a_grid_does_not_count_more_than_its_screens() -> None:
    """3 of 9 make 18 statements: their intervals are those of screens, not of 18 times as many."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(14, 2))
    shown, chosen = [], []
    for _ in range(120):
        anchor, *others = rng.permutation(14)[:10].tolist()
        distances = np.linalg.norm(points[others] - points[anchor], axis=1)
        # a whole screen is judged with the same error, as by somebody who sees things otherwise
        judged = distances + rng.normal(scale=0.7, size=9)
        shown.append([f"o{i}" for i in (anchor, *others)])
        chosen.append([f"o{others[k]}" for k in np.argsort(judged)[:3]])
    grids = tl.Statements.from_questions(shown, chosen, "nearest")
    assert len(grids) == 120 * 18
    loose = tl.Statements(grids.triples, names=grids.names, kind="closer")
    by_screen, by_statement = tl.fit(grids), tl.fit(loose)
    # that answers share pairs is seen without the screens too, but not all that they share
    assert by_screen.overdispersion > by_statement.overdispersion > 1
    first = np.unique(grids.questions, return_index=True)[1]
    one_each = tl.fit(loose.take(first))
    widths = []
    for fitted in (by_statement, by_screen, one_each):
        found = tl.depth_intervals(fitted)
        widths.append(float(np.mean(found.high - found.low)))
    assert widths == sorted(widths), "a screen tells more than one statement, and less than 18"


# --- test runs -----------------------------------------------------------------------------


def test_a_test_run_is_of_no_study_and_takes_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with study(tmp_path / "s", "quota: {participants: 1, hours: 2}\n") as app:
        link = app.survey.store.test_link()
        assert app.ask_to_join(test="guess").status_code == 403
        tester = app.joined(test=link)
        assert tester.question()["test_run"]
        tester.round()
        real = app.rater()  # the only place is still free
        assert app.ask_to_join().status_code == 403
        app.joined(test=link)  # a full study can be tried
        counts = app.look(lambda c: status(c, 2))
        assert (counts.answers, counts.participants) == (4, 1)
        assert len(table(app)) == 4
        # the tester who takes part in earnest begins anew
        assert tester.post("/api/join", json={"consent": True}).status_code == 403
        # a place that is not used is given to another, and who comes back all the same goes on
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 2 * 3600 + 1)
        assert app.ask_to_join().status_code == 201
        assert "round_done" in real.question()
        assert "token" in real.post("/api/round").json()


# --- studies of the documentation and of the paper -----------------------------------------


DOCS = Path(__file__).parents[2] / "docs"


def test_the_examples_of_the_documentation_are_studies(tmp_path: Path) -> None:
    text = (DOCS / "survey.md").read_text()
    for part in ("Around the questions", "Blocks", "Conditions", "When to stop"):
        example = text.split(f" {part}\n")[1].split("```yaml\n")[1].split("```")[0]
        folder = plain(short_study(tmp_path / part, most=3))
        file = folder / "study.yaml"
        own = file.read_text()
        for key in re.findall(r"(?m)^(\w+):", example):  # what the example says itself
            own = re.sub(rf"(?ms)^{key}:.*?(?=^\w|\Z)", "", own)
        file.write_text(own + "\n" + example)
        assert check_study(folder) == [], part


def test_the_papers_car_survey(tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "pictures").mkdir()
    for car in range(1, 61):
        Image.new("RGB", (2, 2), (4 * car, 0, 0)).save(tmp_path / "pictures" / f"{car}.png")
    (tmp_path / "study.yaml").write_text((DOCS / "cars" / "study.yaml").read_text())
    with running(tmp_path) as app:
        client = app.joined()
        asked = client.round(lambda q: "18" if "18" in q["objects"] else q["objects"][0])
        assert len(asked) == 50
        tests = [i for i, q in enumerate(asked) if set(q["objects"]) == {"15", "18", "53"}]
        assert len(tests) == 1
        assert tests[0] < 10
        client.post("/api/round")
        for _ in range(28):
            client.answer_one()
        collected = table(app)
        assert len(collected.select("all")) == 78
        assert len(collected.select("counted")) == 50  # the second round had 29 questions shown
