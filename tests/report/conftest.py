from __future__ import annotations

import pytest

from nasty import nasty_study
from trilens.analysis import analyze


@pytest.fixture(scope="session")
def facts():
    """Of a study whose names try to be markup; a test that changes them takes a copy."""
    statements, labels = nasty_study()
    title = "<script>window.hacked = 9</script> “title”"
    return analyze(statements, labels, n_clusters=3, title=title).to_dict()
