"""Tests which requests are audited, as what, and what happens when they cannot be."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.auditing.audited_actions import action_of
from service.errors.query_errors import TooManyQueries
from service.errors.statement_errors import StatementNotAllowed
from service.errors.table_errors import TableChanged
from service.model.audit.events import Action, AuditEvent, AuditSelection, Outcome
from tests.fakes.audit import full_event
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import Running, client_of

pytestmark = pytest.mark.anyio

TOKENS = {"ada": hashlib.sha256(b"ada's").hexdigest(), "ops": hashlib.sha256(b"ops's").hexdigest()}
SETTINGS: dict[str, Any] = {"api_tokens": TOKENS, "admins": ("ops",), "api_keys": True}
ADA, OPS = {"Authorization": "Bearer ada's"}, {"Authorization": "Bearer ops's"}
RECORDS = {"table": "lake.logs.events", "records": [{"a": 1}, {"a": 2}]}
TABLE = "/tables/lake.tpcds.store_returns/maintenance"


@pytest.fixture
def events(gateway: FakeGateway) -> list[AuditEvent]:
    return gateway.trail.events


def asked(event: AuditEvent) -> tuple[str, str, str | None]:
    return event.action, event.outcome, event.error_code


async def test_a_query_is_audited_with_its_caller_and_its_fingerprint(
    running: Running, gateway: FakeGateway, events: list[AuditEvent]
) -> None:
    async with running(Settings(**SETTINGS)) as client:
        answer = await client.post("/query", json={"sql": "select 1"}, headers=ADA | {"X-Request-Id": "r-1"})
    [event] = events
    assert asked(event) == (Action.QUERY, Outcome.SUCCEEDED, None)
    assert (event.origin.principal, event.origin.kind, event.origin.request_id) == ("ada", "token", "r-1")
    assert event.origin.address == "127.0.0.1"
    assert event.details.query_id == UUID(answer.json()["queryId"])
    assert event.details.fingerprint == hashlib.sha256(b"select 1").hexdigest()
    assert event.details.statement is None
    assert gateway.trail.reserved == 0


async def test_the_text_is_there_if_the_operator_wants_it_and_without_keys(
    running: Running, events: list[AuditEvent]
) -> None:
    key = f"sluice_{'0' * 16}_{'A' * 43}"
    async with running(Settings(audit_statement_text=True)) as client:
        await client.post("/query", json={"sql": f"select '{key}' where token=7"})
    assert events[0].details.statement == f"select 'sluice_{'0' * 16}_**********' where token=7"


async def test_a_key_that_a_caller_sends_elsewhere_is_masked(
    running: Running, events: list[AuditEvent]
) -> None:
    key = f"sluice_{'0' * 16}_{'A' * 43}"
    async with running(Settings(**SETTINGS)) as client:
        await client.get(f"/tables/lake.a.{key}", headers=ADA | {"X-Request-Id": key})
    [event] = events
    assert event.details.target == f"/tables/lake.a.sluice_{'0' * 16}_**********"
    assert event.origin.request_id == f"sluice_{'0' * 16}_**********"


@pytest.mark.parametrize(
    ("method", "path", "body", "action", "outcome"),
    [
        ("POST", "/explain", {"sql": "select 1"}, Action.EXPLAIN, Outcome.SUCCEEDED),
        ("POST", "/ingest", RECORDS, Action.INGEST, Outcome.SUCCEEDED),
        ("DELETE", "/filters", None, Action.FILTERS_DELETED, Outcome.SUCCEEDED),
        ("DELETE", "/filters/abc", None, Action.FILTERS_DELETED, Outcome.SUCCEEDED),
        ("DELETE", "/caches/tables", None, Action.CACHE_EMPTIED, Outcome.SUCCEEDED),
        ("POST", TABLE, {"operations": ["compact"]}, Action.MAINTENANCE, Outcome.ALLOWED),
        ("POST", "/keys", {"principal": "kim"}, Action.KEY_CREATED, Outcome.SUCCEEDED),
        ("GET", "/keys", None, Action.KEYS_LISTED, Outcome.SUCCEEDED),
        ("DELETE", f"/keys/{'0' * 16}", None, Action.KEY_REVOKED, Outcome.REFUSED),
        ("GET", "/audit", None, Action.AUDIT_READ, Outcome.SUCCEEDED),
        ("DELETE", f"/query/{UUID(int=7)}", None, Action.QUERY_CANCELED, Outcome.REFUSED),
        ("POST", "/query", {"sql": 7}, Action.QUERY, Outcome.REFUSED),
        ("GET", f"/query/{UUID(int=7)}", None, Action.READ, Outcome.REFUSED),
    ],
)
async def test_each_action_is_audited_once(
    running: Running,
    gateway: FakeGateway,
    events: list[AuditEvent],
    method: str,
    path: str,
    body: object,
    action: Action,
    outcome: Outcome,
) -> None:
    async with running(Settings(**SETTINGS)) as client:
        await client.request(method, path, json=body, headers=OPS)
    [event] = events
    assert (event.action, event.outcome, event.origin.principal) == (action, outcome, "ops")
    assert (event.error_code is None) == (outcome in (Outcome.SUCCEEDED, Outcome.ALLOWED))
    assert gateway.trail.reserved == 0


@pytest.mark.parametrize(
    "path", ["/query", "/tables", "/filters", "/healthz", "/metrics", "/nothing", "/docs"]
)
async def test_reads_that_are_allowed_are_not_audited(
    running: Running, events: list[AuditEvent], path: str
) -> None:
    async with running(Settings(**SETTINGS)) as client:
        await client.get(path, headers=ADA)
    assert events == []


async def test_each_route_that_is_not_a_read_has_an_action() -> None:
    app = create_app(Settings(**SETTINGS), FakeGateway)
    paths = app.openapi()["paths"]
    routes = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    routes = [(method, path) for method, path in routes if method != "GET"]
    assert len(routes) > 10
    missing = [(method, path) for method, path in routes if action_of(method, path) is None]
    assert missing == []


async def test_an_ingest_is_audited_with_its_tables_rows_and_id(
    running: Running, events: list[AuditEvent]
) -> None:
    async with running(Settings(**SETTINGS)) as client:
        answer = await client.post("/ingest", json=RECORDS, headers=ADA)
    [event] = events
    assert event.details.ingest_id == UUID(answer.json()["ingestId"])
    assert event.details.tables == ("lake.logs.events",)
    assert (event.details.row_count, event.details.byte_count) == (2, 100)


async def test_an_accepted_ingest_whose_commit_fails_has_failed_and_was_not_refused(
    running: Running, gateway: FakeGateway, events: list[AuditEvent]
) -> None:
    gateway.ingests.commit_error = (TableChanged.code, "It has changed.")
    async with running(Settings(**SETTINGS)) as client:
        await client.post("/ingest", json=RECORDS, headers=ADA)
    assert [asked(event) for event in events] == [(Action.INGEST, Outcome.FAILED, "TABLE_CHANGED")]


async def test_an_ingest_that_waits_for_its_commit_is_allowed(
    running: Running, gateway: FakeGateway, events: list[AuditEvent]
) -> None:
    gateway.ingests.delays_commits = True
    async with running(Settings(**SETTINGS)) as client:
        await client.post("/ingest", json=RECORDS | {"wait": "ACCEPTED"}, headers=ADA)
    assert [asked(event) for event in events] == [(Action.INGEST, Outcome.ALLOWED, None)]


async def test_refusals_have_their_code(
    running: Running, gateway: FakeGateway, events: list[AuditEvent]
) -> None:
    gateway.queries.failures["drop table x"] = StatementNotAllowed()
    async with running(Settings(**SETTINGS)) as client:
        await client.post("/query", json={"sql": "drop table x"}, headers=ADA)
        gateway.queries.refusal = TooManyQueries()
        await client.post("/query", json={"sql": "select 1"}, headers=ADA)
        await client.post("/keys", json={"principal": "eve"}, headers=ADA)
        await client.get("/audit", headers=ADA)
    assert [asked(event) for event in events] == [
        (Action.QUERY, Outcome.REFUSED, "STATEMENT_NOT_ALLOWED"),
        (Action.QUERY, Outcome.REFUSED, "TOO_MANY_QUERIES"),
        (Action.KEY_CREATED, Outcome.REFUSED, "ADMIN_REQUIRED"),
        (Action.AUDIT_READ, Outcome.REFUSED, "ADMIN_REQUIRED"),
    ]


async def test_a_defect_is_a_failure(
    running: Running, gateway: FakeGateway, events: list[AuditEvent]
) -> None:
    gateway.queries.refusal = RuntimeError("a defect")
    async with running(Settings(**SETTINGS)) as client:
        assert (await client.post("/query", json={"sql": "select 1"}, headers=ADA)).status_code == 500
    assert [asked(event) for event in events] == [(Action.QUERY, Outcome.FAILED, "INTERNAL")]


async def test_nothing_is_done_that_cannot_be_audited(running: Running, gateway: FakeGateway) -> None:
    gateway.trail.is_full = True
    async with running(Settings(**SETTINGS)) as client:
        for method, path, body in (
            ("POST", "/query", {"sql": "select 1"}),
            ("POST", "/ingest", RECORDS),
            ("POST", "/keys", {"principal": "kim"}),
        ):
            answer = await client.request(method, path, json=body, headers=OPS)
            assert (answer.status_code, answer.json()["code"]) == (503, "AUDIT_LOG_FULL")
            assert answer.headers["retry-after"]
        assert (await client.get("/query", headers=OPS)).status_code == 200
    assert not gateway.queries.by_id
    assert not gateway.ingests.requests
    assert gateway.api_keys.newest(10) == []


async def test_without_an_audit_nothing_is_written(
    running: Running, gateway: FakeGateway, events: list[AuditEvent]
) -> None:
    gateway.trail.is_full = True
    async with running(Settings(**SETTINGS, audit=False)) as client:
        assert (await client.post("/query", json={"sql": "select 1"}, headers=ADA)).status_code == 200
        await client.post("/query", json={"sql": "select 1"}, headers={"Authorization": "Bearer x"})
    assert events == []
    assert gateway.trail.take is None


async def test_failed_logins_are_summed_up(gateway: FakeGateway) -> None:
    clock = FakeClock()
    app = create_app(Settings(**SETTINGS, auth_failures_per_minute=3), lambda: gateway, clock=clock)
    async with client_of(app) as client:
        for _ in range(10):
            await client.post("/query", json={"sql": "select 1"}, headers={"Authorization": "Bearer guess"})
        await client.get("/query")
    take = gateway.trail.take
    assert take is not None
    assert take(False) == []
    clock.advance(timedelta(minutes=1))
    guesses, missing = take(False)
    assert asked(guesses) == (Action.AUTHENTICATION, Outcome.REFUSED, "UNAUTHENTICATED")
    assert (guesses.count, guesses.origin.address, guesses.origin.kind) == (10, "127.0.0.1", "token")
    assert (missing.count, missing.origin.kind) == (1, "none")
    assert "guess" not in repr(guesses)


async def test_a_client_that_hangs_up_leaves_an_event(gateway: FakeGateway, events: list[AuditEvent]) -> None:
    gateway.ingests.may_go_on.clear()
    gateway.queries.unfinished.add("select 1")
    app = create_app(Settings(), lambda: gateway)
    async with client_of(app):
        sent = [{"type": "http.request", "body": json.dumps({"sql": "select 1"}).encode()}]
        left = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if sent:
                return sent.pop()
            await asyncio.to_thread(gateway.queries.is_waited_for.wait)
            left.set()
            return {"type": "http.disconnect"}

        async def send(_: object) -> None:
            raise AssertionError("there is nobody to answer")

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/query",
            "headers": [(b"content-type", b"application/json"), (b"host", b"localhost")],
            "query_string": b"",
            "client": ("10.0.0.7", 4711),
            "scheme": "http",
        }
        await app(scope, receive, send)
    assert left.is_set()
    [event] = events
    assert asked(event) == (Action.QUERY, Outcome.FAILED, "CLIENT_GONE")
    assert event.origin.address == "10.0.0.7"


async def test_administrators_read_the_log_page_by_page(running: Running, gateway: FakeGateway) -> None:
    gateway.audit_log.add([full_event() for _ in range(1_203)])
    async with running(Settings(**SETTINGS)) as client:
        answer = await client.get("/audit", params={"limit": 1_100}, headers=OPS)
        lines = [json.loads(line) for line in answer.text.splitlines()]
        rest = await client.get("/audit", params={"after": lines[-1]["position"]}, headers=OPS)
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["cache-control"] == "no-store"
    assert [line["position"] for line in lines] == list(range(1, 1_101))
    assert len(rest.text.splitlines()) == 103
    stored = gateway.audit_log.events[0]
    assert lines[0]["eventId"] == str(stored.event_id)
    assert lines[0]["columns"] == {"lake.a.t": ["x", "y"], "lake.a.u": []}


async def test_the_log_is_read_by_time_principal_and_action(running: Running, gateway: FakeGateway) -> None:
    ada, bob = full_event(), full_event("bob", Action.INGEST)
    gateway.audit_log.add([ada, bob])
    stored_at = gateway.audit_log.entries(AuditSelection())[0].stored_at.isoformat()

    async def ids(client: httpx.AsyncClient, **asked: str) -> list[str]:
        answer = await client.get("/audit", params=asked, headers=OPS)
        assert answer.status_code == 200, answer.text
        return [json.loads(line)["eventId"] for line in answer.text.splitlines()]

    async with running(Settings(**SETTINGS)) as client:
        assert await ids(client, principal="bob") == [str(bob.event_id)]
        assert await ids(client, action="QUERY") == [str(ada.event_id)]
        assert len(await ids(client, since=stored_at)) == 2
        assert await ids(client, until=stored_at) == []


@pytest.mark.parametrize(
    "asked", [{"since": "noon"}, {"action": "NO"}, {"limit": 0}, {"after": -1}, {"x": 1}]
)
async def test_other_questions_are_invalid(running: Running, asked: dict[str, str]) -> None:
    async with running(Settings(**SETTINGS)) as client:
        assert (await client.get("/audit", params=asked, headers=OPS)).status_code == 422


async def test_a_log_that_is_down_is_a_503(running: Running, gateway: FakeGateway) -> None:
    gateway.audit_log.is_down = True
    async with running(Settings(**SETTINGS)) as client:
        answer = await client.get("/audit", headers=OPS)
    assert (answer.status_code, answer.json()["code"]) == (503, "METRICS_STORE_DOWN")
