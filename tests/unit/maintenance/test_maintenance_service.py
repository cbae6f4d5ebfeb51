"""Maintenance from its request or due time to its end, over fakes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from service.adapters.postgres.shared.store_clock import EarlierClock
from service.errors.gateway_error import PartDown
from service.errors.ingest_errors import WriteNotAllowed
from service.errors.maintenance_errors import (
    MaintenanceBelowFloor,
    MaintenanceFailed,
    MaintenanceNotFound,
    MaintenanceRunning,
)
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown, EngineNotReady, MetricsStoreDown
from service.maintenance.maintenance_service import SCHEDULE
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import (
    MaintenanceBounds,
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceRequest,
    MaintenanceState,
)
from service.model.tables.tables import TableName
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.maintenance import BOUNDS, PLAN, FakeMaintenanceMetrics, FakeMaintenances

COMPACT, EXPIRE, ORPHANS = MaintenanceOperation
EVENTS, OTHERS = TableName("lake", "logs", "events"), TableName("lake", "logs", "others")
KEY = TableKey(EVENTS)
EVERYTHING = MaintenanceRequest(KEY, (ORPHANS, COMPACT, EXPIRE), BOUNDS)
HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def catalogs() -> FakeCatalogs:
    return FakeCatalogs(tables=[facts_of_empty_table(table) for table in (EVENTS, OTHERS)])


@pytest.fixture
def maintained(catalogs: FakeCatalogs, clock: FakeClock) -> FakeMaintenances:
    return FakeMaintenances(catalogs, clock)


def ended(maintained: FakeMaintenances, request: MaintenanceRequest = EVERYTHING) -> MaintenanceRecord:
    record = maintained.ask(request, "ann")
    maintained.run_open()
    return maintained.find(request.key.table, record.maintenance_id)


@pytest.mark.parametrize("by", [timedelta(days=400), timedelta(days=-1)])
def test_a_clock_that_is_ahead_deletes_nothing_that_is_young(
    catalogs: FakeCatalogs, clock: FakeClock, by: timedelta
) -> None:
    own = FakeClock(clock.now() + by)
    maintained = FakeMaintenances(catalogs, clock, deletion_clock=EarlierClock(own, clock))
    ended(maintained)
    now = min(clock.now(), own.now())
    assert maintained.table_maintenance.done[1:] == [
        ("expire", EVENTS, now - timedelta(days=5), 1),
        ("removeOrphans", EVENTS, now - timedelta(days=3)),
    ]


def test_operations_are_done_in_their_own_order_whatever_the_request_says(
    maintained: FakeMaintenances, clock: FakeClock
) -> None:
    record = ended(maintained)
    assert (record.state, record.requested_by) == (MaintenanceState.SUCCEEDED, "ann")
    assert record.ended_at == record.started_at == clock.now()
    assert maintained.table_maintenance.done == [
        ("compact", KEY),
        ("expire", EVENTS, clock.now() - timedelta(days=5), 1),
        ("removeOrphans", EVENTS, clock.now() - timedelta(days=3)),
    ]
    assert [(result.operation, dict(result.counts)) for result in record.results] == [
        (COMPACT, {"files": 1}),
        (EXPIRE, {"files": 1}),
        (ORPHANS, {"files": 1}),
    ]


def test_how_far_it_is_can_be_seen_meanwhile(maintained: FakeMaintenances) -> None:
    ended(maintained)
    assert [(record.state.value, len(record.results)) for record in maintained.log.saved] == [
        ("RUNNING", 0),
        ("RUNNING", 1),
        ("RUNNING", 2),
        ("RUNNING", 3),
        ("SUCCEEDED", 3),
    ]


def test_what_fails_ends_it_with_its_reason(maintained: FakeMaintenances) -> None:
    maintained.table_maintenance.failures = [None, MaintenanceFailed("no room")]
    record = ended(maintained)
    assert (record.state, record.error_code, record.error_detail) == (
        MaintenanceState.FAILED,
        "MAINTENANCE_FAILED",
        "no room",
    )
    assert [result.operation for result in record.results] == [COMPACT]


def test_what_needs_a_part_that_is_down_goes_on_where_it_was(maintained: FakeMaintenances) -> None:
    maintained.table_maintenance.failures = [None, EngineNotReady()]
    record = maintained.ask(EVERYTHING, "ann")
    with pytest.raises(EngineNotReady):
        maintained.run_open()
    assert maintained.find(EVENTS, record.maintenance_id).state is MaintenanceState.RUNNING
    maintained.run_open()
    assert maintained.find(EVENTS, record.maintenance_id).state is MaintenanceState.SUCCEEDED
    assert [call[0] for call in maintained.table_maintenance.done] == ["compact", "expire", "removeOrphans"]


def test_it_is_given_up_when_a_part_is_down_again_and_again(maintained: FakeMaintenances) -> None:
    maintained.table_maintenance.failures = [EngineNotReady()] * 3
    record = maintained.ask(EVERYTHING, "ann")
    for _ in range(2):
        with pytest.raises(PartDown):
            maintained.run_open()
    maintained.run_open()
    found = maintained.find(EVENTS, record.maintenance_id)
    assert (found.state, found.attempts) == (MaintenanceState.FAILED, 3)
    assert maintained.log.open() == []


def test_one_that_kills_whoever_runs_it_is_not_begun_for_ever(maintained: FakeMaintenances) -> None:
    record = maintained.ask(EVERYTHING, "ann")
    maintained.log.save(replace(record, state=MaintenanceState.RUNNING, attempts=3))
    maintained.run_open()
    found = maintained.find(EVENTS, record.maintenance_id)
    assert found.state is MaintenanceState.FAILED
    assert maintained.table_maintenance.done == []


def test_a_table_has_one_at_a_time(maintained: FakeMaintenances) -> None:
    first = maintained.ask(EVERYTHING, "ann")
    with pytest.raises(MaintenanceRunning, match=str(first.maintenance_id)):
        maintained.ask(EVERYTHING, "bob")
    maintained.ask(replace(EVERYTHING, key=TableKey(OTHERS)), "bob")
    maintained.run_open()
    assert maintained.ask(EVERYTHING, "bob").maintenance_id != first.maintenance_id


def test_what_another_replica_runs_is_left_to_it(maintained: FakeMaintenances) -> None:
    maintained.log.busy = {EVENTS}
    maintained.ask(EVERYTHING, "ann")
    maintained.run_open()
    assert maintained.table_maintenance.done == []
    assert len(maintained.log.open()) == 1


def test_only_tables_that_may_be_written_to_are_maintained(catalogs: FakeCatalogs, clock: FakeClock) -> None:
    maintained = FakeMaintenances(catalogs, clock, replace(PLAN, writable_names=("lake.logs.o*",)))
    with pytest.raises(WriteNotAllowed):
        maintained.ask(EVERYTHING, "ann")
    maintained.log.upserted = {KEY: clock.now(), TableKey(OTHERS): clock.now()}
    clock.advance(2 * HOUR)
    maintained.run_open()
    assert maintained.table_maintenance.done == [("compact", TableKey(OTHERS))]


def test_what_is_not_there_is_reported(maintained: FakeMaintenances) -> None:
    with pytest.raises(TableNotFound):
        maintained.ask(replace(EVERYTHING, key=TableKey(TableName("lake", "logs", "nope"))), "ann")
    with pytest.raises(MaintenanceNotFound):
        maintained.find(EVENTS, uuid4())
    record = maintained.ask(EVERYTHING, "ann")
    with pytest.raises(MaintenanceNotFound):
        maintained.find(OTHERS, record.maintenance_id)


def test_upserts_are_compacted_by_themselves_after_a_while_and_once(
    maintained: FakeMaintenances, clock: FakeClock
) -> None:
    branch = TableKey(EVENTS, "audit")
    maintained.log.upserted = {branch: clock.now()}
    maintained.run_open()
    assert maintained.table_maintenance.done == []
    clock.advance(HOUR)
    maintained.run_open()
    assert maintained.table_maintenance.done == [("compact", branch)]
    [record] = maintained.latest(EVENTS)
    assert record.requested_by == SCHEDULE
    clock.advance(5 * HOUR)
    maintained.run_open()
    assert len(maintained.table_maintenance.done) == 1


def test_many_files_are_compacted_by_themselves_and_all_is_done_once_a_day(
    catalogs: FakeCatalogs, clock: FakeClock
) -> None:
    everything = (COMPACT, MaintenanceOperation.EXPIRE, MaintenanceOperation.REMOVE_ORPHANS)
    plan = replace(PLAN, operations=everything, appended_files=3, idle=24 * HOUR)
    maintained = FakeMaintenances(catalogs, clock, plan)
    many, few = TableKey(EVENTS, "audit"), TableKey(OTHERS)
    maintained.log.files = {many: [clock.now()] * 3, few: [clock.now()] * 2}
    maintained.run_open()
    assert maintained.table_maintenance.done == []
    clock.advance(HOUR)
    maintained.run_open()
    assert maintained.table_maintenance.done == [("compact", many)]
    maintained.log.files[many] += [clock.now() + timedelta(minutes=1)] * 3
    clock.advance(HOUR / 2)
    maintained.run_open()
    assert len(maintained.table_maintenance.done) == 1
    clock.advance(HOUR)
    maintained.run_open()
    assert maintained.table_maintenance.done[1:] == [("compact", many)]
    clock.advance(22 * HOUR)
    maintained.run_open()
    assert [(call[0], str(call[1])) for call in maintained.table_maintenance.done[2:]] == [
        (operation, str(key if operation == "compact" else key.table))
        for key in (many, few)
        for operation in ("compact", "expire", "removeOrphans")
    ]
    clock.advance(48 * HOUR)
    maintained.run_open()
    assert len(maintained.table_maintenance.done) == 8


def test_files_and_upserts_do_not_matter_where_nothing_is_compacted(
    catalogs: FakeCatalogs, clock: FakeClock
) -> None:
    plan = replace(PLAN, operations=(MaintenanceOperation.EXPIRE,), appended_files=1)
    maintained = FakeMaintenances(catalogs, clock, plan)
    maintained.log.files = {KEY: [clock.now()]}
    maintained.log.upserted = {KEY: clock.now()}
    clock.advance(99 * HOUR)
    maintained.run_open()
    assert maintained.table_maintenance.done == []


def test_nothing_is_done_by_itself_where_the_operator_says_so(
    catalogs: FakeCatalogs, clock: FakeClock
) -> None:
    for plan in (replace(PLAN, interval=timedelta()), replace(PLAN, operations=())):
        maintained = FakeMaintenances(catalogs, clock, plan)
        maintained.log.upserted = {KEY: clock.now() - 5 * HOUR}
        maintained.run_open()
        assert maintained.table_maintenance.done == []


def test_orphans_stay_while_an_ingest_waits_that_is_nearly_as_old(
    maintained: FakeMaintenances, clock: FakeClock
) -> None:
    maintained.log.oldest_waiting = {EVENTS: clock.now() - timedelta(days=2)}
    record = ended(maintained)
    assert (record.state, record.error_code) == (MaintenanceState.FAILED, "MAINTENANCE_NOT_SAFE")
    assert [call[0] for call in maintained.table_maintenance.done] == ["compact", "expire"]
    maintained.log.oldest_waiting = {EVENTS: clock.now() - timedelta(days=1), OTHERS: clock.now() - 99 * HOUR}
    assert ended(maintained).state is MaintenanceState.SUCCEEDED


def test_orphans_stay_where_it_is_not_known_what_waits(
    maintained: FakeMaintenances, catalogs: FakeCatalogs
) -> None:
    def goes_down() -> None:
        maintained.log.is_down = True

    maintained.table_maintenance.before = goes_down
    maintained.ask(EVERYTHING, "ann")
    with pytest.raises(MetricsStoreDown):
        maintained.run_open()
    maintained.log.is_down = False
    maintained.table_maintenance.before = lambda: None
    catalogs.down = {"lake"}
    with pytest.raises(CatalogDown):
        maintained.run_open()
    assert "removeOrphans" not in [call[0] for call in maintained.table_maintenance.done]


def test_orphans_stay_where_another_table_lies_below(
    maintained: FakeMaintenances, catalogs: FakeCatalogs
) -> None:
    below = TableName("lake", "logs.events", "inner")
    catalogs.put(replace(facts_of_empty_table(below), location="memory:/lake.logs.events/inner"))
    record = ended(maintained)
    assert record.error_code == "MAINTENANCE_NOT_SAFE"
    assert str(below) in (record.error_detail or "")
    # A location that only has the same prefix is not inside the table's location.
    catalogs.put(replace(facts_of_empty_table(below), location="memory:/lake.logs.events_2/inner"))
    assert ended(maintained).state is MaintenanceState.SUCCEEDED


def test_a_thread_runs_what_is_asked_for(maintained: FakeMaintenances) -> None:
    done = []
    maintained.start()
    try:
        maintained.table_maintenance.before = lambda: done.append(1)
        record = maintained.ask(replace(EVERYTHING, operations=(COMPACT,)), "ann")
        while maintained.find(EVENTS, record.maintenance_id).ended_at is None:
            pass
    finally:
        maintained.close(20)
    assert done == [1]


def test_what_came_of_it_is_counted(catalogs: FakeCatalogs, clock: FakeClock) -> None:
    metrics = FakeMaintenanceMetrics()
    maintained = FakeMaintenances(catalogs, clock, metrics=metrics)
    maintained.table_maintenance.failures = [EngineNotReady()]
    maintained.ask(replace(EVERYTHING, operations=(COMPACT,)), "ann")
    with pytest.raises(PartDown):
        maintained.run_open()
    maintained.run_open()
    assert metrics.postponed_count == 1
    assert [record.state for record in metrics.records] == [MaintenanceState.SUCCEEDED]


FLOORS = MaintenanceBounds(snapshot_age=timedelta(days=9), snapshots_kept=7, orphan_age=timedelta(days=8))


def test_a_request_below_the_floors_is_refused_whoever_sends_it(
    maintained: FakeMaintenances,
) -> None:
    maintained.plan = replace(PLAN, bounds=FLOORS, floors=FLOORS)
    for caller in ("ann", SCHEDULE):
        with pytest.raises(MaintenanceBelowFloor, match=r"216 hours .* newest 7 .* 192 hours"):
            maintained.ask(EVERYTHING, caller)
    assert maintained.log.records == {}
    second = timedelta(seconds=1)
    for below in (
        replace(FLOORS, snapshot_age=FLOORS.snapshot_age - second),
        replace(FLOORS, snapshots_kept=6),
        replace(FLOORS, orphan_age=FLOORS.orphan_age - second),
    ):
        with pytest.raises(MaintenanceBelowFloor):
            maintained.ask(replace(EVERYTHING, bounds=below), "ann")
    assert ended(maintained, replace(EVERYTHING, bounds=FLOORS)).state is MaintenanceState.SUCCEEDED


def test_what_was_requested_under_lower_floors_keeps_what_the_floors_keep_now(
    maintained: FakeMaintenances, clock: FakeClock
) -> None:
    maintained.ask(EVERYTHING, "ann")
    maintained.plan = replace(PLAN, bounds=FLOORS, floors=FLOORS)
    maintained.run_open()
    assert maintained.table_maintenance.done[1:] == [
        ("expire", EVENTS, clock.now() - timedelta(days=9), 7),
        ("removeOrphans", EVENTS, clock.now() - timedelta(days=8)),
    ]
