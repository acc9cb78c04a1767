"""Models against people's answers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import trilens as tl
from people import draw_questions, right, say, survey
from trilens.agreement import agreement_between
from trilens.errors import DissimilarityError, ParameterError, StatementError
from trilens.questions.evaluate.evaluation import AnswerClusters, Yardstick
from trilens.statements import Statements
from trilens.statements.combine import questions

POINTS = np.random.default_rng(3).standard_normal((20, 2))
NO_CEILING = Yardstick(None, None, None, "not asked for")


@pytest.fixture(scope="module", params=["central", "odd", "closer"])
def answers(request):
    return survey(POINTS, request.param, raters=20, per=100, pool=120, seed=1)


def _plain_loop(S, D):
    """Answer by answer, as one would say it."""
    right = []
    for a, b, c in S.triples.tolist():
        if S.kind == "closer":
            said = {a: np.nan, b: -D[a, b], c: -D[a, c]}
            options, given = (b, c), b
        else:
            sides = {a: D[b, c], b: D[a, c], c: D[a, b]}
            said = sides if S.kind == "central" else {k: -v for k, v in sides.items()}
            options, given = (a, b, c), a
        best = max(said[x] for x in options)
        winners = [x for x in options if said[x] == best]
        right.append((given in winners) / len(winners))
    return np.array(right)


def _distances(X, metric):
    if metric == "euclidean":
        return np.array([[np.sqrt(sum((x - y) ** 2)) for y in X] for x in X])
    if metric == "cosine":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.array([[-float(x @ y) for y in X] for x in X])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "dot"])
def test_it_equals_a_plain_loop(answers, metric):
    X = POINTS + 0.3 * np.random.default_rng(0).standard_normal(POINTS.shape)
    D = _distances(X, metric)
    found = tl.evaluate(answers, embedding=X, metric=metric, yardstick=NO_CEILING)
    np.testing.assert_allclose(found.right, _plain_loop(answers, D))
    assert found.accuracy == pytest.approx(_plain_loop(answers, D).mean())
    assert found.interval[0] < found.accuracy < found.interval[1]
    if metric == "euclidean":
        again = tl.evaluate(answers, distances=D, yardstick=NO_CEILING)
        np.testing.assert_array_equal(again.right, found.right)
        assert again.log_loss == pytest.approx(found.log_loss)


def test_a_perfect_model_reaches_the_ceiling_and_a_random_one_nothing(answers):
    perfect = tl.evaluate(answers, embedding=POINTS, name="perfect")
    noise = np.random.default_rng(9).standard_normal((20, 2))
    guess = tl.evaluate(answers, embedding=noise, yardstick=perfect.yardstick)
    assert perfect.of_ceiling == pytest.approx(1.0, abs=0.12)
    low, high = perfect.of_ceiling_interval
    assert low <= 1.0 <= high
    assert abs(guess.of_ceiling) < 0.35
    assert perfect.agreement < perfect.ceiling < 1
    assert perfect.log_loss < guess.log_loss <= guess.chance_log_loss
    equal = tl.evaluate(answers, distances=1 - np.eye(20), yardstick=NO_CEILING)
    assert equal.accuracy == pytest.approx(equal.chance)
    assert (equal.log_loss, equal.temperature) == (pytest.approx(equal.chance_log_loss), None)


def test_where_models_differ_is_told():
    S = survey(POINTS, raters=20, per=150, blind=0.0, sharp=20, seed=4)
    moved = POINTS.copy()
    moved[7] = -3 * moved[7] + 2
    models = {"good": POINTS, "bad": moved, "same": 3 * POINTS}
    good, bad, same = (
        tl.evaluate(S, embedding=X, name=name, yardstick=NO_CEILING) for name, X in models.items()
    )
    assert tl.compare_models([bad, good]).differences[0].objects[0].object == "7"
    none = tl.compare_models([good, same]).differences[0]
    assert (none.difference, none.p_value) == (0.0, 1.0)
    S = Statements([[0, 1, 2]] * 10, raters=np.arange(10), kind="central")
    X = np.array([[0.0], [-1.0], [1.0]])
    models = [tl.evaluate(S, embedding=X[i], name=str(i)) for i in ([0, 1, 2], [1, 0, 2])]
    found = tl.compare_models(models).differences[0]
    assert (found.difference, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.p_value == 1.0  # one question says nothing about others


def test_answers_of_the_model_itself(answers):
    D = _distances(POINTS, "euclidean")
    scores = _plain_loop(answers, D)
    # the model's own answers, once for each question
    _, _, triple = questions(answers)
    said = say(triple, right(POINTS, triple, answers.kind), answers.kind)
    model = Statements(said, 20, kind=answers.kind)
    found = tl.evaluate(answers, answers=model, yardstick=NO_CEILING)
    np.testing.assert_allclose(found.right, scores)
    # people's own answers as a model: their own are among them
    again = tl.evaluate(answers, answers=answers, yardstick=NO_CEILING)
    assert again.accuracy > agreement_between(answers, answers.raters).share


SMALL = Statements([[0, 1, 2], [1, 2, 3]] * 6, names=["a", "b", "c", "d"], kind="central")
SQUARE = 1.0 - np.eye(4)
UNLIKE = np.arange(16.0).reshape(4, 4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"distances": pd.DataFrame(SQUARE, list("abcd"), list("abcx"))}, "columns of the dist"),
        ({"distances": pd.DataFrame(SQUARE, list("wxyz"), list("wxyz"))}, "lack 4 of 4"),
        ({"embedding": pd.DataFrame(UNLIKE, list("abca"))}, "'a' appears twice"),
        ({"embedding": {"x": [0], "y": [1]}}, "has none of the objects"),
        ({"embedding": ["x"] * 4}, "array of numbers"),
        ({"distances": np.zeros((4, 3))}, "square"),
        ({"embedding": SQUARE + 1e-9 * UNLIKE}, "give it as distances="),
        ({"embedding": pd.DataFrame(SQUARE, list("abcd"), list("abcd"))[list("dcba")]}, "give it"),
        ({"models": {"one": SQUARE}}, "give it as distances="),
        ({"models": {}}, "a dict from names to embeddings"),
        ({"models": {"a": UNLIKE[:3]}}, "must have a row for each of the 4 objects"),
        ({"models": {"a": UNLIKE}, "embedding": UNLIKE}, "either a dict of models or one of"),
        ({"distances": SQUARE, "aligned": True}, "only vectors can be aligned"),
        ({"embedding": {"a": [0], "b": [1], "c": [2]}}, "lacks 1 of 4 objects: 'd'; add them"),
        ({"embedding": [[0, 1], [2, np.nan], [1, 1], [0, 0]]}, "'b' has NaN"),
        ({"embedding": np.eye(4) * [1, 1, 0, 1], "metric": "cosine"}, "'c' is zero"),
        ({"embedding": np.eye(4), "metric": "manhattan"}, "euclidean, cosine, dot"),
        ({"embedding": {"a": [0], "b": [1], "c": [2], "d": [1, 2]}}, "has 2 numbers"),
        ({"distances": np.zeros((5, 5))}, "5 objects, but the statements are about 4"),
        ({"distances": SQUARE + np.triu(SQUARE)}, "not symmetric"),
        ({"distances": SQUARE * np.nan}, "finite"),
        ({"distances": -SQUARE}, "'a' and 'b' is -1; distances must be 0 or more"),
        ({"embedding": {"a": [0], "b": [1], "c": [2], "d": [1], 1: [1], "1": [1]}}, "twice"),
        ({"answers": Statements([list("abd")], names=list("abcd"))}, "no answer to 2 of 2"),
        ({"answers": Statements([list("xyz")])}, "other objects"),
        ({"answers": Statements([[0, 1, 2]], kind="odd")}, "kind odd"),
        ({"embedding": np.eye(4), "distances": SQUARE}, "give one of"),
    ],
)
def test_bad_models_get_one_clear_line(given, words):
    with pytest.raises((ParameterError, DissimilarityError)) as caught:
        tl.evaluate(SMALL, **given)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_compared():
    with pytest.raises(StatementError, match="no statements"):
        tl.evaluate(Statements([], 3), embedding=np.eye(3))
    one = tl.evaluate(SMALL, embedding=UNLIKE)
    other = tl.evaluate(SMALL.take([0, 1]), embedding=UNLIKE, name="other")
    for given, words in (
        ([one, one], "name 'model'"),
        ([one, other], "different statements"),
        ([], "a list of results of evaluate"),
    ):
        with pytest.raises(ParameterError, match=words):
            tl.compare_models(given)
    one_rater = Statements([[0, 1, 2]] * 2, raters=["x", "x"], kind="central")
    alone = tl.evaluate(one_rater, embedding=np.eye(3))
    assert (alone.ceiling, alone.of_ceiling, alone.agreement) == (None, None, None)


def _crossed(questions, raters, seed=0):
    """All raters answer all questions; a question is easy for all of them, or hard."""
    rng = np.random.default_rng(seed)
    asked = draw_questions(rng, 20, questions)
    best = right(POINTS, asked)
    easy = rng.random(questions) < 0.7
    rows, who = [], []
    for rater in range(raters):
        off = np.where(rng.random(questions) < np.where(easy, 0.05, 0.9), 1, 0)
        rows.append(say(asked, (best + off) % 3))
        who.append(np.full(questions, f"r{rater}"))
    return Statements(np.concatenate(rows), 20, raters=np.concatenate(who), kind="central")


def test_raters_who_share_questions_do_not_make_more_of_them():
    few, many = (_crossed(30, raters) for raters in (10, 40))
    found = [tl.evaluate(S, embedding=POINTS) for S in (few, many)]
    assert [each.unit for each in found] == ["rater and question"] * 2
    # the thirty questions alone leave 4 standard errors of sqrt(0.7 * 0.3) * 0.85 / sqrt(30)
    for each in found:
        assert each.interval[1] - each.interval[0] > 0.2
        low, high = each.of_ceiling_interval
        assert low < each.of_ceiling < high
    moved = np.random.default_rng(1).standard_normal(POINTS.shape)
    other = tl.evaluate(many, embedding=moved, name="other", yardstick=found[1].yardstick)
    pair = tl.compare_models([found[1], other]).differences[0]
    assert pair.high - pair.low > 0.2
    assert 0 < pair.p_value < 0.05


def test_with_all_questions_to_all_raters_it_is_the_analysis_of_variance():
    rng = np.random.default_rng(0)
    raters, questions = 9, 40
    table = rng.random((raters, questions)) + rng.normal(size=(raters, 1))
    table += rng.normal(size=questions)
    rater, question = np.divmod(np.arange(table.size), questions)
    value, variance, freedom = AnswerClusters(question, rater, raters).mean(table.ravel())
    mean = table.mean()
    by_rater, by_question = table.mean(axis=1), table.mean(axis=0)
    rest = table - by_rater[:, None] - by_question + mean
    squares = questions * ((by_rater - mean) ** 2).sum() / (raters - 1)
    common = raters * ((by_question - mean) ** 2).sum() / (questions - 1)
    common -= (rest**2).sum() / (raters - 1) / (questions - 1)
    assert value == pytest.approx(mean)
    assert variance == pytest.approx((squares + common) / table.size, rel=1e-3)
    few, many = stats.t.ppf(0.975, [8, 39])
    reach = np.sqrt(few**2 * squares + many**2 * common) / np.sqrt(squares + common)
    assert stats.t.ppf(0.975, freedom) == pytest.approx(reach, rel=1e-3)
    assert 8 < freedom < 39


def _unequal(amounts, seed, lapses=0.5):
    """Raters whose shares of lapses are between 0 and ``lapses``; and the accuracy of POINTS."""
    rng = np.random.default_rng(seed)
    asked = draw_questions(rng, 20, sum(amounts))
    rater = np.repeat(np.arange(len(amounts)), amounts)
    lapse = rng.random(len(rater)) < rng.uniform(0, lapses, len(amounts))[rater]
    chosen = np.where(lapse, rng.integers(3, size=len(rater)), right(POINTS, asked))
    S = Statements(say(asked, chosen), 20, raters=rater, kind="central")
    return S, 1 - lapses / 2 * 2 / 3


@pytest.mark.parametrize(
    "amounts", [[600] + [55] * 11, [400 // k for k in range(1, 13)], [150] * 5]
)
def test_the_interval_is_for_other_raters_however_much_each_gave(amounts):
    held = []
    for seed in range(3):
        S, true = _unequal(amounts, seed)
        found = tl.evaluate(S, embedding=POINTS, yardstick=NO_CEILING)
        low, high = found.interval
        assert low <= found.accuracy <= high
        held.append(low <= true <= high)
    assert sum(held) >= 2


@pytest.mark.parametrize(
    ("amounts", "unit", "caution"),
    [
        ([600] + [55] * 11, "rater", "one rater gave 50% of the answers, more than a fifth"),
        ([100] * 4, "rater", None),
        ([100] * 2, "question", "the answers are of 2 raters: intervals are about other questions"),
    ],
)
def test_for_whom_the_interval_is_not_is_said(amounts, unit, caution):
    S, _ = _unequal(amounts, 0)
    found = tl.evaluate(S, embedding=POINTS, yardstick=NO_CEILING)
    assert found.unit.startswith(unit)
    assert found.caution == caution or found.caution.startswith(caution)


@pytest.mark.parametrize("amounts", [[600] + [55] * 11, [100] * 5])
def test_models_that_are_equally_good_are_seldom_told_apart(amounts):
    # right for a rater's own half of the people, so that neither is better in the population
    p_values = []
    for seed in range(3):
        S, _ = _unequal(amounts, seed, lapses=0.0)
        rng = np.random.default_rng([1, seed])
        taste = rng.normal(size=len(amounts))[np.asarray(S.raters).astype(int)]
        first = rng.random(len(S)) < 1 / (1 + np.exp(-taste))
        one = tl.evaluate(S, embedding=POINTS, name="one", yardstick=NO_CEILING)
        two = replace(one, name="two", right=np.where(first, 0.0, 1.0), accuracy=1 - first.mean())
        one = replace(one, right=np.where(first, 1.0, 0.0), accuracy=first.mean())
        p_values.append(tl.compare_models([one, two]).differences[0].p_value)
    assert stats.combine_pvalues(p_values).pvalue > 0.001


def test_answers_without_a_rater_are_not_of_one_rater():
    S = _crossed(15, 6)
    who = np.array(S.raters)
    nobody = np.isin(who, ["r4", "r5"])
    blank = Statements(S.triples, 20, raters=np.where(nobody, "", who), kind="central")
    found, plain = (tl.evaluate(each, embedding=POINTS) for each in (blank, S))
    assert (found.raters, plain.raters, found.unit) == (4, 6, "rater and question")
    assert found.agreement == pytest.approx(plain.agreement)
    assert found.agreement == tl.reliability(blank).ceiling
    none, bare = (
        tl.evaluate(Statements(S.triples, 20, raters=who, kind="central"), embedding=POINTS)
        for who in ([""] * len(S), None)
    )
    assert (none.raters, none.unit, none.interval) == (0, "question", bare.interval)
    assert none.ceiling == bare.ceiling
    # nor do questions that were chosen count for the ceiling
    few = [[0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 0, 2]]
    chosen = [False, False, True, True]
    mixed = Statements(few, raters=["a", "b", "", ""], chosen=chosen, kind="central")
    assert tl.evaluate(mixed, embedding=np.eye(3)).agreement == 1.0


def test_tables_are_aligned_by_their_names():
    S = survey(POINTS, raters=4, per=50, seed=1)
    names = [f"o{i}" for i in range(20)]
    named = Statements(S.triples, names=names, kind="central")
    D = _distances(POINTS, "euclidean")

    def found(S=named, **model):
        return tl.evaluate(S, **model, yardstick=NO_CEILING)

    plain = found(distances=D)
    assert plain.accuracy == found(S, embedding=POINTS).accuracy
    assert plain.matched == "rows taken in the order of the objects: o0, o1, o2, o3, ... (20)"
    rows, columns = (np.random.default_rng(k).permutation(20) for k in (1, 2))
    own = [names[i] for i in rows]
    named_vectors = pd.DataFrame(POINTS[rows], columns=["x", "y"], index=own)
    for model in (
        {"distances": pd.DataFrame(D, names, names).iloc[rows, columns]},
        {"embedding": named_vectors.reset_index(names="object")},
        {"embedding": named_vectors},
        {"embedding": dict(zip(own, POINTS[rows], strict=True)) | {"another": [0.0, 0.0]}},
    ):
        by_name = found(**model)
        assert (by_name.accuracy, by_name.matched) == (plain.accuracy, "objects matched by name")
    for model in ({"distances": pd.DataFrame(D)}, {"embedding": pd.DataFrame(POINTS)}):
        in_order = found(**model)
        assert (in_order.accuracy, in_order.matched) == (plain.accuracy, plain.matched)
    similar = D.max() - D
    assert found(S, embedding=similar).answers == len(S)  # no distances: vectors


@pytest.fixture(scope="module")
def several():
    S = survey(POINTS, "odd", raters=6, per=60, pool=240, seed=2)
    noise = np.random.default_rng(4).standard_normal((20, 2))
    models = {"bent": POINTS * [1, 6], "noise": noise, "twin": noise[:, ::-1], "eye": np.eye(20)}
    return S, models, tl.evaluate(S, models)


def test_one_table_as_they_are_and_aligned(several):
    S, models, found = several
    for model in found.models:  # the raw part is what each alone would get
        alone = tl.evaluate(S, embedding=models[model.name], yardstick=model.yardstick)
        assert (model.accuracy, model.interval) == (alone.accuracy, alone.interval)
    bent = {model.name: model for model in found.aligned.models}
    raw = {model.name: model for model in found.models}
    assert bent["bent"].accuracy > raw["bent"].accuracy + 0.05
    assert bent["noise"].interval[0] < raw["noise"].chance + 0.1  # nothing is learned from noise
    # a map that has not seen the objects of its answers has no use for a vector of their own
    assert bent["eye"].accuracy == pytest.approx(raw["eye"].chance, abs=0.01)
    for pair in found.differences:
        assert pair.low <= pair.difference <= pair.high
        assert pair.p_value <= pair.adjusted
    ranks = found.ranks
    assert ranks["noise"] == ranks["twin"]  # the same distances
    assert ranks["bent"][0] == 1
    facts = json.loads(json.dumps(found.to_dict()))
    assert {each["name"] for each in facts["aligned"]["models"]} == set(models)
    assert facts["aligned"]["models"][0]["rank"][0] == 1
    assert "Avitan and Golan" in facts["comparison_caution"]
    assert found.columns()["aligned_accuracy"][0] == bent[found.models[0].name].accuracy


def test_alignment_in_any_order_of_rows_and_objects(several):
    S, models = several[0].take(np.arange(90)), several[1]
    order = np.random.default_rng(1).permutation(20)
    other = S.subset(order).take(np.random.default_rng(2).permutation(len(S)))
    first, second = (
        tl.evaluate(each, embedding=X, aligned=True, yardstick=NO_CEILING)
        for each, X in ((S, models["bent"]), (other, models["bent"][order]))
    )
    assert second.accuracy == pytest.approx(first.accuracy, abs=1e-9)


def test_a_good_model_of_few_raters_has_a_narrow_interval():
    # 94 % of 600 answers of four raters, each of whom agrees about as often
    rng = np.random.default_rng(5)
    asked = draw_questions(rng, 20, 600)
    odd = (right(POINTS, asked, "odd") + (rng.random(600) < 0.06)) % 3
    S = Statements(say(asked, odd), 20, kind="odd", raters=np.arange(600) % 4)
    found = tl.evaluate(S, embedding=POINTS)
    assert found.interval[0] > 0.8
    assert found.interval[1] - found.interval[0] < 0.15
