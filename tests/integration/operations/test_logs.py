"""Standard error has one JSON object a line, with the ids of its request and query."""

from __future__ import annotations

from uuid import uuid4

import httpx
import pytest

from tests.integration.asking import ask
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration


def test_every_line_is_json_with_time_level_and_event(running: RunningGateway) -> None:
    ask(running.client, "SELECT 'line\nbreak' AS a")
    lines = running.log_lines()
    assert lines
    assert all({"timestamp", "level", "event"} <= line.keys() for line in lines)


def test_the_lines_of_a_query_carry_both_ids(running: RunningGateway, gateway: httpx.Client) -> None:
    request_id = f"test-{uuid4()}"
    response = gateway.post("/query", json={"sql": "SELECT 1"}, headers={"X-Request-Id": request_id})
    query_id = response.json()["queryId"]
    assert response.headers["X-Request-Id"] == request_id

    def events() -> dict[str, str | None]:
        mine = [line for line in running.log_lines() if line.get("request_id") == request_id]
        return {line["event"]: line.get("query_id") for line in mine}

    until(lambda: {"request_ended", "query_ended"} <= events().keys())
    assert set(events().values()) == {query_id}


def test_a_request_id_that_could_forge_a_line_is_replaced(gateway: httpx.Client) -> None:
    for forged in (b'{"event": "forged"} x', b"x" * 200):
        response = gateway.get("/healthz", headers={b"X-Request-Id": forged})
        assert response.headers["X-Request-Id"].encode() != forged


def test_nothing_unexpected_was_logged(running: RunningGateway) -> None:
    unexpected = {"request_crashed", "query_crashed", "start_crashed"}
    assert [line for line in running.log_lines() if line["event"] in unexpected] == []
