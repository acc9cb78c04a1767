from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from people import survey
from trilens import plots
from trilens.errors import FormatError, ParameterError
from trilens.questions.reliability import reliability
from trilens.statements import Statements

POINTS = np.random.default_rng(5).standard_normal((16, 2))


@pytest.fixture(autouse=True)
def _headless():
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def people():
    return survey(POINTS, raters=16, per=100, seed=1)


@pytest.fixture(scope="module")
def found(people):
    return reliability(people)


def test_raters_stand_on_one_axis_the_most_careful_first(found):
    ax = plots.rater_intervals(found)
    ax.figure.canvas.draw()
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        row.rater for row in sorted(found.raters, key=lambda row: row.blind)
    ]
    drawn = np.concatenate([dots.get_offsets() for dots in ax.collections[1::2]])
    assert sorted(drawn[:, 0]) == pytest.approx(sorted(row.blind for row in found.raters))
    with pytest.raises(ParameterError, match="no raters"):
        plots.rater_intervals(reliability(Statements([[0, 1, 2]], kind="central")))


def test_the_bar_has_chance_prediction_agreement_and_the_best(found):
    ax = plots.ceiling_bar(found)
    texts = [text.get_text() for text in ax.texts]
    assert len(texts) == 4
    assert f"two raters agree {found.ceiling:.0%}" in texts
    assert len(plots.ceiling_bar(reliability(Statements([[0, 1, 2]], kind="central"))).texts) == 1


def test_models_stand_between_chance_and_the_ceiling(people, tmp_path):
    true = tl.evaluate(people, embedding=POINTS, name="$true")
    models = [true, tl.evaluate(people, answers=people, yardstick=true.yardstick)]
    ax = plots.models_against_ceiling(models)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["model", "$true"]
    plots.save_figure(ax, tmp_path / "models.png")
    assert (tmp_path / "models.png").exists()
    with pytest.raises(FormatError, match="cannot be written"):
        plots.save_figure(plots.models_against_ceiling(models), tmp_path / "models.nothing")
    with pytest.raises(ParameterError, match="no models"):
        plots.models_against_ceiling([])
