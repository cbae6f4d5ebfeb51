"""Checks the promises of an audit log on the fake and on PostgreSQL, and that PostgreSQL only appends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import make_url

from service.adapters.audit.postgres_audit_log import PostgresAuditLog
from service.errors.unavailable import MetricsStoreDown
from service.model.audit.events import Action, AuditEvent, AuditSelection, Details, Origin
from service.ports.stores.audit_log import AuditLog
from tests.contract.test_metrics_store import NOBODY_THERE
from tests.fakes.audit import FakeAuditLog, full_event, short_event
from tests.fakes.clock import FakeClock

ALL = AuditSelection()
YEAR = timedelta(days=365)


class Logs:
    """A log, and a way to let time pass for what it has."""

    def __init__(self, log: AuditLog, age: Callable[[timedelta], None]) -> None:
        self.log = log
        self.age = age


def run(url: str, *statements: str) -> None:
    """Runs statements that the gateway never sends, so they are not recorded as its own."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        for statement in statements:
            connection.execute(statement)


def without_guard(url: str, statement: str) -> None:
    """Runs a statement as the owner, who can switch the guard off."""
    run(
        url,
        "ALTER TABLE audit_events DISABLE TRIGGER USER",
        statement,
        "ALTER TABLE audit_events ENABLE TRIGGER USER",
    )


@pytest.fixture
def empty_url(metrics_url: str) -> str:
    without_guard(metrics_url, "TRUNCATE audit_events")
    return metrics_url


@pytest.fixture(params=["fake", "postgres"])
def logs(request: pytest.FixtureRequest) -> Iterator[Logs]:
    if request.param == "fake":
        clock = FakeClock()
        yield Logs(FakeAuditLog(clock), clock.advance)
        return
    url = request.getfixturevalue("empty_url")
    log = PostgresAuditLog(url)

    def age(by: timedelta) -> None:
        seconds = by.total_seconds()
        without_guard(url, f"UPDATE audit_events SET stored_at = stored_at - interval '{seconds} s'")

    yield Logs(log, age)
    log.close()


def stored(log: AuditLog, selection: AuditSelection = ALL) -> list[AuditEvent]:
    return [entry.event for entry in log.entries(selection)]


def test_events_are_stored_as_they_are_and_in_order(logs: Logs) -> None:
    full, short = full_event(), short_event()
    logs.log.add([full, short])
    logs.log.add([])
    assert stored(logs.log) == [full, short]
    first, second = logs.log.entries(ALL)
    assert first.position < second.position


def test_an_event_that_is_sent_again_is_stored_once(logs: Logs) -> None:
    event, other = full_event(), full_event()
    logs.log.add([event])
    logs.log.add([replace(event, outcome="SUCCEEDED"), other])
    assert stored(logs.log) == [event, other]


def test_pages_continue_after_a_position(logs: Logs) -> None:
    events = [full_event() for _ in range(5)]
    logs.log.add(events)
    page = logs.log.entries(AuditSelection(limit=2))
    rest = stored(logs.log, AuditSelection(after=page[-1].position))
    assert [entry.event for entry in page] + rest == events


def test_entries_are_selected_by_time_principal_and_action(logs: Logs) -> None:
    old, new = full_event(), full_event("bob", Action.INGEST)
    logs.log.add([old])
    logs.age(timedelta(hours=1))
    logs.log.add([new])
    [_, entry] = logs.log.entries(ALL)
    an_hour_ago = entry.stored_at - timedelta(minutes=30)
    assert stored(logs.log, AuditSelection(since=an_hour_ago)) == [new]
    assert stored(logs.log, AuditSelection(since=entry.stored_at)) == [new]
    assert stored(logs.log, AuditSelection(until=an_hour_ago)) == [old]
    assert stored(logs.log, AuditSelection(until=entry.stored_at)) == [old]
    assert stored(logs.log, AuditSelection(principal="ada")) == [old]
    assert stored(logs.log, AuditSelection(action=Action.INGEST)) == [new]


def test_only_old_entries_are_forgotten(logs: Logs) -> None:
    old, new = full_event(), full_event()
    logs.log.add([old])
    logs.age(timedelta(days=366))
    logs.log.add([new])
    assert logs.log.forget(YEAR) == 1
    assert stored(logs.log) == [new]
    assert logs.log.forget(YEAR) == 0


def test_entries_of_the_last_day_are_never_forgotten(logs: Logs) -> None:
    logs.log.add([full_event()])
    logs.age(timedelta(hours=23))
    assert logs.log.forget(timedelta()) == 0
    logs.age(timedelta(hours=2))
    assert logs.log.forget(timedelta()) == 1


def test_many_old_entries_are_forgotten_in_batches(empty_url: str) -> None:
    log = PostgresAuditLog(empty_url)
    log.add([short_event() for _ in range(6_000)])
    without_guard(empty_url, "UPDATE audit_events SET stored_at = stored_at - interval '400 days'")
    log.add([short_event()])
    assert log.forget(YEAR) == 6_000
    assert len(stored(log)) == 1
    log.close()


def test_texts_that_postgresql_cannot_hold_do_not_block_the_log(empty_url: str) -> None:
    log = PostgresAuditLog(empty_url)
    bad = "a\0b\ud800"
    details = Details(target=bad, statement=bad, tables=(bad,), columns={bad: (bad,)}, policies=(bad,))
    log.add([replace(full_event(), origin=Origin(bad, bad, (bad,)), details=details)])
    [event] = stored(log)
    assert event.details.tables == (event.details.statement,) == ("a\ufffdb?",)
    log.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_events SET principal = 'eve'",
        "DELETE FROM audit_events",
        "TRUNCATE audit_events",
        "SET sluice.forgets_audit_events = 'yes'; DELETE FROM audit_events",
        "UPDATE audit_events SET stored_at = stored_at - interval '2 days'",
    ],
)
def test_even_the_owner_cannot_change_or_delete_by_mistake(empty_url: str, statement: str) -> None:
    log = PostgresAuditLog(empty_url)
    event = full_event()
    log.add([event])
    with pytest.raises(InsufficientPrivilege, match="cannot be changed"):
        run(empty_url, statement)
    assert stored(log) == [event]
    log.close()


def test_old_entries_are_deleted_only_by_the_routine(empty_url: str) -> None:
    log = PostgresAuditLog(empty_url)
    log.add([full_event()])
    without_guard(empty_url, "UPDATE audit_events SET stored_at = stored_at - interval '400 days'")
    with pytest.raises(InsufficientPrivilege, match="only retention"):
        run(empty_url, "DELETE FROM audit_events")
    assert log.forget(YEAR) == 1
    log.close()


def test_a_role_that_may_only_add_and_read_is_enough(empty_url: str) -> None:
    role = f"writer_{uuid4().hex}"
    run(
        empty_url,
        f"CREATE ROLE {role} LOGIN PASSWORD 'p'",
        f"GRANT SELECT, INSERT ON audit_events TO {role}",
        f"GRANT EXECUTE ON FUNCTION sluice_forget_audit_events(interval, bigint) TO {role}",
    )
    url = make_url(empty_url).set(username=role, password="p").render_as_string(hide_password=False)
    log = PostgresAuditLog(url)
    event = full_event()
    log.add([event])
    assert stored(log) == [event]
    assert log.forget(YEAR) == 0
    refused: tuple[str, ...] = (
        "UPDATE audit_events SET principal = 'eve'",
        "DELETE FROM audit_events",
        "TRUNCATE audit_events",
        "DROP TABLE audit_events",
        "ALTER TABLE audit_events DISABLE TRIGGER USER",
    )
    for statement in refused:
        with pytest.raises(InsufficientPrivilege):
            run(url, statement)
    log.close()
    run(empty_url, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_replicas_that_add_at_once_make_positions_visible_in_order(empty_url: str) -> None:
    replicas = [PostgresAuditLog(empty_url) for _ in range(3)]
    seen: list[int] = []

    def add(log: PostgresAuditLog) -> None:
        for _ in range(20):
            log.add([short_event() for _ in range(5)])

    with ThreadPoolExecutor(3) as threads:
        adding = [threads.submit(add, log) for log in replicas]
        while not all(future.done() for future in adding):
            seen += [
                entry.position for entry in replicas[0].entries(AuditSelection(after=max(seen, default=0)))
            ]
        for future in adding:
            future.result()
    seen += [entry.position for entry in replicas[0].entries(AuditSelection(after=max(seen, default=0)))]
    assert len(seen) == len(set(seen)) == 300
    for log in replicas:
        log.close()


def test_a_store_that_is_down_is_named() -> None:
    log = PostgresAuditLog(NOBODY_THERE)
    asks: list[Callable[[], object]] = [
        lambda: log.add([short_event()]),
        lambda: log.entries(ALL),
        lambda: log.forget(YEAR),
    ]
    try:
        for ask in asks:
            with pytest.raises(MetricsStoreDown) as caught:
                ask()
            assert "127.0.0.1" not in caught.value.detail
    finally:
        log.close()
