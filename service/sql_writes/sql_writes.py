"""The records of writes by SQL, and their outcomes. Any thread may call any method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from fnmatch import fnmatchcase
from threading import Event
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import WriteNotAllowed
from service.errors.query_errors import CommitStateUnknown, QueryTimedOut
from service.errors.statement_errors import StatementNotAllowed
from service.errors.table_errors import TableAmbiguous, TableNotFound, TableUnreadable
from service.errors.unavailable import CatalogDown, EngineLost, MetricsStoreDown
from service.model.writes.writes import WriteKind, WriteOutcome, WriteRecord, WriteState
from service.ports.clock import Clock
from service.ports.stores.write_log import CommitMarks, FoundMark, WriteLog
from service.ports.tables.maintenance_calls import MaintenanceCalls
from service.sql_writes.rows_affected import rows_affected

if TYPE_CHECKING:
    import pyarrow as pa

log = structlog.get_logger(__name__)

_CREATING = (WriteKind.CREATE_TABLE_AS, WriteKind.REPLACE_TABLE_AS)
LOOK_EVERY_S = 1.0
GRACE_S = 600.0
"""How long after a write's timeout an engine that hangs may still commit it, until it is replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlWriteBounds:
    """Which tables SQL may write to, and how long a write whose engine was lost is looked for.

    `tables` are full names, with `*` for any part. `grace_s`: how long after its timeout an engine that hangs
    may still commit a write. `is_pruning`: scans of statements that write are pruned by dynamic filters.
    """

    tables: tuple[str, ...] = ("*",)
    settle_s: float = 10.0
    grace_s: float = GRACE_S
    is_pruning: bool = False


class SqlWrites:
    """Records each write before it begins, and finds out how it ended."""

    def __init__(
        self,
        write_log: WriteLog,
        marks: CommitMarks,
        clock: Clock,
        rows: Callable[[WriteRecord], pa.Table],
        bounds: SqlWriteBounds = SqlWriteBounds(),
        calls: MaintenanceCalls | None = None,
    ) -> None:
        """`rows` returns an outcome as the rows of its statement's result. `calls`: None refuses CALL."""
        self.rows = rows
        self._log = write_log
        self._marks = marks
        self._clock = clock
        self._bounds = bounds
        self._calls = calls
        self._closing = Event()

    @property
    def is_pruning(self) -> bool:
        """Whether scans of statements that write are pruned by dynamic filters."""
        return self._bounds.is_pruning

    def begin(self, record: WriteRecord) -> WriteRecord:
        """Records that a write begins. If it was begun before under the same requestId, returns that one.

        Raises:
            WriteNotAllowed: SQL may not write to this table here, or to its new name.
            MetricsStoreDown: it cannot be recorded, so it must not begin.
        """
        for table in map(str, record.write.changed):
            if not any(fnmatchcase(table, name) for name in self._bounds.tables):
                raise WriteNotAllowed(f"SQL may not write to {table} here.")
        return self._log.begin(record)

    def perform(self, record: WriteRecord) -> None:
        """Does what a write asks of the gateway itself: a CALL. Any other write is the engine's work.

        Raises:
            CommitStateUnknown: nobody knows whether the call was taken.
            QueryTimedOut: its time is over, so that others may know it as not taken.
            StatementNotAllowed: this gateway maintains no tables.
            CallerError, PartDown: the call was not taken.
        """
        if record.write.call is None:
            return
        if self._calls is None:
            raise StatementNotAllowed("No procedures may be called here.")
        if self._clock.now() > record.ends_by:
            raise QueryTimedOut
        try:
            self._calls.take(record)
        except MetricsStoreDown as failure:
            raise CommitStateUnknown from failure

    def sent_before(self, caller: str, request_id: UUID) -> WriteRecord | None:
        """Returns the write that this caller has sent under this id, with its outcome as far as it is known.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        found = self._log.find_request(caller, request_id)
        return None if found is None else self.looked_up(found)

    def of_query(self, query_id: UUID) -> WriteRecord | None:
        """Returns the write of a query that has ended here or was lost, with its outcome as far as known.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        found = self._log.find(query_id)
        return None if found is None else self.looked_up(found)

    def ended(self, record: WriteRecord, failure: GatewayError | None) -> WriteRecord:
        """Returns a write that the engine has returned from, with its outcome, which is kept.

        Spark's failure does not prove that nothing was committed: the table's snapshots decide. After the
        loss of an engine this waits until they can, for a bounded time.
        """
        if isinstance(failure, EngineLost | CommitStateUnknown):
            return self._kept(self._settled(record, failure), failure)
        found = self._found(record)
        if found is not None and found.commit is not None:
            return self._kept(_committed(record, found), None)
        if failure is None:
            # Nothing had to be changed, or the snapshots cannot be read now.
            has_none = record.write.has_snapshot and found is not None and found.is_complete
            outcome = WriteOutcome(WriteState.COMMITTED, rows_affected=0 if has_none else None)
            return self._kept(replace(record, outcome=outcome), None)
        is_known = not record.write.has_snapshot or found is not None
        state = WriteState.NOT_COMMITTED if is_known else WriteState.UNKNOWN
        return self._kept(replace(record, outcome=WriteOutcome(state)), failure)

    def looked_up(self, record: WriteRecord) -> WriteRecord:
        """Returns a write with its outcome as the table's snapshots show it now; a final one stays."""
        if record.state.is_final:
            return record
        if record.write.kind is WriteKind.CALL and self._calls is not None:
            return self._looked_up_call(record, self._calls)
        if not record.write.has_snapshot:
            return record
        found = self._found(record)
        if found is None:
            return record
        if found.commit is not None:
            return self._kept(_committed(record, found), None)
        if found.is_complete and self._is_over(record):
            lost = EngineLost("What ran the write was lost. Nothing was committed.")
            return self._kept(replace(record, outcome=WriteOutcome(WriteState.NOT_COMMITTED)), lost)
        return record

    def is_never_known(self, record: WriteRecord) -> bool:
        """Whether nothing works on the write any more, and no snapshot can tell how it ended.

        That is so for statements without a snapshot, and if the table is not there, or no longer has all
        snapshots since the write began.
        """
        if record.state.is_final or not self._is_over(record):
            return False
        if not record.write.has_snapshot:
            return True
        try:
            found = self._marks.find(record.write.table, record.query_id, record.started_at)
        except TableNotFound:
            return True
        except (CatalogDown, TableAmbiguous, TableUnreadable):
            return False
        return found.commit is None and not found.is_complete

    def close(self) -> None:
        """Ends all waiting."""
        self._closing.set()

    def _is_over(self, record: WriteRecord) -> bool:
        return self._clock.now() > record.ends_by + timedelta(seconds=self._bounds.grace_s)

    def _looked_up_call(self, record: WriteRecord, calls: MaintenanceCalls) -> WriteRecord:
        if calls.has_taken(record):
            return self._kept(replace(record, outcome=WriteOutcome(WriteState.COMMITTED)), None)
        if self._is_over(record):
            lost = EngineLost("What ran the CALL was lost. Nothing was begun.")
            return self._kept(replace(record, outcome=WriteOutcome(WriteState.NOT_COMMITTED)), lost)
        return record

    def _settled(self, record: WriteRecord, failure: EngineLost | CommitStateUnknown) -> WriteRecord:
        """Looks for the write until its engine can no longer commit it, and once more."""
        unknown = replace(record, outcome=WriteOutcome(WriteState.UNKNOWN))
        if not record.write.has_snapshot:
            return unknown
        is_gone = isinstance(failure, EngineLost) and failure.is_gone
        until_ms = self._clock.elapsed_ms() + self._bounds.settle_s * 1000
        while True:
            is_last = self._clock.elapsed_ms() >= until_ms or self._closing.is_set()
            found = self._found(record)
            if found is not None and found.commit is not None:
                return _committed(record, found)
            if is_last:
                is_proven = is_gone and found is not None and found.is_complete
                return (
                    replace(record, outcome=WriteOutcome(WriteState.NOT_COMMITTED)) if is_proven else unknown
                )
            self._closing.wait(LOOK_EVERY_S)

    def _found(self, record: WriteRecord) -> FoundMark | None:
        """Returns what the snapshots say; None: nobody can tell now."""
        if not record.write.has_snapshot:
            return None
        try:
            return self._marks.find(record.write.table, record.query_id, record.started_at)
        except (CatalogDown, TableNotFound, TableAmbiguous, TableUnreadable) as failure:
            if isinstance(failure, TableNotFound) and record.write.kind in _CREATING:
                # A table is created together with its rows.
                return FoundMark(None, is_complete=True)
            log.warning("write_not_looked_up", query_id=str(record.query_id), code=failure.code)
            return None

    def _kept(self, record: WriteRecord, failure: GatewayError | None) -> WriteRecord:
        if failure is not None and record.state is not WriteState.COMMITTED:
            record = replace(record, error_code=failure.code, error_detail=failure.detail)
        try:
            self._log.end(record.query_id, record.outcome, record.error_code, record.error_detail)
        except MetricsStoreDown:
            # Whoever asks for it next looks at the table again.
            log.warning("write_outcome_not_kept", query_id=str(record.query_id), state=record.state.value)
        return record


def _committed(record: WriteRecord, found: FoundMark) -> WriteRecord:
    assert found.commit is not None  # as the callers have checked
    rows = rows_affected(record.write.kind, found.commit)
    return replace(record, outcome=WriteOutcome(WriteState.COMMITTED, found.commit.snapshot_id, rows))
