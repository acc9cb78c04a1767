"""The facts of an `Analysis` to one self-contained HTML page, and to tables."""

from trilens.report.page import render
from trilens.report.pictures import Picture, Pictures, load_pictures
from trilens.report.stimuli import draw_stimuli
from trilens.report.write import picture_size, write_report, write_tables

__all__ = [
    "Picture",
    "Pictures",
    "draw_stimuli",
    "load_pictures",
    "picture_size",
    "render",
    "write_report",
    "write_tables",
]
