"""What is released: its files, what they need, and what they say of themselves."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
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


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the wheel, and the packages that it needs from this one."""
    folder = tmp_path_factory.mktemp("wheel")
    # a copy: building leaves files behind
    sources = folder / "trilens"
    sources.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    shutil.copytree(ROOT / "src", sources / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(sources)]
    subprocess.run([*pip, *build], check=True)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    make = [sys.executable, "-m", "venv", "--without-pip", str(environment)]
    subprocess.run(make, check=True)
    python = environment / "bin" / "python"
    install = ["--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, *install], check=True)
    # a plain path: what this environment's own .pth files point at, the sources, stays out
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    found = subprocess.run(asked, check=True, capture_output=True, text=True)
    packages = Path(found.stdout.strip())
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment


def tried(environment, *words, folder):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV"))}
    command = [str(environment / "bin" / words[0]), *words[1:]]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=folder, env=clean
    ).stdout


@pytest.mark.slow
def test_the_library_is_that_of_the_wheel_and_writes_a_report(installed, tmp_path):
    code = "import trilens as tl; print(tl.__file__); print(len(dir(tl)), tl.SOE.__name__)"
    file, names = tried(installed, "python", "-c", code, folder=tmp_path).splitlines()
    assert file.startswith(str(installed))
    assert int(names.split()[0]) > 40
    assert "trilens, version" in tried(installed, "trilens", "--version", folder=tmp_path)
    study = ["simulate", "-n", "8", "--statements", "50", "-o", "answers.csv"]
    tried(installed, "trilens", *study, folder=tmp_path)
    tried(installed, "trilens", "analyze", "answers.csv", "-o", "report.html", folder=tmp_path)
    assert "</html>" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_everything_that_is_no_python_came_along(installed):
    (packages,) = installed.glob("lib/python*/site-packages/trilens")
    source = ROOT / "src" / "trilens"
    endings = {".html", ".css", ".js", ".svg", ".yaml", ".csv", ".cu", ".pyi", ".typed", ".py"}

    def files(folder):
        return {
            file.relative_to(folder).as_posix()
            for file in folder.rglob("*")
            if file.suffix in endings or file.name == "py.typed"
        }

    assert files(packages) == files(source)
