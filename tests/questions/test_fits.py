"""How much is computed for a report."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

import trilens as tl
from trilens.simulate import study
from trilens.statements import Statements


@pytest.mark.slow
def test_a_report_of_2000_answers_takes_few_fits(monkeypatch):
    """Each question fitting by itself took 333, and found the connected parts four times."""
    fits, parts = [], []
    real, connected = (
        import_module("trilens.maps.descent").fit_choices,
        Statements.connected_parts.func,
    )

    def counted(*arguments, **options):
        fits.append(1)
        return real(*arguments, **options)

    for module in list(sys.modules.values()):
        if getattr(module, "fit_choices", None) is real:
            monkeypatch.setattr(module, "fit_choices", counted)
    monkeypatch.setattr(
        Statements.connected_parts, "func", lambda S: parts.append(1) or connected(S)
    )
    tl.analyze(study(n_statements=2000).statements)
    assert len(fits) <= 220  # 199 of them are of clouds, behind the p-values
    assert len(parts) <= 2  # of the answers, and of those without careless raters
