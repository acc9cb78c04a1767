"""Counts to depth: lens depth, depth within a class, intervals."""

from trilens.depth.classes import class_depth
from trilens.depth.intervals import DepthIntervals, depth_intervals
from trilens.depth.lens import centrality, lens_depth

__all__ = ["DepthIntervals", "centrality", "class_depth", "depth_intervals", "lens_depth"]
