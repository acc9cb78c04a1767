"""Run benchmarks and keep what they print in benchmarks/measured.md.

    python benchmarks/write_page.py               # all of them
    python benchmarks/write_page.py bench_csv.py  # some; the others' sections stay as they are

A section holds the date, the hardware and the output of one script, word for word.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE / "measured.md"
START = "<!-- measured: everything below is written by benchmarks/write_page.py -->"


def hardware() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    model = platform.processor() or platform.machine()
    if cpuinfo.exists():
        found = re.search(r"model name\s*:\s*(.+)", cpuinfo.read_text())
        model = found[1] if found else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{len(os.sched_getaffinity(0))} cores, {model}, {memory:.0f} GiB"


def measured(script: Path) -> str:
    print(f"== {script.name}", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, check=True
    )
    today = datetime.date.today().isoformat()
    title = (script.read_text().split('"""')[1]).strip().splitlines()[0]
    return (
        f"## {script.name}\n\n{title}\n\n"
        f"Measured {today}, {hardware()}, Python {platform.python_version()}.\n\n"
        f"```text\n{done.stdout.strip()}\n```\n"
    )


def main() -> None:
    wanted = sys.argv[1:] or sorted(path.name for path in HERE.glob("bench_*.py"))
    text = PAGE.read_text() if PAGE.exists() else f"# Benchmarks\n\n{START}\n"
    head, _, body = text.partition(START)
    sections = {
        section.split("\n", 1)[0].strip(): f"## {section.rstrip()}\n"
        for section in re.split(r"^## ", body, flags=re.MULTILINE)[1:]
    }
    for name in wanted:
        sections[name] = measured(HERE / name)
        ordered = "\n".join(sections[key] for key in sorted(sections))
        PAGE.write_text(f"{head}{START}\n\n{ordered}")


if __name__ == "__main__":
    main()
