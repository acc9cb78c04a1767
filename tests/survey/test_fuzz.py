"""The calls, fuzzed from their own description: whatever is sent, the server does not fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from studies import Running, running
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
        cookies = dict(app.joined().cookies)
        for name, operation in every.items():
            # a call that takes nothing, or any key, cannot be given the wrong thing
            takes = bool(operation.body) or bool(operation.query)
            for mode in GenerationMode if takes else [GenerationMode.POSITIVE]:
                fuzz(app.url, operation, mode, {} if "join" in name else cookies)
        # and it still does its work
        assert len(app.joined().round()) == 20


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
KEYS = st.sampled_from(["token", "chosen", "seconds", "consent", "x"])


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.dictionaries(KEYS, JSON).map(json.dumps) | JSON.map(json.dumps) | st.binary(),
    path=st.sampled_from(["answer", "join", "round", "finish", "form"]),
    kind=st.sampled_from(["application/json", "text/plain", "x"]),
)
def test_any_body_is_answered(app: Running, body: str | bytes, path: str, kind: str) -> None:
    rater = app.joined()
    answer = rater.post(f"/api/{path}", content=body, headers={"content-type": kind})
    assert answer.status_code < 500
