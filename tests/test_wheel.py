"""The wheel, built and tried in an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]


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
