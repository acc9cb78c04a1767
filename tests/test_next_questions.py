"""Questions chosen by what is not known yet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trilens as tl
from commandline import run
from people import right, say
from trilens.errors import ParameterError, StatementError, TrilensError
from trilens.maps.fitted import Fit, fit_answers
from trilens.maps.fitting import How

GOALS = ("medoid", "rank", "map", "outliers", "groups")
ONE = tl.Statements([[0, 1, 2]], kind="central")


def answers(
    n: int, m: int, kind: str = "central", seed: int = 0, **fields: object
) -> tl.Statements:
    """Right answers about points in the plane."""
    rng = np.random.default_rng([seed, n, m])
    X = rng.standard_normal((n, 2))
    asked = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    triples = say(asked, right(X, asked, kind), kind)
    return tl.Statements(triples, n, [f"o{i:02d}" for i in range(n)], kind, **fields)


@pytest.fixture(scope="module")
def central() -> tl.Statements:
    return answers(15, 150)


@pytest.fixture(scope="module")
def known(central: tl.Statements) -> Fit:
    return fit_answers(central, How(2, 0.1))


def keys(triples: np.ndarray, kind: str) -> set[tuple[int, ...]]:
    if kind == "closer":
        return {(a, *sorted((b, c))) for a, b, c in triples.tolist()}
    return {tuple(sorted(row)) for row in triples.tolist()}


@pytest.mark.parametrize(
    ("goal", "kind"), [*((goal, "central") for goal in GOALS), ("map", "odd"), ("rank", "closer")]
)
def test_no_question_comes_twice_and_no_object_has_a_place_of_its_own(goal: str, kind: str) -> None:
    S = answers(12, 80, kind)
    found = tl.next_questions(fit_answers(S, How(2, 0.1)), goal, 60)
    asked = keys(found.triples, kind)
    assert len(asked) == 60
    assert not asked & keys(S.triples, kind)
    assert (found.information >= 0).all()
    assert [tuple(S.names[i] for i in row) for row in found.triples] == list(found)
    first, second = found.triples[:, -2:].T
    assert 15 < (first < second).sum() < 45
    assert found.reasons.count("random") in (12, 13)
    assert found.to_dict()["goal"] == goal
    assert len(found.to_dict()["questions"]) == len(found.to_frame()) == 60


def test_the_order_of_rows_and_objects_does_not_matter(central: tl.Statements, known: Fit) -> None:
    rng = np.random.default_rng(1)
    other = central.subset(rng.permutation(15)).take(rng.permutation(len(central)))
    found = tl.next_questions(known, "medoid", 8)
    again = tl.next_questions(fit_answers(other, How(2, 0.1)), "medoid", 8)
    assert found.names == again.names
    assert found.reasons == again.reasons


def test_a_fit_of_the_first_answers_is_gone_on_from(central: tl.Statements) -> None:
    first = fit_answers(central[:120], How(2, 0.1))
    found = tl.next_questions(central, "map", 8, start=first)
    assert found.reasons.count("adaptive") >= 6
    assert not keys(found.triples, "central") & keys(central.triples, "central")
    # the same as that of all answers, where the dimensions and the penalty are
    again = tl.next_questions(fit_answers(central, How(2, 0.1)), "map", 8)
    assert np.corrcoef(found.information, again.information)[0, 1] > 0.9
    with pytest.raises(ParameterError, match="give a fit of these objects"):
        tl.next_questions(central, start=fit_answers(answers(14, 100), How(2, 0.1)))
    with pytest.raises(ParameterError, match=r"fit of other answers: .* of its 150"):
        tl.next_questions(central, start=fit_answers(answers(15, 150, seed=1), How(2, 0.1)))
    with pytest.raises(ParameterError, match="either features or a fit"):
        tl.next_questions(first, features=np.eye(15))


def test_chosen_questions_tell_more_than_random_ones(known: Fit) -> None:
    for goal in GOALS:
        found = tl.next_questions(known, goal, 40, random_share=0.5)
        chance = np.array(found.reasons) == "random"
        assert found.information[~chance].mean() > 1.5 * found.information[chance].mean()
        columns = ["shown_1", "shown_2", "shown_3", "reason", "information"]
        assert list(found.columns()) == columns


def test_what_others_answered_may_come_again() -> None:
    S = answers(15, 150, raters=np.where(np.arange(150) < 75, "a", "b"))
    mine = keys(S.triples[:75], "central")
    found = tl.next_questions(fit_answers(S, How(2, 0.1)), "map", 300, rater="a")
    asked = keys(found.triples, "central")
    assert not asked & mine
    assert asked & keys(S.triples[75:], "central")


def test_what_was_answered_often_comes_less_often() -> None:
    """A third of all questions has 13 answers, every other one has one."""
    S = answers(10, 4000)
    key = np.sort(S.triples, axis=1) @ [100, 10, 1]
    rng = np.random.default_rng(0)
    often = rng.permutation(np.unique(key))[:40]
    kept = [np.flatnonzero(key == k)[: 13 if k in often else 1] for k in np.unique(key)]
    S = S.take(np.concatenate(kept))
    found = tl.next_questions(S, "map", 30, random_share=0, rater="new")
    again = np.isin(np.sort(found.triples, axis=1) @ [100, 10, 1], often)
    assert again.sum() <= 3


def test_a_rater_is_known_by_the_value_that_was_given() -> None:
    S = tl.Statements(
        [[0, 1, 2], [1, 2, 3], [0, 1, 3]], names=list("abcd"), raters=[7.0] * 3, kind="central"
    )
    for rater in (7, 7.0, "7"):
        assert keys(tl.next_questions(S, n=1, rater=rater).triples, "central") == {(0, 2, 3)}


def test_few_questions_left_are_no_random_ones() -> None:
    S = answers(8, 200)
    S = S.take(np.unique(np.sort(S.triples, axis=1), axis=0, return_index=True)[1])
    S = tl.Statements(S.triples[:50], 8, kind="central", chosen=np.arange(50) % 2 == 0)
    found = tl.next_questions(S, n=2)
    assert found.caution is not None
    assert found.caution.startswith("50 of all 56 questions have been asked")
    assert tl.next_questions(S, n=2, rater="new").caution is None
    three = tl.next_questions(ONE, n=1, rater="new")
    assert sorted(three.names[0]) == ["0", "1", "2"]
    assert three.caution is not None
    assert three.caution.startswith("3 objects are too few to choose by, which needs 4")
    with pytest.raises(ParameterError, match="among= lists no question"):
        tl.next_questions(S, n=2, among=np.zeros((0, 3), dtype=int))


def test_many_wrong_comparisons_are_said() -> None:
    S = answers(12, 900, "closer")
    rng = np.random.default_rng(0)
    T = np.where((rng.random(900) < 0.3)[:, None], S.triples[:, [0, 2, 1]], S.triples)
    few, many, correct = (
        tl.next_questions(tl.Statements(each, 12, kind="closer"), n=2, rater="new").caution
        for each in (T[:700], T, S.triples[:700])
    )
    assert few is not None
    assert "of the answers are wrong" in few
    assert few.endswith("until there were 60 answers for each object, here 720")
    assert many is correct is None


def test_only_questions_of_a_list_come_and_none_that_are_on_their_way(known: Fit) -> None:
    first = tl.next_questions(known, "medoid", 10)
    again = tl.next_questions(known, "medoid", 10, asked=first.triples)
    assert not keys(first.triples, "central") & keys(again.triples, "central")
    by_name = tl.next_questions(known, "medoid", 10, asked=list(first.names))
    assert by_name.names == again.names
    listed = [(f"o{i:02d}", f"o{i + 1:02d}", f"o{i + 2:02d}") for i in range(13)]
    found = tl.next_questions(known, "map", 10, rater="new", among=listed)
    assert {tuple(sorted(row)) for row in found} <= set(listed)
    with pytest.raises(ParameterError, match="only 13 questions are left for this rater"):
        tl.next_questions(known, "map", 14, rater="new", among=listed)


def test_before_the_first_answer_features_choose_or_chance() -> None:
    S = tl.Statements([], names=[f"o{i}" for i in range(12)], kind="odd")
    found = tl.next_questions(S, "map", 5)
    assert found.kind == "odd"
    assert set(found.reasons) == {"random"}
    assert "too few" in str(found.caution)
    assert np.isnan(found.information).all()
    X = np.random.default_rng(0).standard_normal((20, 2))
    found = tl.next_questions(tl.Statements([], n_objects=20), "medoid", 20, features=X)
    assert found.caution is None
    assert found.reasons.count("adaptive") == 16
    # the questions are about what may be in the middle
    far = np.linalg.norm(X - X.mean(axis=0), axis=1).argsort()
    often = np.bincount(found.triples.ravel(), minlength=20)
    assert often[far[:10]].sum() > often[far[10:]].sum()
    for places in (1, 3):
        F = np.repeat(np.eye(3)[:places], 12 // places, axis=0)
        assert len(tl.next_questions(S, "groups", n=10, features=F)) == 10


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n": 0}, "n is 0; it must be a whole number, 1 or more"),
        ({"n": 2.5}, "n is 2.5"),
        ({"n": 10_000}, "only "),
        ({"goal": "peace"}, "goal is 'peace'; it must be one of medoid"),
        ({"random_share": float("nan")}, "random_share is nan"),
        ({"random_share": 1.5}, "random_share is 1.5; it must be a number from 0 to 1"),
        ({"kind": "odd"}, "the answers are of kind central"),
        ({"kind": "even"}, "kind is 'even'"),
        ({"asked": [("o01", "o02", "zebra")]}, "asked names 'zebra', which is not in"),
        (
            {"n": 2, "rater": 1, "among": [("o01", "o02", "o03")]},
            "only 1 question is left for",
        ),
        ({"start": "map"}, "start is 'map'"),
        ({"answers": ONE, "n": 1}, "only 0 questions have not been asked"),
        ({"answers": []}, "needs three objects"),
        (
            {"answers": tl.Statements([], 1501, kind="central"), "features": np.eye(1501, 2)},
            "maps of up to 3,000 coordinates",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    central: tl.Statements, change: dict[str, object], said: str
) -> None:
    with pytest.raises(TrilensError, match=said.replace("(", r"\(")) as caught:
        tl.next_questions(**{"answers": central, **change})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


# ---- what is chosen is not counted ----------------------------------------------------------


@pytest.fixture(scope="module")
def mixed() -> tl.Statements:
    """Answers of which half are to questions that were chosen."""
    return answers(12, 80, raters=np.arange(80) % 4, chosen=np.arange(80) % 2 == 0)


def test_reasons_survive(mixed: tl.Statements, tmp_path: Path) -> None:
    S = mixed
    assert S[10:30].chosen.tolist() == S.chosen[10:30].tolist()
    assert S.subset(np.arange(8)).chosen is not None
    plain = tl.Statements(S.triples, S.n_objects, S.names, kind="central")
    assert tl.concatenate([plain, S]).chosen.tolist() == [*[False] * 80, *S.chosen.tolist()]
    assert tl.Statements(S.to_frame(), names=S.names).chosen.tolist() == S.chosen.tolist()
    assert tl.Statements(S.to_arrow()) == S
    for ending in ("csv", "tsv", "jsonl", "parquet", "arrow", "npz"):
        file = tmp_path / f"answers.{ending}"
        tl.write_statements(S, file)
        assert tl.read_statements(file).chosen.tolist() == S.chosen.tolist(), ending
    assert plain.chosen is None
    assert S.take(~S.chosen).chosen is None
    assert tl.Statements(S.triples, S.n_objects, S.names, raters=S.raters, kind="central") != S


def test_unknown_reasons_are_refused_or_said(tmp_path: Path) -> None:
    for chosen, said in (
        (["adaptiv", "random"], r"'adaptiv' is not known; .* random, adaptive, test"),
        ([3, 0], "True or"),
        ([True], "shape"),
    ):
        with pytest.raises(StatementError, match=said):
            tl.Statements([[0, 1, 2], [1, 0, 2]], chosen=chosen, kind="central")
    file = tmp_path / "answers.csv"

    def written(*reasons: str) -> str:
        rows = "".join(f"a,b,c,{reason}\n" for reason in reasons)
        file.write_text(f"central,other_1,other_2,reason\n{rows}")
        return str(file)

    answers = tl.Answers(written("adaptiv", "zufaellig", ""))
    assert answers.read().chosen is None
    assert answers.reading is not None
    assert "column reason is not used: unknown words ('adaptiv'" in " ".join(answers.reading.notes)
    with pytest.raises(TrilensError, match="'adaptiv' is not known"):
        tl.read_statements(str(file), columns={"reason": "reason"})
    with pytest.raises(TrilensError, match="row 4: the reason 'adaptiv' is not known"):
        tl.read_statements(written("random", "NA", "adaptiv"))
    known = tl.read_statements(written("Adaptive", "", "random"))
    assert known.chosen.tolist() == [True, False, False]


def test_a_question_that_was_once_asked_at_random_is_a_random_one() -> None:
    S = tl.Statements(
        [[0, 1, 2], [1, 0, 2], [3, 0, 1]], chosen=["adaptive", "random", "adaptive"], kind="central"
    )
    assert S.reduce().chosen.tolist() == [False, True]


def test_chosen_questions_are_not_counted_and_it_is_said(
    mixed: tl.Statements, tmp_path: Path
) -> None:
    share = mixed.at_random()
    assert len(share) == 40
    assert np.array_equal(tl.lens_depth(mixed), tl.lens_depth(share))
    assert np.array_equal(tl.count_pairs(mixed).third, tl.count_pairs(share).third)
    assert tl.medoid(mixed, "depth").name == tl.medoid(share, "depth").name
    # a map takes all
    assert tl.ChoiceMap(2, l2=0.1).fit(mixed).embedding_.shape == (12, 2)
    said = "40 of 80 questions were chosen by earlier answers"
    assert said in " ".join(tl.design(mixed).sentences())
    found = tl.reliability(mixed)
    assert any(said in caution.what for caution in found.cautions)
    assert found.ceiling == tl.reliability(share).ceiling
    file = tmp_path / "answers.csv"
    tl.write_statements(mixed, file)
    assert tl.Answers(str(file)).count().central.appears.sum() == 3 * 40
    for command in ("medoid --method depth", "outliers --method depth", "depth", "describe"):
        name, *options = command.split()
        done = run(name, file, *options)
        assert said in done.output
        assert "use the other 40" in done.output
        if name == "medoid":
            assert done.output.splitlines()[1].endswith(" 40")


def test_without_a_random_share_nothing_is_counted(mixed: tl.Statements) -> None:
    alone = mixed.take(mixed.chosen)
    with pytest.raises(StatementError, match="all 40 questions were chosen by earlier answers"):
        tl.lens_depth(alone)
    assert tl.reliability(alone).no_ceiling == "all questions were chosen by earlier answers"
    assert tl.medoid(alone).method == "choice"
    assert tl.neighbors(alone).method == "choice"


def test_counts_of_chosen_questions_are_biased_and_those_of_the_random_share_are_not() -> None:
    n, rng = 20, np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    true = tl.exact.lens_depth(X, metric="euclidean", normalise=True)

    def error(S: tl.Statements) -> float:
        return float(np.sqrt(((tl.lens_depth(S) - true) ** 2).mean()))

    asked = np.array([rng.choice(n, 3, replace=False) for _ in range(200)])
    S = tl.Statements(say(asked, right(X, asked)), n, kind="central")
    by_all, by_share = [], []
    for _ in range(4):
        found = tl.next_questions(fit_answers(S, How(2, 0.1)), "medoid", 150, rater="new")
        triples = say(found.triples, right(X, found.triples))
        more = tl.Statements(triples, n, chosen=list(found.reasons), kind="central")
        S = tl.concatenate([S, more])
        by_all.append(error(tl.Statements(S.triples, n, kind="central")))
        by_share.append(error(S))
    assert by_all[-1] > 1.1 * by_all[0]  # it grows with the answers
    assert by_share[-1] < by_share[0]
    assert by_all[-1] > 1.15 * by_share[-1]


def test_repeats_are_not_among_the_counted_ones(tmp_path: Path) -> None:
    why = ["random", "adaptive"] * 12 + ["repeat"] * 6
    rows = [f"{'abc'[i % 3]},a,b,c,{each},0,1,r{i % 3}" for i, each in enumerate(why)]
    file = tmp_path / "answers.csv"
    file.write_text(
        "\n".join(["central,shown_1,shown_2,shown_3,reason,test,counted,rater", *rows, ""])
    )
    told = [c.what for c in tl.reliability(tl.Answers(str(file))).cautions if c.code == "design"]
    assert "12 of 24 questions were chosen" in told[0]
    assert "use the other 12;" in told[0]


def test_the_command_lines_offer_what_the_library_does() -> None:
    from trilens.cli import next as next_command, stop as stop_command
    from trilens.questions import next_questions, stopping

    assert next_command.GOALS == next_questions.GOALS
    assert stop_command.RULES == stopping.RULES
