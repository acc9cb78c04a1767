"""The calls, fuzzed from their own description: whatever is sent, the server does not fail."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from studies import Client, Running, running
from trilens_survey.database import open_database


def operations(app: Running) -> dict[str, Any]:
    import schemathesis

    schema = schemathesis.openapi.from_url(f"{app.url}/openapi.json")
    found = [result.ok() for result in schema.get_all_operations()]
    return {f"{operation.method.upper()} {operation.path}": operation for operation in found}


def fuzz(url: str, operation: Any, mode: Any, cookies: dict[str, str]) -> None:
    """Send what the description allows, or what it does not."""

    @settings(max_examples=25, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        answer = case.call(base_url=url, cookies=cookies)
        assert answer.status_code < 500, f"{operation.path}: {answer.text}"

    send()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_no_call_makes_the_server_fail(
    request: pytest.FixtureRequest, folder: Any, where: str
) -> None:
    from schemathesis.generation import GenerationMode

    url = None if where == "sqlite" else request.getfixturevalue("postgres_url")
    with running(folder, open_database(folder, url)) as app:
        every = operations(app)
        assert {"POST /api/join", "GET /api/question", "POST /api/answer"} <= every.keys()
        rater = app.joined()
        for name, operation in every.items():
            # a call that takes nothing, or any key, cannot be given the wrong thing
            takes = bool(operation.body) or bool(operation.query)
            for mode in GenerationMode if takes else [GenerationMode.POSITIVE]:
                cookies = {} if "join" in name else dict(rater.cookies)
                fuzz(app.url, operation, mode, cookies)
        # and it still does its work
        other = app.joined()
        assert len(other.round()) == 20


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from trilens_survey.example import write_example

    folder = tmp_path_factory.mktemp("fuzz") / "study"
    write_example(folder)
    with running(folder) as app:
        rater = app.joined()
        yield rater


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.dictionaries(st.sampled_from(["token", "chosen", "seconds", "consent", "x"]), JSON)
    | JSON,
    path=st.sampled_from(["/api/answer", "/api/join", "/api/round", "/api/finish"]),
)
def test_any_json_is_answered(joined: Client, body: Any, path: str) -> None:
    import json

    text = json.dumps(body)
    answer = joined.post(path, content=text, headers={"content-type": "application/json"})
    assert answer.status_code < 500


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=200), kind=st.sampled_from(["application/json", "text/plain", "x"]))
def test_any_bytes_are_answered(joined: Client, body: bytes, kind: str) -> None:
    for path in ("/api/join", "/researcher/sign-in"):
        answer = joined.post(path, content=body, headers={"content-type": kind})
        assert 400 <= answer.status_code < 500
