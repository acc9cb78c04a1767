"""Simulated data: points, which triples are asked, how the answers go wrong."""

from trilens.simulate.answers import answer, distort
from trilens.simulate.neighbors import neighbor_statements
from trilens.simulate.paper_survey import Survey, ask_survey
from trilens.simulate.points import (
    Points,
    far_outliers,
    gaussian,
    mixture,
    two_moons,
    with_outliers,
)
from trilens.simulate.raters import Raters, ask_raters, draw_raters
from trilens.simulate.stream import simulate_statements, stream_statements
from trilens.simulate.study import Study, study
from trilens.simulate.triples import n_questions

__all__ = [
    "Points",
    "Raters",
    "Study",
    "Survey",
    "answer",
    "ask_raters",
    "ask_survey",
    "distort",
    "draw_raters",
    "far_outliers",
    "gaussian",
    "mixture",
    "n_questions",
    "neighbor_statements",
    "simulate_statements",
    "stream_statements",
    "study",
    "two_moons",
    "with_outliers",
]
