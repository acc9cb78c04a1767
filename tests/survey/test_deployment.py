"""The recipes for running a study: what they call is there, and the documentation has the steps."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from trilens_survey.command import command

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "survey-deployment.md").read_text(encoding="utf-8")
COMPOSE = (TOP / "deploy" / "compose.yaml").read_text(encoding="utf-8")
SERVICES: dict[str, Any] = yaml.safe_load(COMPOSE)["services"]


def parsed(arguments: list[str]) -> dict[str, Any]:
    """What a command of the survey understands; unknown options fail."""
    name, *rest = arguments
    return dict(command.commands[name].make_context(name, rest).params)


def test_the_image_serves_a_study() -> None:
    text = (TOP / "deploy" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    told = dict(line.split(None, 1) for line in text.splitlines() if line and line[0] != "#")
    assert "[survey]" in text
    assert told["USER"] == "study"
    assert json.loads(told["ENTRYPOINT"]) == ["trilens", "survey"]
    given = parsed(json.loads(told["CMD"]))
    assert (given["host"], given["port"]) == ("0.0.0.0", int(told["EXPOSE"]))


def test_the_services_fit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    survey, database, proxy = (SERVICES[name] for name in ("survey", "database", "proxy"))
    line = re.sub(r"\$\{HOST[^}]*\}", "study.example.org", survey["command"])
    monkeypatch.delenv("TRILENS_DATABASE", raising=False)
    given = parsed(shlex.split(line))
    assert given["public_url"] == "https://study.example.org"
    assert given["workers"] > 1
    (mount,) = survey["volumes"]
    assert str(given["folder"]) == mount.split(":")[1]
    user, name = (database["environment"][f"POSTGRES_{key}"] for key in ("USER", "DB"))
    address = survey["environment"]["TRILENS_DATABASE"]
    assert address.startswith(f"postgresql://{user}:")
    assert address.endswith(f"@database/{name}")
    assert "ports" not in survey  # nobody but the proxy reaches it, so that it may be trusted
    assert "443:443" in proxy["ports"]
    rules = (TOP / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    assert f"reverse_proxy survey:{given['port']}" in rules


def test_the_steps_are_those_of_the_documentation() -> None:
    part = PAGE.split("## With containers")[1].split("\n## ")[0]
    steps = re.findall(r"^\$ (.*)$", part, flags=re.MULTILINE)
    assert steps[0] == "cd deploy"
    for name in ("HOST", "POSTGRES_PASSWORD"):
        assert f"{name}=" in part
        assert f"${{{name}:?" in COMPOSE
    assert any(step.startswith("docker compose up --build") for step in steps)
    for step in steps:
        words = shlex.split(step)
        if "exec" in words:
            assert words[words.index("exec") + 1] in SERVICES
        if "trilens" in words:
            name = words[words.index("survey", words.index("trilens")) + 1]
            assert name in command.commands
