"""Rules that say when a study has enough answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trilens as tl
from commandline import facts, run
from test_next_questions import answers
from trilens.errors import TrilensError
from trilens.maps.fitted import fit
from trilens.questions.stopping import Stopping, expected_gain, looks, spent


@pytest.fixture(scope="module")
def many() -> tl.Statements:
    """Right answers: each object was asked about often."""
    return answers(10, 400)


def test_looks_are_few_and_fixed() -> None:
    seen = [looks(10, m)[1] for m in range(700)]
    assert sorted(set(seen)) == [0, 60, 90, 135, 202, 303, 455, 683]
    # what may be missed adds up to what the level allows
    assert 0.999 < sum(spent(k) for k in range(1, 10_000)) <= 1


def test_between_looks_nothing_changes(many: tl.Statements) -> None:
    at_look, later = (tl.stopping(many[:m], "map") for m in (60, 85))
    assert at_look.value == later.value
    assert (at_look.look, later.look) == (1, 1)
    assert later.next == "the next look is at 90 answers, 5 more"
    before = tl.stopping(many[:20])
    assert (before.stop, before.look) == (False, 0)
    assert before.next == "the first look is at 60 answers, 40 more"
    assert before.why == "the first look needs 60 answers, there are 20"


def test_the_medoid_is_found_and_the_study_stops(many: tl.Statements) -> None:
    found = tl.stopping(many, "medoid", at_most=4)
    assert found.stop
    assert tl.medoid(many).name in found.candidates
    assert found.level == pytest.approx(0.995)
    assert found.why.startswith("at the last look, at 303 answers: ")
    assert "could be the most central" in found.why


def test_answers_are_taken_in_the_order_of_time(many: tl.Statements) -> None:
    table = many[:85].to_frame()
    table["answered_at"] = [f"2026-03-01T14:{i // 60:02}:{i % 60:02}Z" for i in range(85)]
    mixed = table.iloc[np.random.default_rng(0).permutation(85)]
    first, second = (
        tl.stopping(tl.Answers(each, kind="central", objects=list(many.names)), "map")
        for each in (table, mixed)
    )
    assert first == second
    # a table says when its answers were given, in any case
    later = tl.stopping(mixed.rename(columns={"answered_at": "Answered_At"}), "map")
    assert later == first != tl.stopping(mixed.drop(columns="answered_at"), "map")
    with pytest.raises(TrilensError, match="must have a time for each answer"):
        tl.stopping(tl.Answers(table.assign(answered_at="soon")), "map")


def test_more_answers_gain_less(many: tl.Statements) -> None:
    early = expected_gain(fit(many[:60]).canonical[0])[0]
    late = expected_gain(fit(many).canonical[0])[0]
    assert early > 2 * late


def test_a_price_counts_what_was_paid(tmp_path: Path) -> None:
    S = answers(10, 40)
    found = tl.stopping(S, "price", price=0.25, budget=20)
    assert not found.stop
    assert found.next == "40 more can be paid"
    assert tl.stopping(S, "price", price=0.25, budget=10.1).stop
    assert not tl.stopping(S, "price", price=1e-320, budget=1e15).stop
    # test and repeated questions of a survey were paid, practice was not
    reasons = ["random"] * 30 + ["test"] * 2 + ["repeat"] * 3 + ["practice"] * 4
    rows = [
        f"{','.join(f'o{i}' for i in triple)},{why},,true"
        for triple, why in zip(S.triples, reasons, strict=False)
    ]
    file = tmp_path / "export.csv"
    file.write_text("\n".join(["central,other_1,other_2,reason,test,counted", *rows]))
    exported = tl.Answers(file)
    assert len(exported.statements) == 30
    assert tl.stopping(exported, "price", price=1, budget=50).value == 35


@pytest.mark.slow
def test_groups_are_decided_when_found_twice() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat([[0, 0], [10, 0], [5, 9]], 8, axis=0) + rng.standard_normal((24, 2))
    S = tl.simulate_statements(X, 400, kind="odd", random_state=0)
    found = tl.stopping(S, "groups")
    assert found.value == 3
    assert found.stop == found.why.endswith("and the one before")
    first = tl.stopping(S[:150], "groups")
    assert not first.stop


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rule": "hope"}, "rule is 'hope'; it must be one of medoid, map, groups, price"),
        ({"at_most": 0}, "at_most is 0"),
        ({"gain": float("nan")}, "gain is nan"),
        ({"rule": "map", "gain": 0.5}, r"0\.005 is half a per cent"),
        *(({"level": level}, "level is") for level in (0, 0.991, 1, 2, float("nan"))),
        ({"answers": tl.Statements([[0, 1, 2]], kind="central")}, "needs four"),
        # a gain is seen on random questions only
        (
            {"answers": answers(10, 60, chosen=[True] * 60), "rule": "map"},
            "all 60 questions were chosen",
        ),
        ({"rule": "medoid", "at_most": 10}, "less than the 10 objects"),
        ({"rule": "price", "price": 1, "budget": 1e300}, "budget"),
        ({"rule": "price"}, "needs price"),
        ({"rule": "price", "price": 0, "budget": 5}, "price is 0; it must be a positive number"),
        ({"rule": "price", "price": float("nan"), "budget": 5}, "price is nan"),
        ({"rule": "price", "price": 2, "budget": 1}, "does not pay one answer"),
        ({"price": 1}, "a price and a budget are for"),
    ],
)
def test_what_is_wrong_is_said(many: tl.Statements, change: dict[str, object], said: str) -> None:
    with pytest.raises(TrilensError, match=said) as caught:
        tl.stopping(**{"answers": many, **change})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_result_shows_itself_in_two_lines() -> None:
    found = Stopping("medoid", False, 10, next_look=100)
    first, second = repr(found).splitlines()
    assert first == "Stopping: go on after 10 answers"
    assert "100 answers" in second
    assert found._repr_html_().startswith("<table><caption>Stopping")


def test_commands(many: tl.Statements, tmp_path: Path) -> None:
    file, out = tmp_path / "answers.csv", tmp_path / "questions.csv"
    tl.write_statements(many[:303], file)
    told = facts("stop", file, "--rule", "price", "--price", 1, "--budget", 300)
    assert told["answers"] == 303
    assert told["stop"] is True
    assert "needs --price" in run("stop", file, "--rule", "price", "--quiet", status=1).stderr
    run("next", file, "-n", 5, "--rater", "new", "-o", out)
    assert len(out.read_text().splitlines()) == 6
