"""A CALL asks for no more than the gateway's own maintenance, and removes nothing younger than it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from service.errors.gateway_error import CallerError
from service.errors.maintenance_errors import MaintenanceBelowFloor, MaintenanceRunning
from service.maintenance.called_maintenance import CalledMaintenance
from service.maintenance.called_procedures import called_request, check_call
from service.maintenance.maintenance_service import MaintenancePlan
from service.model.operations.maintenance import MaintenanceBounds, MaintenanceOperation
from service.model.tables.tables import TableName
from service.model.writes.procedure_calls import ArgumentKind, ProcedureArgument, ProcedureCall
from service.model.writes.writes import Write, WriteKind, WriteRecord
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.maintenance import BOUNDS, PLAN, FakeMaintenances

TABLE = TableName("lake", "shop", "item")
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def call(procedure: str = "expire_snapshots", **arguments: str | int | datetime) -> ProcedureCall:
    given = [ProcedureArgument(name, *_literal(value)) for name, value in arguments.items()]
    return ProcedureCall(("lake", "system", procedure), tuple(given))


def moment(micros: int) -> ProcedureCall:
    argument = ProcedureArgument("older_than", ArgumentKind.MOMENT, micros)
    return ProcedureCall(("lake", "system", "expire_snapshots"), (argument,))


def _literal(value: str | int | datetime) -> tuple[ArgumentKind, str | int]:
    if isinstance(value, datetime):
        return ArgumentKind.MOMENT, (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return (ArgumentKind.TEXT if isinstance(value, str) else ArgumentKind.NUMBER), value


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (call("rollback_to_snapshot", table="item"), "STATEMENT_NOT_ALLOWED"),
        (ProcedureCall(("lake", "expire_snapshots")), "STATEMENT_NOT_ALLOWED"),
        (ProcedureCall(("lake", "shop", "expire_snapshots")), "STATEMENT_NOT_ALLOWED"),
        (ProcedureCall(("lake", "a", "system", "expire_snapshots")), "STATEMENT_NOT_ALLOWED"),
        (call("rewrite_data_files", table="item", retain_last=1), "STATEMENT_NOT_ALLOWED"),
        (call(), "SQL_INVALID"),
        (call(table=7), "SQL_INVALID"),
        (call(table="item", older_than="2026-01-01"), "SQL_INVALID"),
        (
            ProcedureCall(
                ("lake", "system", "expire_snapshots"), (ProcedureArgument("", ArgumentKind.TEXT, "item"),)
            ),
            "SQL_INVALID",
        ),
        (
            ProcedureCall(
                ("lake", "system", "expire_snapshots"),
                (
                    ProcedureArgument("table", ArgumentKind.TEXT, "a"),
                    ProcedureArgument("table", ArgumentKind.TEXT, "b"),
                ),
            ),
            "SQL_INVALID",
        ),
    ],
    ids=[
        "name",
        "two parts",
        "schema",
        "four parts",
        "argument",
        "no table",
        "type",
        "text",
        "position",
        "twice",
    ],
)
def test_what_is_not_offered_is_refused(asked: ProcedureCall, code: str) -> None:
    with pytest.raises(CallerError) as refused:
        check_call(asked)
    assert refused.value.code == code


def test_bounds_that_are_left_out_are_the_operators() -> None:
    for procedure, operation in (
        ("rewrite_data_files", MaintenanceOperation.COMPACT),
        ("Expire_Snapshots", MaintenanceOperation.EXPIRE),
        ("remove_orphan_files", MaintenanceOperation.REMOVE_ORPHANS),
    ):
        asked = call(procedure, table="item")
        check_call(asked)
        request = called_request(asked, TABLE, BOUNDS, NOW)
        assert (request.key.table, request.operations, request.bounds) == (TABLE, (operation,), BOUNDS)


@pytest.mark.parametrize("micros", [0, 1, 999_999])
def test_an_age_is_rounded_up(micros: int) -> None:
    before = NOW - timedelta(days=2) + timedelta(microseconds=micros)
    bounds = called_request(call(table="item", older_than=before, retain_last=3), TABLE, BOUNDS, NOW).bounds
    assert (bounds.snapshot_age, bounds.snapshots_kept) == (timedelta(days=2), 3)
    assert bounds.orphan_age == BOUNDS.orphan_age
    orphans = called_request(call("remove_orphan_files", table="item", older_than=before), TABLE, BOUNDS, NOW)
    assert (orphans.bounds.orphan_age, orphans.bounds.snapshot_age) == (
        timedelta(days=2),
        BOUNDS.snapshot_age,
    )


@pytest.mark.parametrize(
    "asked",
    [
        call(table="item", older_than=NOW + timedelta(microseconds=1)),
        call(table="item", older_than=datetime(1, 1, 1, tzinfo=UTC)),
        moment(-(2**63)),
        moment(2**63 - 1),
        call(table="item", retain_last=0),
        call(table="item", retain_last=100_001),
    ],
    ids=["future", "year 1", "before all years", "after all years", "none", "many"],
)
def test_bounds_make_sense(asked: ProcedureCall) -> None:
    with pytest.raises(CallerError):
        called_request(asked, TABLE, BOUNDS, NOW)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def maintenances(clock: FakeClock, plan: MaintenancePlan = PLAN) -> FakeMaintenances:
    return FakeMaintenances(FakeCatalogs(tables=[facts_of_empty_table(TABLE)]), clock, plan)


def written(asked: ProcedureCall, clock: FakeClock) -> WriteRecord:
    write = Write(WriteKind.CALL, TABLE, call=asked)
    return WriteRecord(uuid4(), "ana", write, clock.now(), clock.now() + timedelta(minutes=5))


def test_a_call_is_taken_once_under_the_id_of_its_query(clock: FakeClock) -> None:
    maintained = maintenances(clock)
    calls, record = CalledMaintenance(maintained), written(call("rewrite_data_files", table="item"), clock)
    assert not calls.has_taken(record)
    calls.take(record)
    maintained.run_open()
    calls.take(record)
    assert calls.has_taken(record)
    found = maintained.find(TABLE, record.query_id)
    assert (found.requested_by, found.request.operations) == ("ana", (MaintenanceOperation.COMPACT,))
    assert len(maintained.table_maintenance.done) == 1


def test_floors_and_open_maintenance_hold_for_calls(clock: FakeClock) -> None:
    floors = MaintenanceBounds(snapshot_age=timedelta(days=1), snapshots_kept=2, orphan_age=timedelta(days=1))
    maintained = maintenances(clock, replace(PLAN, floors=floors))
    calls = CalledMaintenance(maintained)
    for asked in (
        call(table="item", older_than=clock.now()),
        call(table="item", retain_last=1),
        call("remove_orphan_files", table="item", older_than=clock.now() - timedelta(hours=23)),
    ):
        with pytest.raises(MaintenanceBelowFloor):
            calls.take(written(asked, clock))
    assert not maintained.log.records
    calls.take(written(call(table="item", retain_last=2), clock))
    with pytest.raises(MaintenanceRunning):
        calls.take(written(call(table="item", retain_last=2), clock))


def test_waiting_removes_nothing_that_is_younger_than_the_call_says(clock: FakeClock) -> None:
    maintained = maintenances(clock)
    before = clock.now() - timedelta(days=2)
    CalledMaintenance(maintained).take(written(call(table="item", older_than=before), clock))
    clock.advance(timedelta(hours=5))
    maintained.run_open()
    assert maintained.table_maintenance.done == [("expire", TABLE, before, BOUNDS.snapshots_kept)]
