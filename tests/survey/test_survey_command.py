"""`trilens survey` as it is typed, and as the recipes for running a study call it."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click import Context
from click.testing import CliRunner

from studies import edit, running, survey
from trilens.cli import trilens
from trilens_survey.command import command
from trilens_survey.database import open_database
from trilens_survey.study import check_study


def facts_of(folder: Path, *options: str) -> dict[str, Any]:
    """How a study stands."""
    return dict(json.loads(survey("status", folder, "--json", *options).stdout))


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_init_makes_what_check_takes(tmp_path: Path, kind: str) -> None:
    done = survey("init", tmp_path / "s", "--kind", kind)
    assert done.exit_code == 0
    assert f"kind: {kind}" in (tmp_path / "s" / "study.yaml").read_text()
    assert survey("check", tmp_path / "s").exit_code == 0
    again = survey("init", tmp_path / "s")
    assert again.exit_code == 1
    assert "already exists" in again.output


def test_nobody_else_can_read_the_answers(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    survey("init", folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    old = folder / "answers.db"
    old.touch(0o644)
    with running(folder) as app:
        app.participant().join()
        files = sorted(path.name for path in folder.iterdir() if path.name.startswith("answers"))
        assert "answers.db-wal" in files
        assert {(folder / name).stat().st_mode & 0o777 for name in files} == {0o600}
    assert survey("backup", folder, "-o", tmp_path / "copy.db").exit_code == 0
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600


def test_check_lists_everything(folder: Path) -> None:
    edit(folder, ("kind: central", "kind: x"), ("length: 20", "length: 2000"))
    done = survey("check", folder)
    assert done.exit_code == 1
    assert len(done.stdout.splitlines()) == len(check_study(folder)) == 2
    told = json.loads(survey("check", folder, "--json").stdout)
    assert told["ok"] is False
    assert [p["line"] for p in told["problems"]] == [p.line for p in check_study(folder)]


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("x", (), "study.yaml, line"),
        ("odd", ("--workers", 2), "SQLite allows one writer"),
        ("odd", ("--database", "sqlite:///x"), "must be postgresql://"),
        ("odd", ("--database", "postgresql://x@127.0.0.1:1/none"), "refused"),
    ],
    ids=["a study with mistakes", "SQLite for two", "another database", "no database"],
)
def test_what_cannot_be_served_is_said_in_one_line(
    folder: Path, kind: str, options: tuple[object, ...], said: str
) -> None:
    edit(folder, ("kind: central", f"kind: {kind}"))
    done = survey("serve", folder, "--port", 0, *options)
    assert done.exit_code == 1
    assert said in done.output
    assert "Traceback" not in done.output
    # the other line is for other users of the computer
    assert len([line for line in done.output.splitlines() if "other users" not in line]) == 1


def test_a_second_server_on_the_same_file_or_port_is_refused(folder: Path, tmp_path: Path) -> None:
    survey("init", tmp_path / "other")
    with open_database(folder).locked(), running(folder) as app:
        second = survey("serve", folder, "--port", 0)
        assert second.exit_code == 1
        assert "another process is writing" in second.output
        # so does a command that writes
        assert "use the researcher's page" in survey("forget", folder, "X").output
        assert facts_of(folder)["answers"] == 0, "looking is allowed"
        other = survey("serve", tmp_path / "other", "--port", app.port)
        assert other.exit_code == 1
        assert f"port {app.port}" in other.output


def test_what_a_researcher_does_with_a_study(folder: Path, tmp_path: Path) -> None:
    for name in ("status", "export"):
        done = survey(name, folder)
        assert done.exit_code == 1
        assert "no answers yet" in done.output
    assert survey("password", folder, "--password", "short").exit_code == 1
    for name in ("ada", "ben"):
        typed = survey("password", folder, "--name", name, input="a long enough one\n" * 2)
        assert typed.exit_code == 0
    with running(folder) as app:
        form = {"username": "ada", "password": "a long enough one"}
        assert app.participant().post("/researcher/sign-in", data=form).status_code == 303
        rater = app.participant()
        receipt = rater.join(platform_id="P1")
        rater.round()
        rater.post("/api/finish")
    facts = facts_of(folder)
    assert (facts["answers"], facts["participants"], facts["rounds"]) == (20, 1, 1)
    assert "tests passed" in survey("status", folder).stdout
    file = tmp_path / "answers.csv"
    for which in ("all", "passed"):
        done = survey("export", folder, "-o", file, "--set", which)
        assert done.exit_code == 0, done.output
    assert survey("export", folder, "--set", "all-reduced").exit_code == 2
    told = survey("export", folder, "-o", file, "--json")
    assert json.loads(told.stdout)["statements"] == 20
    assert len(survey("export", folder).stdout.splitlines()) == 21
    described = CliRunner().invoke(trilens, ["describe", str(file), "--json"])
    # one test question and two repeated ones tell of the raters, and it says so
    assert json.loads(described.stdout)["statements"] == 17
    described = CliRunner().invoke(trilens, ["describe", str(file)])
    assert "not part of the findings: 2 repeated questions and 1 " in described.output
    # payments
    (paid,) = csv.DictReader(survey("payments", folder).stdout.splitlines())
    assert (paid["platform_id"], paid["answers"], paid["code"]) == ("P1", "20", "THANKS")
    assert "erased 1 platform ids and codes" in survey("payments", folder, "--erase").stderr
    assert len(survey("payments", folder).stdout.splitlines()) == 1
    # one participant
    mine = tmp_path / "mine.json"
    assert survey("export", folder, "--receipt", receipt, "-o", mine).exit_code == 0
    assert len(json.loads(mine.read_text())["questions"]) == 20
    assert survey("forget", folder, "ABCD-EFGH").exit_code == 1
    assert json.loads(survey("forget", folder, receipt, "--json").stdout) == {"answers": 20}
    facts = facts_of(folder)
    assert (facts["answers"], facts["participants"], facts["erased"]) == (0, 0, 1)
    # not a trace in the file, nor in the log beside it
    assert all(receipt.encode() not in file.read_bytes() for file in folder.glob("answers*"))
    # researchers
    assert survey("researchers", folder, "--remove", "ben").exit_code == 0
    last = survey("researchers", folder, "--remove", "ada")
    assert last.exit_code == 1
    assert "only researcher" in last.stderr
    log = json.loads(survey("researchers", folder, "--json").stdout)
    assert log["researchers"] == ["ada"]
    assert log["log"][0]["what"] == "may not sign in any more"
    listed = survey("researchers", folder)
    assert listed.stdout == "ada\n"
    assert "ben: may not sign in any more" in listed.stderr


def test_two_servers_on_one_database(folder: Path, postgres_url: str) -> None:
    """What several processes do, in one: they share nothing but the database."""
    database = open_database(folder, postgres_url)
    with running(folder, database) as one, running(folder, database) as other:
        rater = one.joined()
        # a participant may be asked by one and answer to the other
        elsewhere = other.participant(cookies=dict(rater.cookies))
        assert elsewhere.question() == rater.question()
        for client in (elsewhere, rater):
            client.answer_one()
        assert elsewhere.question()["number"] == 3
        new = other.joined()
        assert len(new.round()) == 20
    facts = facts_of(folder, "--database", postgres_url)
    assert (facts["answers"], facts["participants"]) == (22, 2)


@pytest.mark.slow
def test_several_processes_on_postgresql(folder: Path, postgres_url: str, serve: Any) -> None:
    server = serve(folder, "--database", postgres_url, "--workers", "2")
    for _ in range(4):
        with server.client() as rater:
            rater.join()
            assert len(rater.round()) == 20
    facts = facts_of(folder, "--database", postgres_url)
    assert (facts["answers"], facts["participants"]) == (80, 4)
    assert server.stop() == 0


def test_every_command_has_help_with_an_example() -> None:
    names = trilens.get_command(Context(trilens), "survey").commands  # type: ignore[union-attr]
    assert {"init", "check", "serve", "export", "status", "forget", "password"} <= names.keys()
    for name in names:
        assert f"Example: trilens survey {name}" in survey(name, "--help").output


def test_the_library_starts_without_the_surveys_packages() -> None:
    code = (
        "import sys, trilens, trilens.cli; trilens.cli.trilens.list_commands(None);"
        "bad = {'fastapi', 'sqlalchemy', 'uvicorn', 'yaml'} & set(sys.modules);"
        "sys.exit(f'imported {bad}' if bad else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_is_missing_is_said_in_one_line(tmp_path: Path, monkeypatch: Any) -> None:
    """One of the extra's packages, or the survey's own code; the library goes on without it."""
    said = "Error: trilens survey needs the survey extra: pip install 'trilens[survey]'\n"
    found = importlib.util.find_spec
    with monkeypatch.context() as without:
        without.setattr(
            importlib.util,
            "find_spec",
            lambda name, *a: None if name == "fastapi" else found(name, *a),
        )
        done = survey("init", tmp_path / "s")
        assert (done.exit_code, done.output) == (1, said)
        assert survey("--help").exit_code == 0
    for name in ("trilens_survey", "trilens_survey.command"):
        monkeypatch.setitem(sys.modules, name, None)
    done = survey("serve", "study", "--port", 0)
    assert (done.exit_code, done.output) == (1, said)
    assert "survey" in CliRunner().invoke(trilens, ["--help"]).output


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
