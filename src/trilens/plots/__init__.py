"""Results in, matplotlib Axes out: one function per figure, in one color-blind safe style."""

from trilens.plots.files import save_figure, write_figures
from trilens.plots.hierarchy import tree
from trilens.plots.objects import (
    appearances,
    depth_against_depth,
    depth_heat_map,
    graph_drawing,
    object_map,
    sorted_depths,
)
from trilens.plots.plan import plan_curve
from trilens.plots.raters import group_maps, rater_map
from trilens.plots.reliability import ceiling_bar, models_against_ceiling, rater_intervals
from trilens.plots.style import PALETTE, colors

__all__ = [
    "PALETTE",
    "appearances",
    "ceiling_bar",
    "colors",
    "depth_against_depth",
    "depth_heat_map",
    "graph_drawing",
    "group_maps",
    "models_against_ceiling",
    "object_map",
    "plan_curve",
    "rater_intervals",
    "rater_map",
    "save_figure",
    "sorted_depths",
    "tree",
    "write_figures",
]
