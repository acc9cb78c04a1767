"""Errors: what they carry, how Python and the command line show them."""

from __future__ import annotations

import pickle

import pytest

from trilens.cli import flags_of, trilens
from trilens.errors import (
    DatasetError,
    FormatError,
    MissingExtraError,
    ParameterError,
    StatementError,
    StudyError,
    TrilensError,
    option,
    parameter_name,
)


def test_python_shows_python():
    error = ParameterError(
        f"{parameter_name('kind')} is wrong: use {option('kind', 'odd')}, {option('columns')} "
        f"or {option('skip_bad', True)}",
        parameter="kind",
    )
    assert str(error) == "kind is wrong: use kind='odd', columns= or skip_bad=True"
    assert error.args == (str(error),)
    assert repr(error) == f'ParameterError("{error}")'
    assert error.parameter == "kind"


def test_the_command_line_shows_its_flags():
    command = trilens.get_command(None, "fit")
    error = ParameterError(
        f"{parameter_name('n_components')} goes with {option('columns', 'a=b c')}, "
        f"{option('device', 3)}, {option('header', False)}, {option('pairs', True)}; no "
        f"{parameter_name('something')}"
    )
    assert error.said(flags_of(command)) == (
        "--n-components goes with --columns 'a=b c', --device 3, --no-header, --pairs; no something"
    )


def test_an_error_may_quote_another_and_foreign_text_has_no_references():
    inner = ParameterError(f"{parameter_name('k')} is 0; use {option('k', 1)}")
    outer = FormatError(f"file.csv: {inner.message}")
    assert str(outer) == "file.csv: k is 0; use k=1"
    assert outer.said(lambda reference: reference.name.upper()) == "file.csv: K is 0; use K"
    foreign = FormatError("a\x02b=c d\x03.csv cannot be read")
    assert foreign.said(lambda reference: "--wrong") == "ab=c d.csv cannot be read"


@pytest.mark.parametrize(
    "error",
    [
        ParameterError(f"use {option('kind', 'odd')}", parameter="kind"),
        StatementError("an object stands twice", row=3),
        StudyError(["one", "two"]),
        MissingExtraError("trilens.plots", "plots"),
        DatasetError("cars cannot be downloaded"),
        TrilensError(),
    ],
)
def test_errors_can_be_sent_to_another_process(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))
