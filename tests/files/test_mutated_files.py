"""Mutated files: a trilens error or a right result, nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutations import ENDINGS, run

#: Files of each of four parts; the parts run side by side.
FILES = 40 * len(ENDINGS)


@pytest.mark.parametrize("seed", range(4))
def test_mutated_files(seed: int, tmp_path: Path) -> None:
    counts = run(FILES, seed, tmp_path)
    assert counts["read"] + counts["refused"] == FILES
    for ending in ENDINGS:
        assert counts[f"{ending} read"] > 0
        assert counts[f"{ending} refused"] > 0
