"""Results in, matplotlib Axes out: one function per picture, in one colour-blind safe style."""

from trilens.plots.bars import appearances
from trilens.plots.curves import loss_curves
from trilens.plots.depths import depth_against_depth, sorted_depths
from trilens.plots.graphs import graph_drawing
from trilens.plots.heat import depth_heat_map
from trilens.plots.maps import object_map
from trilens.plots.reliability import (
    ceiling_bar,
    learning_curve,
    models_against_ceiling,
    rater_intervals,
    save_figure,
)
from trilens.plots.style import PALETTE, colours

__all__ = [
    "PALETTE",
    "appearances",
    "ceiling_bar",
    "colours",
    "depth_against_depth",
    "depth_heat_map",
    "graph_drawing",
    "learning_curve",
    "loss_curves",
    "models_against_ceiling",
    "object_map",
    "rater_intervals",
    "save_figure",
    "sorted_depths",
]
