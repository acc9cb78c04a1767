"""What is released: its files, what they need, and what they say of themselves."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import trilens

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: Of these extras nothing is part of the library.
AROUND = ("all", "test", "docs", "bench", "gpu")


def named(requirements: list[str]) -> set[str]:
    """The packages that requirements name."""
    names = {re.split(r"[^\w.-]", text)[0] for text in requirements}
    return {re.sub(r"[_.]", "-", name).lower() for name in names} - {"trilens"}


EXTRAS = PROJECT["optional-dependencies"]
#: What users install.
NEEDED = named(PROJECT["dependencies"]).union(
    *(named(EXTRAS[name]) for name in EXTRAS if name not in AROUND)
)


def test_one_version_everywhere():
    version = PROJECT["version"]
    assert trilens.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^## (\S+),", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version


def test_every_package_of_an_extra_is_imported_and_explained():
    modules: dict[str, set[str]] = {name: set() for name in NEEDED}
    for module, packages in packages_distributions().items():
        for name in named(packages) & NEEDED:
            modules[name].add(module)
    text = "\n".join(file.read_text() for file in (ROOT / "src").rglob("*.py"))
    used = set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE))
    used |= set(re.findall(r"\"(\w+)\",", text))  # what the survey asks for by name
    used |= {"uvloop"}  # uvicorn takes it where it is installed
    assert {name for name, own in modules.items() if not own & used} == set()
    # and the page of dependencies says why it is here
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()
    assert {name for name in NEEDED if name not in page} == set()


def test_constraints_are_one_version_of_each_package():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert NEEDED.union(*map(named, EXTRAS.values())) - named(lines) == set()
    assert len(named(lines)) == len(lines)


@pytest.mark.slow
def test_the_sdist_has_what_its_tests_need(tmp_path):
    made = shutil.ignore_patterns(
        ".*", "*.egg-info", "__pycache__", "*.nb[ci]", "site", "jupyter_execute", "demo", "build",
        "dist", "plots", "results.*", "summary*", "sg_execution_times.rst",
    )  # fmt: skip
    copy = tmp_path / "trilens"
    shutil.copytree(ROOT, copy, ignore=made)
    files = {file.relative_to(copy).as_posix() for file in copy.rglob("*") if file.is_file()}
    build = "from setuptools import build_meta; build_meta.build_sdist('..')"
    subprocess.run([sys.executable, "-c", build], cwd=copy, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert files - inside == set()
