"""Facts to a plain dict, the dict to one self-contained HTML page."""

from trilens.report.facts import analyze
from trilens.report.page import render
from trilens.report.pictures import Picture, Pictures, load_pictures
from trilens.report.stimuli import draw_stimuli
from trilens.report.write import write_report, write_tables

__all__ = [
    "Picture",
    "Pictures",
    "analyze",
    "draw_stimuli",
    "load_pictures",
    "render",
    "write_report",
    "write_tables",
]
