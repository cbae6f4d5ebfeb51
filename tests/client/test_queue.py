"""Tests the place of a query that waits, and the earlier query whose result another one has."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import UUID

import pytest

from service.model.query.progress import QueuePlace as Place
from service.model.query.reuse import Reused as ReusedResult
from sluice_client import Connection, QueryStatus, QueuePlace, Reused
from sluice_client.calls import Answer
from sluice_client.progress.notebook import bar_html
from sluice_client.progress.steps import waiting
from sluice_client.query.query_answer import query_status
from tests.client.gateways import Served

SQL = "SELECT 1"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(3, 1800, "global.ann"), "running for 0 s, place 3 in the queue, about 2 s to wait"),
        (Place(1, None, "global"), "running for 0 s, place 1 in the queue"),
        (Place(0, None, "global"), "running for 0 s, being planned"),
    ],
    ids=["waits", "no estimate", "planned"],
)
def test_a_status_says_where_a_query_waits(
    gateway: Served, connection: Connection, place: Place, text: str
) -> None:
    gateway.queries.unfinished.add(SQL)
    gateway.queries.place = place
    status = connection.submit(SQL)
    assert status.queue == QueuePlace(place.position, place.estimated_wait_ms, place.group)
    assert connection.status(status.query_id).queue == status.queue
    assert waiting(status).text == text
    assert text in bar_html(waiting(status))


def test_a_result_says_whose_it_is(gateway: Served, connection: Connection) -> None:
    result = connection.query(SQL)
    assert result.reused is None
    query = gateway.queries.by_id[result.query_id]
    query.record = replace(query.record, reused=ReusedResult(UUID(int=7), 5_300))
    again = connection.result(result.query_id)
    assert again.reused == Reused(UUID(int=7), 5_300)
    assert again.facts.reused == connection.status(result.query_id).reused == again.reused
    assert "A result of 5.3 s ago" in again._repr_html_()


def status(queue: object) -> QueryStatus:
    body = {
        "queryId": str(UUID(int=1)),
        "status": {"state": "QUEUED", "error": None, "queuedMs": 0, "elapsedMs": 0, "queue": queue},
        "sentBefore": False,
    }
    answer = Answer(200, {"content-type": "application/json"}, json.dumps(body).encode())
    return query_status(answer, "http://localhost", None)


@pytest.mark.parametrize("queue", [None, 7, [], {}, {"position": None}, {"position": -1}, {"position": True}])
def test_a_place_that_is_not_understood_is_left_out(queue: object) -> None:
    assert status(queue).queue is None


def test_an_estimate_that_is_not_understood_is_left_out() -> None:
    assert status({"position": 2, "estimatedWaitMs": "soon", "group": 7}).queue == QueuePlace(2, None, "")
