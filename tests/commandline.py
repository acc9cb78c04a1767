"""The command line in this process: most tests of commands need no process of their own."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from trilens.cli import trilens


def run(*words: object, status: int = 0, stdin: str | None = None) -> Result:
    """Run a command that ends with this status; one that fails prints one line, and no result."""
    result = CliRunner().invoke(trilens, [str(word) for word in words], input=stdin)
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.stderr
    if status:
        assert result.stdout == ""
        assert len(result.stderr.strip().splitlines()) == 1 or status == 2
    return result


def facts(*words: object, **options: Any) -> Any:
    """What a command prints as JSON."""
    return json.loads(run(*words, "--json", **options).stdout)
