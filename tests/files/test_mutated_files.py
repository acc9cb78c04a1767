"""Mutated files: a trilens error or a right result, nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutations import ENDINGS, run

#: Files of one seed; of the first one half as many.
FILES = 40 * len(ENDINGS)
#: Ten thousand and more of them in all.
SEEDS = range(1 - (-10_000 // FILES))


@pytest.mark.parametrize(
    "seed", [seed if seed == 0 else pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS]
)
def test_mutated_files(seed: int, tmp_path: Path) -> None:
    files = FILES if seed else FILES // 2
    counts = run(files, seed, tmp_path)
    assert counts["read"] + counts["refused"] == files
    for ending in ENDINGS:
        assert counts[f"{ending} read"] > 0
        assert counts[f"{ending} refused"] > 0
