"""Implements the `WriteLog` port on PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from service.adapters.postgres.shared.connecting import DURABLE, store_engine
from service.adapters.postgres.shared.postgres_errors import transaction
from service.adapters.postgres.shared.storable import storable
from service.adapters.sql_writes.write_tables import SqlWriteRow
from service.model.tables.tables import TableName
from service.model.writes.writes import Write, WriteKind, WriteOutcome, WriteRecord, WriteState

STATEMENT_WITHIN_MS = 10_000
SILENT_AT_MOST_S = 12.0
_CONNECTION = DURABLE | {
    "connect_timeout": 5,
    "options": f"{DURABLE['options']} -c statement_timeout={STATEMENT_WITHIN_MS}",
}
_FINAL = tuple(state.value for state in WriteState if state.is_final)


class PostgresWriteLog:
    """Writes in a table that `migrations.upgrade` creates. A commit is durable when a method returns."""

    def __init__(self, url: str) -> None:
        self._engine = store_engine(
            url, _CONNECTION, silent_at_most_s=SILENT_AT_MOST_S, pool_size=2, max_overflow=6, pool_timeout=5
        )

    def begin(self, record: WriteRecord) -> WriteRecord:
        """See the port's `begin`."""
        statement = insert(SqlWriteRow).values(_values(record)).on_conflict_do_nothing()
        with transaction(self._engine) as session:
            if session.execute(statement.returning(SqlWriteRow.query_id)).first() is not None:
                return record
        earlier = None
        if record.request_id is not None:
            earlier = self.find_request(record.caller, record.request_id)
        # The same query may be begun again: nothing of it had run.
        return earlier or record

    def end(
        self, query_id: UUID, outcome: WriteOutcome, error_code: str | None, error_detail: str | None
    ) -> None:
        """See the port's `end`."""
        statement = (
            update(SqlWriteRow)
            .where(SqlWriteRow.query_id == query_id, SqlWriteRow.state.not_in(_FINAL))
            .values(
                state=outcome.state.value,
                snapshot_id=outcome.snapshot_id,
                rows_affected=outcome.rows_affected,
                error_code=error_code,
                error_detail=None if error_detail is None else storable(error_detail),
            )
        )
        with transaction(self._engine) as session:
            session.execute(statement, execution_options={"synchronize_session": False})

    def find(self, query_id: UUID) -> WriteRecord | None:
        """See the port's `find`."""
        return self._find(SqlWriteRow.query_id == query_id)

    def find_request(self, caller: str, request_id: UUID) -> WriteRecord | None:
        """See the port's `find_request`."""
        is_callers = SqlWriteRow.caller == storable(caller)
        return self._find(is_callers & (SqlWriteRow.request_id == request_id))

    def forget_before(self, moment: datetime) -> int:
        """See the port's `forget_before`."""
        statement = delete(SqlWriteRow).where(SqlWriteRow.started_at < moment)
        with transaction(self._engine) as session:
            deleted = session.execute(
                statement.returning(SqlWriteRow.query_id), execution_options={"synchronize_session": False}
            )
            return len(deleted.all())

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def _find(self, condition: ColumnElement[bool]) -> WriteRecord | None:
        with transaction(self._engine) as session:
            row = session.scalars(select(SqlWriteRow).where(condition)).one_or_none()
            return None if row is None else _record_of(row)


def _values(record: WriteRecord) -> dict[str, object]:
    return {
        "query_id": record.query_id,
        "caller": storable(record.caller),
        "request_id": record.request_id,
        "fingerprint": record.fingerprint,
        "kind": record.write.kind.value,
        "table_name": storable(str(record.write.table)),
        "state": record.state.value,
        "started_at": record.started_at,
        "ends_by": record.ends_by,
    }


def _record_of(row: SqlWriteRow) -> WriteRecord:
    return WriteRecord(
        query_id=row.query_id,
        caller=row.caller,
        write=Write(WriteKind(row.kind), TableName.of(row.table_name)),
        started_at=row.started_at.astimezone(UTC),
        ends_by=row.ends_by.astimezone(UTC),
        request_id=row.request_id,
        fingerprint=row.fingerprint,
        outcome=WriteOutcome(WriteState(row.state), row.snapshot_id, row.rows_affected),
        error_code=row.error_code,
        error_detail=row.error_detail,
    )
