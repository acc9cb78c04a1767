"""Results in, matplotlib Axes out: one function per picture, in one colour-blind safe style."""

from trilens.plots.bars import appearances
from trilens.plots.curves import loss_curves
from trilens.plots.depths import depth_against_depth, sorted_depths
from trilens.plots.graphs import graph_drawing
from trilens.plots.heat import depth_heat_map
from trilens.plots.maps import object_map
from trilens.plots.style import PALETTE, colours

__all__ = [
    "PALETTE",
    "appearances",
    "colours",
    "depth_against_depth",
    "depth_heat_map",
    "graph_drawing",
    "loss_curves",
    "object_map",
    "sorted_depths",
]
