"""The facts of an `Analysis` as one self-contained HTML page, and as tables."""

from trilens.report.page import render, write_reliability, write_report
from trilens.report.pictures import Picture, Pictures, load_pictures, picture_size
from trilens.report.stimuli import draw_stimuli
from trilens.report.tables import write_tables

__all__ = [
    "Picture",
    "Pictures",
    "draw_stimuli",
    "load_pictures",
    "picture_size",
    "render",
    "write_reliability",
    "write_report",
    "write_tables",
]
