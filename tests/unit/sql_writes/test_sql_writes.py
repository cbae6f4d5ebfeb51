"""The outcome of a write is what its table's snapshots say, whatever the engine has said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from service.adapters.sql_writes.outcome_rows import outcome_rows
from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import WriteNotAllowed
from service.errors.maintenance_errors import MaintenanceRunning
from service.errors.query_errors import CommitConflict, CommitStateUnknown, QueryFailed, QueryTimedOut
from service.errors.statement_errors import StatementNotAllowed
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown, EngineLost, MetricsStoreDown
from service.model.tables.tables import TableName
from service.model.writes.procedure_calls import ProcedureCall
from service.model.writes.writes import Write, WriteKind, WriteOutcome, WriteRecord, WriteState
from service.ports.stores.write_log import MarkedCommit
from service.ports.tables.maintenance_calls import MaintenanceCalls
from service.sql_writes.rows_affected import rows_affected
from service.sql_writes.sql_writes import GRACE_S, SqlWriteBounds, SqlWrites
from tests.fakes.clock import FakeClock
from tests.fakes.write_log import FakeCommitMarks, FakeWriteLog

TABLE = TableName("lake", "shop", "orders")
COMMIT = MarkedCommit(7, {"added-records": "3"}, had_deletes=False)


class Writes:
    """The service over fakes, and a write that has begun."""

    def __init__(self, tables: tuple[str, ...] = ("*",), calls: MaintenanceCalls | None = None) -> None:
        self.log, self.marks, self.clock = FakeWriteLog(), FakeCommitMarks(), FakeClock()
        self.service = SqlWrites(
            self.log,
            self.marks,
            self.clock,
            outcome_rows,
            SqlWriteBounds(tables=tables, settle_s=0.0),
            calls,
        )

    def record(self, **more: object) -> WriteRecord:
        now = self.clock.now()
        record = WriteRecord(uuid4(), "ana", Write(WriteKind.INSERT, TABLE), now, now + timedelta(minutes=5))
        return replace(record, **more)  # type: ignore[arg-type]

    def begun(self) -> WriteRecord:
        return self.service.begin(self.record())

    def lost(self, *, is_gone: bool) -> EngineLost:
        failure = EngineLost()
        failure.is_gone = is_gone
        return failure


@pytest.mark.parametrize(
    "failure",
    [None, QueryFailed("x"), CommitConflict(), EngineLost(), CommitStateUnknown()],
    ids=["none", "failed", "conflict", "lost", "unknown"],
)
def test_a_mark_in_the_table_proves_the_commit(failure: GatewayError | None) -> None:
    writes = Writes()
    record = writes.begun()
    writes.marks.commits[record.query_id] = COMMIT
    ended = writes.service.ended(record, failure)
    assert ended.outcome == WriteOutcome(WriteState.COMMITTED, 7, 3)
    assert writes.log.find(record.query_id) == ended


def test_a_success_without_a_snapshot_had_nothing_to_change() -> None:
    writes = Writes()
    assert writes.service.ended(writes.begun(), None).outcome == WriteOutcome(WriteState.COMMITTED, None, 0)
    writes.marks.fault = CatalogDown()
    assert writes.service.ended(writes.begun(), None).outcome == WriteOutcome(WriteState.COMMITTED)


def test_a_failure_without_a_mark_is_not_committed() -> None:
    writes = Writes()
    ended = writes.service.ended(writes.begun(), QueryFailed("division"))
    assert (ended.state, ended.error_code, ended.error_detail) == (
        WriteState.NOT_COMMITTED,
        "QUERY_FAILED",
        "division",
    )
    writes.marks.fault = CatalogDown()
    assert writes.service.ended(writes.begun(), QueryFailed("x")).state is WriteState.UNKNOWN


@pytest.mark.parametrize(
    ("is_gone", "is_complete", "state"),
    [
        (True, True, WriteState.NOT_COMMITTED),
        (True, False, WriteState.UNKNOWN),
        (False, True, WriteState.UNKNOWN),
    ],
)
def test_after_a_loss_only_a_proof_says_no(is_gone: bool, is_complete: bool, state: WriteState) -> None:
    writes = Writes()
    writes.marks.is_complete = is_complete
    assert writes.service.ended(writes.begun(), writes.lost(is_gone=is_gone)).state is state


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (WriteKind.CREATE_TABLE_AS, WriteState.NOT_COMMITTED),
        (WriteKind.REPLACE_TABLE_AS, WriteState.NOT_COMMITTED),
        (WriteKind.INSERT, WriteState.UNKNOWN),
    ],
)
def test_a_table_that_is_not_there_was_not_created(kind: WriteKind, state: WriteState) -> None:
    writes = Writes()
    record = writes.service.begin(writes.record(write=Write(kind, TABLE)))
    writes.marks.fault = TableNotFound(str(TABLE))
    assert writes.service.ended(record, writes.lost(is_gone=True)).state is state


def test_a_write_is_never_known_when_its_time_is_over_and_no_snapshot_can_tell() -> None:
    writes = Writes()
    record = writes.begun()
    writes.marks.is_complete = False
    # It may still be committed.
    assert not writes.service.is_never_known(record)
    writes.clock.advance(timedelta(minutes=5, seconds=1 + GRACE_S))
    assert writes.service.looked_up(record) == record
    assert writes.service.is_never_known(record)
    writes.marks.fault = TableNotFound(str(TABLE))
    assert writes.service.is_never_known(record)
    writes.marks.fault = CatalogDown()
    assert not writes.service.is_never_known(record)
    writes.marks.fault, writes.marks.is_complete = None, True
    assert not writes.service.is_never_known(record)


def test_what_a_lost_replica_began_is_found_later() -> None:
    writes = Writes()
    record = writes.begun()
    found = writes.service.of_query(record.query_id)
    assert found is not None
    assert found.state is WriteState.RUNNING
    writes.clock.advance(timedelta(minutes=5, seconds=1 + GRACE_S))
    late = writes.service.of_query(record.query_id)
    assert late is not None
    assert late.state is WriteState.NOT_COMMITTED
    # Final states stay.
    writes.marks.commits[record.query_id] = COMMIT
    again = writes.service.of_query(record.query_id)
    assert again is not None
    assert again.state is WriteState.NOT_COMMITTED


def test_an_open_write_that_was_committed_is_found_by_its_request() -> None:
    writes = Writes()
    record = writes.service.begin(writes.record(request_id=uuid4()))
    writes.marks.commits[record.query_id] = COMMIT
    assert record.request_id is not None
    found = writes.service.sent_before("ana", record.request_id)
    assert found is not None
    assert found.outcome.snapshot_id == 7
    assert writes.service.sent_before("bo", record.request_id) is None


def test_no_write_begins_unrecorded() -> None:
    writes = Writes()
    writes.log.is_down = True
    with pytest.raises(MetricsStoreDown):
        writes.begun()


def test_an_outcome_that_cannot_be_kept_is_still_told() -> None:
    writes = Writes()
    record = writes.begun()
    writes.marks.commits[record.query_id] = COMMIT
    writes.log.is_down = True
    assert writes.service.ended(record, None).state is WriteState.COMMITTED


def test_only_the_tables_of_the_setting_are_written_to() -> None:
    with pytest.raises(WriteNotAllowed):
        Writes(tables=("lake.logs.*",)).begun()
    assert Writes(tables=("lake.shop.*",)).begun().write.table == TABLE


@pytest.mark.parametrize(("new_name", "is_allowed"), [("lake.shop.other", True), ("lake.marts.other", False)])
def test_a_new_name_is_one_of_the_setting_too(new_name: str, is_allowed: bool) -> None:
    writes = Writes(("lake.shop.*",))
    renamed = Write(WriteKind.RENAME, TABLE, renamed_to=TableName.of(new_name))
    if is_allowed:
        writes.service.begin(writes.record(write=renamed))
        return
    with pytest.raises(WriteNotAllowed, match=new_name):
        writes.service.begin(writes.record(write=renamed))
    assert writes.log.find(writes.record().query_id) is None


@pytest.mark.parametrize(
    ("kind", "summary", "had_deletes", "rows"),
    [
        (WriteKind.INSERT, {}, None, 0),
        (WriteKind.INSERT_OVERWRITE, {"added-records": "4", "deleted-records": "9"}, None, 4),
        (WriteKind.DELETE, {"deleted-records": "9"}, False, 9),
        (WriteKind.DELETE, {"deleted-records": "9"}, True, None),
        (WriteKind.DELETE, {"deleted-records": "9"}, None, None),
        (WriteKind.DELETE, {"added-position-deletes": "9", "removed-position-deletes": "2"}, True, 7),
        (WriteKind.UPDATE, {"added-position-deletes": "2", "added-records": "2"}, True, 2),
        (WriteKind.UPDATE, {"deleted-records": "9", "added-records": "9"}, False, None),
        (WriteKind.MERGE, {"added-records": "9"}, False, None),
    ],
)
def test_rows_are_counted_where_the_summary_knows_them(
    kind: WriteKind, summary: dict[str, str], had_deletes: bool | None, rows: int | None
) -> None:
    assert rows_affected(kind, MarkedCommit(1, summary, had_deletes)) == rows


class FakeCalls:
    """The `MaintenanceCalls` port: has taken what a test puts in. `fault` is raised by the next `take`."""

    def __init__(self) -> None:
        self.taken: set[UUID] = set()
        self.fault: GatewayError | None = None

    def take(self, record: WriteRecord) -> None:
        if self.fault is not None:
            raise self.fault
        self.taken.add(record.query_id)

    def has_taken(self, record: WriteRecord) -> bool:
        return record.query_id in self.taken


CALL = Write(WriteKind.CALL, TABLE, call=ProcedureCall(("lake", "system", "rewrite_data_files")))


def test_the_record_of_the_maintenance_proves_that_a_call_was_taken() -> None:
    calls = FakeCalls()
    writes = Writes(calls=calls)
    record = writes.service.begin(writes.record(write=CALL))
    assert writes.service.looked_up(record).state is WriteState.RUNNING
    writes.service.perform(record)
    assert writes.service.looked_up(record).outcome == WriteOutcome(WriteState.COMMITTED)
    lost = writes.service.begin(writes.record(write=CALL, query_id=uuid4()))
    writes.clock.advance(timedelta(seconds=GRACE_S + 301))
    assert writes.service.looked_up(lost).state is WriteState.NOT_COMMITTED


def test_a_call_whose_store_does_not_answer_is_not_known() -> None:
    calls = FakeCalls()
    writes = Writes(calls=calls)
    record = writes.service.begin(writes.record(write=CALL))
    calls.fault = MetricsStoreDown()
    with pytest.raises(CommitStateUnknown) as failure:
        writes.service.perform(record)
    assert writes.service.ended(record, failure.value).state is WriteState.UNKNOWN
    calls.fault = MaintenanceRunning("x")
    with pytest.raises(MaintenanceRunning) as refused:
        writes.service.perform(record)
    ended = writes.service.ended(record, refused.value)
    assert (ended.state, ended.error_code) == (WriteState.NOT_COMMITTED, "MAINTENANCE_RUNNING")


def test_a_call_is_not_taken_when_others_may_know_it_as_not_taken() -> None:
    calls = FakeCalls()
    writes = Writes(calls=calls)
    record = writes.service.begin(writes.record(write=CALL))
    writes.clock.advance(record.ends_by - record.started_at + timedelta(seconds=1))
    with pytest.raises(QueryTimedOut) as refused:
        writes.service.perform(record)
    assert not calls.taken
    assert writes.service.ended(record, refused.value).state is WriteState.NOT_COMMITTED


def test_only_a_call_is_done_by_the_gateway() -> None:
    writes = Writes()
    writes.service.perform(writes.begun())
    with pytest.raises(StatementNotAllowed):
        writes.service.perform(writes.record(write=CALL))


def test_the_row_of_a_call_has_the_id_of_its_maintenance() -> None:
    record = Writes().record(write=CALL)
    assert outcome_rows(record).to_pylist() == [
        {"maintenance_id": str(record.query_id), "table_name": "lake.shop.orders"}
    ]
