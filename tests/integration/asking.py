"""Shortcuts for common requests to a gateway."""

from __future__ import annotations

from typing import Any

import httpx

from tests.polling import until

JsonObject = dict[str, Any]


def post(client: httpx.Client, sql: str, **body: Any) -> httpx.Response:
    """Sends POST /query with the longest `waitTimeout`."""
    return client.post("/query", json={"sql": sql, "waitTimeout": "50s"} | body)


def ask(client: httpx.Client, sql: str, **body: Any) -> JsonObject:
    """Runs a query that must succeed, and returns its answer."""
    response = post(client, sql, **body)
    for _ in range(3):
        # On a busy machine, an engine that restarts takes longer than the longest wait.
        if response.status_code == 202:
            response = client.get(response.json()["links"]["self"], params={"waitTimeout": "50s"})
    assert response.status_code == 200, response.text
    answer: JsonObject = response.json()
    assert answer["status"]["state"] == "SUCCEEDED", answer
    return answer


def rows(client: httpx.Client, sql: str, **body: Any) -> list[Any]:
    """Returns the rows of the first chunk."""
    found: list[Any] = ask(client, sql, **body)["result"]["rows"]
    return found


def start(client: httpx.Client, sql: str, **body: Any) -> str:
    """Sends a query without waiting for it, and returns its id."""
    response = client.post("/query", json={"sql": sql, "waitTimeout": "0s"} | body)
    assert response.status_code in (200, 202), response.text
    query_id: str = response.json()["queryId"]
    return query_id


def started(client: httpx.Client, sql: str, **body: Any) -> str:
    """Sends a query, waits until it runs, and returns its id."""
    query_id = start(client, sql, **body)
    until(lambda: state(client, query_id) == "RUNNING")
    return query_id


def computing(client: httpx.Client, sql: str, **body: Any) -> str:
    """Sends a query, waits until a task of it runs in the engine, and returns its id."""
    query_id = start(client, sql, **body)
    until(lambda: has_running_task(client, query_id), within_s=60)
    return query_id


def has_running_task(client: httpx.Client, query_id: str) -> bool:
    """Whether a task of the query runs in the engine: a RUNNING query may not have reached it yet."""
    found: JsonObject | None = status(client, query_id)["status"]["progress"]
    return found is not None and found["tasks"]["running"] > 0


def state(client: httpx.Client, query_id: str) -> str:
    """Returns the query's state."""
    found: str = status(client, query_id)["status"]["state"]
    return found


def status(client: httpx.Client, query_id: str, wait: str = "0s") -> JsonObject:
    """Sends GET /query/{id}, and returns the answer."""
    response = client.get(f"/query/{query_id}", params={"waitTimeout": wait})
    assert response.status_code in (200, 202), response.text
    answer: JsonObject = response.json()
    return answer


def cancel(client: httpx.Client, query_id: str) -> JsonObject:
    """Sends DELETE /query/{id}, and returns the answer at the query's end."""
    response = client.delete(f"/query/{query_id}", params={"waitTimeout": "30s"})
    assert response.status_code == 200, response.text
    answer: JsonObject = response.json()
    return answer


def explain(client: httpx.Client, query_id: str) -> JsonObject:
    """Sends GET /explain/{id}, and returns the JSON."""
    response = client.get(f"/explain/{query_id}")
    assert response.status_code == 200, response.text
    answer: JsonObject = response.json()
    return answer


def readiness(client: httpx.Client) -> tuple[int, JsonObject]:
    """Returns the status code and the body of GET /readyz."""
    response = client.get("/readyz")
    return response.status_code, response.json()


def problem(response: httpx.Response, status_code: int, code: str) -> JsonObject:
    """Asserts that the answer is this problem, in the promised form and without Java terms; returns it."""
    found: JsonObject = response.json()
    assert (response.status_code, found.get("code")) == (status_code, code), response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    assert found["status"] == status_code
    assert {"type", "title", "detail", "instance", "errors"} <= found.keys()
    for sign in ("\tat ", "Exception", "org.apache", "java.", "Traceback", "SQLSTATE", "== SQL"):
        assert sign not in response.text
    return found
