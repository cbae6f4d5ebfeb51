"""A query's events, as clients read them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.events.query_events import EventPace, QueryEvents
from api.http.waiting import ClientGone
from service.errors.query_errors import QueryNotFound
from service.errors.unavailable import GatewayBusy, MetricsStoreDown, ShuttingDown
from service.model.query.progress import EngineProgress, Phase, QueryProgress, ScanProgress
from service.model.query.query import QueryRecord, QueryState
from service.query.registry.query_status import QueryStatus
from tests.fakes.gateway import FakeGateway
from tests.fakes.queries import NOON
from tests.polling import until
from tests.unit.api.conftest import Running
from tests.unit.api.http.test_stop import started

pytestmark = pytest.mark.anyio

SLOW = "select slow"
QUICK = Settings(event_interval_s=0.1)
HALF = QueryProgress(
    phase=Phase.RUNNING,
    percent=50,
    counters=EngineProgress(
        stages_total=1, tasks_completed=4, tasks_running=2, tasks_total=8, rows=70, bytes=900
    ),
    scans=(ScanProgress("lake.tpcds.store_returns", 70, 2, 9, 900, 1800),),
)


def events_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Returns the id, the name and the data of each event."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return found


def names(text: str) -> list[str]:
    return [name for _, name, _ in events_of(text)]


async def sent(client: httpx.AsyncClient, sql: str = "select 1", **headers: str) -> str:
    answer = await client.post("/query", json={"sql": sql, "waitTimeout": "0s"}, headers=headers)
    query_id: str = answer.json()["queryId"]
    return query_id


async def open_stream(client: httpx.AsyncClient, query_id: str, gateway: FakeGateway) -> asyncio.Task[Any]:
    """Begins to read the events of a query, and returns once the gateway waits for it."""
    gateway.queries.is_waited_for.clear()
    reading = asyncio.create_task(client.get(f"/query/{query_id}/events"))
    while not gateway.queries.is_waited_for.is_set():
        await asyncio.sleep(0)
    return reading


async def test_the_events_of_a_query_that_has_ended_come_at_once(client: httpx.AsyncClient) -> None:
    query_id = await sent(client)
    answer = await client.get(f"/query/{query_id}/events")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert (answer.headers["cache-control"], answer.headers["x-accel-buffering"]) == ("no-store", "no")
    assert answer.text.startswith("retry: 1000\n\n")
    [(state_id, _, state), (done_id, _, done)] = events_of(answer.text)
    assert (state_id, done_id) == ("1", "end")
    assert (state["state"], state["error"], "progress" in state) == ("SUCCEEDED", None, False)
    plain = (await client.get(f"/query/{query_id}")).json()
    assert done == plain | {"result": None}


async def test_a_query_is_followed_to_its_end(running: Running, gateway: FakeGateway) -> None:
    gateway.queries.unfinished.add(SLOW)
    async with running(QUICK) as client:
        query_id = await sent(client, SLOW)
        gateway.queries.progress = HALF
        reading = await open_stream(client, query_id, gateway)
        waits = gateway.queries.waits_asked_for
        gateway.queries.progress = replace(HALF, percent=75)
        while gateway.queries.waits_asked_for < waits + 3:
            await asyncio.sleep(0.01)
        gateway.queries.finish(UUID(query_id))
        text = (await reading).text
    assert names(text) == ["state", "progress", "progress", "state", "done"]
    assert [event_id for event_id, _, _ in events_of(text)] == ["1", "2", "3", "4", "end"]
    assert [data["percent"] for _, name, data in events_of(text) if name == "progress"] == [50, 75]
    assert events_of(text)[1][2] == {
        "phase": "RUNNING",
        "percent": 50,
        "stages": {"completed": 0, "total": 1},
        "tasks": {"completed": 4, "running": 2, "total": 8},
        "rows": 70,
        "bytes": 900,
        "scans": [
            {
                "table": "lake.tpcds.store_returns",
                "rows": 70,
                "dataFiles": {"read": 2, "selected": 9},
                "bytes": {"read": 900, "selected": 1800},
            }
        ],
        "elapsedMs": 6,
    }


async def test_a_client_that_comes_back_gets_the_state_of_now_and_later_numbers(
    client: httpx.AsyncClient,
) -> None:
    path = f"/query/{await sent(client)}/events"
    again = await client.get(path, headers={"Last-Event-ID": "41"})
    assert [event_id for event_id, _, _ in events_of(again.text)] == ["42", "end"]
    odd = await client.get(path, headers=[(b"Last-Event-ID", b"\xb2; drop")])
    assert [event_id for event_id, _, _ in events_of(odd.text)] == ["1", "end"]
    over = await client.get(path, headers={"Last-Event-ID": "end"})
    assert (over.status_code, over.content) == (204, b"")


async def test_unknown_queries_and_those_of_others_are_not_found(running: Running) -> None:
    tokens = {name: hashlib.sha256(name.encode() * 9).hexdigest() for name in ("ann", "bob")}
    async with running(Settings(api_tokens=tokens)) as client:
        ann, bob = ({"Authorization": f"Bearer {name * 9}"} for name in ("ann", "bob"))
        path = f"/query/{await sent(client, **ann)}/events"
        assert (await client.get(path, headers=ann)).status_code == 200
        refused = await client.get(path, headers=bob)
        unknown = await client.get(f"/query/{uuid4()}/events", headers=ann)
        assert [answer.status_code for answer in (refused, unknown)] == [404, 404]
        assert (await client.get(path)).status_code == 401


async def test_other_media_types_and_parameters_are_refused(client: httpx.AsyncClient) -> None:
    path = f"/query/{await sent(client)}/events"
    assert (await client.get(path, headers={"Accept": "application/json"})).status_code == 406
    assert (await client.get(path, params={"waitTimeout": "1s"})).status_code == 422


@pytest.mark.parametrize(("streams", "own"), [(1, 9), (9, 1)], ids=["of all", "of one caller"])
async def test_streams_beyond_a_bound_are_refused_until_one_ends(
    running: Running, gateway: FakeGateway, streams: int, own: int
) -> None:
    gateway.queries.unfinished.add(SLOW)
    tokens = {"ann": hashlib.sha256(b"ann" * 9).hexdigest()}
    settings = Settings(
        event_interval_s=0.1,
        api_tokens=tokens,
        max_event_streams=streams,
        max_event_streams_per_caller=own,
    )
    async with running(settings) as client:
        client.headers["Authorization"] = f"Bearer {'ann' * 9}"
        query_id = await sent(client, SLOW)
        reading = await open_stream(client, query_id, gateway)
        refused = await client.get(f"/query/{query_id}/events")
        assert (refused.status_code, refused.json()["code"]) == (429, "TOO_MANY_EVENT_STREAMS")
        assert refused.headers["retry-after"] == "1"
        assert "sluice_http_event_streams 1.0" in (await client.get("/metrics")).text
        gateway.queries.finish(UUID(query_id))
        assert names((await reading).text)[-1] == "done"
        assert (await client.get(f"/query/{query_id}/events")).status_code == 200
        assert "sluice_http_event_streams 0.0" in (await client.get("/metrics")).text


async def test_a_stream_ends_after_its_time_without_the_end_of_its_query(
    running: Running, gateway: FakeGateway
) -> None:
    gateway.queries.unfinished.add(SLOW)
    async with running(Settings(event_interval_s=0.1, event_stream_max_s=1)) as client:
        answer = await client.get(f"/query/{await sent(client, SLOW)}/events")
    assert names(answer.text) == ["state"]


# ---- without a server -----------------------------------------------------------------------------


def status_of(state: QueryState, progress: QueryProgress | None = None) -> QueryStatus:
    return QueryStatus(QueryRecord(UUID(int=1), "ann", SLOW, state, NOON), 6, progress=progress)


class Script:
    """Answers of the gateway, one after the other, and the waits in between."""

    def __init__(self, *answers: QueryStatus | Exception, pace: EventPace | None = None) -> None:
        self._answers = deque(answers)
        self.waits: list[float] = []
        self.is_gone = False
        pace = pace or EventPace(interval_s=1, heartbeat_s=60, max_s=600)
        self.events = QueryEvents(self._read, self._wait, pace)

    async def _read(self) -> QueryStatus:
        answer = self._answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        if self.is_gone:
            raise ClientGone

    async def text(self, first: QueryStatus) -> str:
        parts: AsyncIterator[bytes] = self.events.parts(first)
        return b"".join([part async for part in parts]).decode()


RUNS = status_of(QueryState.RUNNING, HALF)


async def test_parts_that_do_not_answer_now_are_asked_again() -> None:
    script = Script(MetricsStoreDown(), GatewayBusy(), RUNS, status_of(QueryState.SUCCEEDED))
    text = await script.text(status_of(QueryState.QUEUED))
    assert names(text) == ["state", "state", "progress", "state", "done"]
    # A store that is down is not asked as often.
    assert script.waits == [1, 5, 5, 1]


@pytest.mark.parametrize("end", [QueryNotFound(), ShuttingDown()], ids=["forgotten", "gateway stops"])
async def test_a_stream_whose_query_is_out_of_reach_ends(end: Exception) -> None:
    assert names(await Script(RUNS, end).text(RUNS)) == ["state", "progress"]


async def test_a_client_that_is_gone_ends_its_stream() -> None:
    script = Script()
    script.is_gone = True
    assert names(await script.text(RUNS)) == ["state", "progress"]


async def test_a_silent_stream_sends_comments() -> None:
    silent = EventPace(interval_s=1, heartbeat_s=0, max_s=600)
    text = await Script(RUNS, RUNS, status_of(QueryState.CANCELED), pace=silent).text(RUNS)
    assert text.count(": still there") == 3
    assert names(text) == ["state", "progress", "state", "done"]


async def test_a_query_of_another_replica_is_read_less_often() -> None:
    unreported = replace(status_of(QueryState.RUNNING), is_elsewhere=True)
    reported = replace(RUNS, is_elsewhere=True)
    script = Script(unreported, reported, status_of(QueryState.SUCCEEDED))
    assert names(await script.text(unreported)) == ["state", "progress", "state", "done"]
    assert script.waits == [5, 5, 5]


# ---- on a server ----------------------------------------------------------------------------------


def test_a_client_that_leaves_gives_its_place_back(gateway: FakeGateway) -> None:
    gateway.queries.unfinished.add(SLOW)
    settings = Settings(port=0, shutdown_timeout_s=5, event_interval_s=0.1, max_event_streams=1)
    with started(settings, gateway) as serving, serving.client() as client:
        query_id = client.post("/query", json={"sql": SLOW, "waitTimeout": "0s"}).json()["queryId"]
        path = f"/query/{query_id}/events"
        for _ in range(3):
            with client.stream("GET", path) as stream:
                assert stream.status_code == 200
                assert "retry" in next(stream.iter_text())
            until(lambda: "sluice_http_event_streams 0.0" in client.get("/metrics").text)


def test_a_gateway_that_stops_ends_the_streams_with_their_queries(gateway: FakeGateway) -> None:
    gateway.queries.unfinished.add(SLOW)
    settings = Settings(port=0, shutdown_delay_s=0, shutdown_timeout_s=1, event_interval_s=0.1)
    with started(settings, gateway) as serving, serving.client() as client:
        query_id = client.post("/query", json={"sql": SLOW, "waitTimeout": "0s"}).json()["queryId"]
        with client.stream("GET", f"/query/{query_id}/events") as stream:
            parts = stream.iter_text()
            text = next(parts)
            serving.send(signal.SIGTERM)
            text += "".join(parts)
        serving.thread.join(30)
        assert not serving.thread.is_alive()
    assert names(text)[-1] == "done"
    assert events_of(text)[-1][2]["status"]["state"] == "CANCELED"
