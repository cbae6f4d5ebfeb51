"""The maintenance log on PostgreSQL, and the lock to maintain a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Subquery,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError

from service.adapters.postgres.ingest_log.ingest_tables import CommitRoundRow, IngestCommitRow, IngestRow
from service.adapters.postgres.maintenance.maintenance_rows import (
    maintenance_record,
    maintenance_values,
    progress_values,
)
from service.adapters.postgres.maintenance.maintenance_tables import MaintenanceRow
from service.adapters.postgres.shared.advisory_lock import advisory_lock
from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.adapters.postgres.shared.pool_use import pool_use
from service.adapters.postgres.shared.postgres_errors import transaction
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import (
    Gathered,
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceState,
)
from service.model.operations.usage import PoolUse
from service.model.tables.tables import TableName

OPEN_AT_ONCE = 1_000
_LOCK = "maintenance"


class PostgresMaintenanceLog:
    """The ports `MaintenanceLog`, `MaintenanceTurns` and `WaitingIngests`; the tables must be there."""

    def __init__(self, url: str) -> None:
        self._engine = store_engine(url, CONNECTION, pool_size=4, pool_timeout=10)
        self._turns = self._engine.execution_options(isolation_level="AUTOCOMMIT")

    def add(self, record: MaintenanceRecord) -> MaintenanceRecord:
        """Adds the record; if the table has another one that has not ended, returns that instead."""
        statement = insert(MaintenanceRow).on_conflict_do_nothing().returning(MaintenanceRow.maintenance_id)
        with transaction(self._engine) as session:
            if session.scalar(statement, maintenance_values(record)) is not None:
                return record
            of_table = and_(_is_of(record.request.key.table), MaintenanceRow.ended_at.is_(None))
            found = session.scalars(select(MaintenanceRow).where(of_table)).one_or_none()
            return self.add(record) if found is None else maintenance_record(found)

    def save(self, record: MaintenanceRecord) -> None:
        """Saves the record's progress."""
        is_it = MaintenanceRow.maintenance_id == record.maintenance_id
        with transaction(self._engine) as session:
            session.execute(update(MaintenanceRow).where(is_it).values(progress_values(record)))

    def find(self, maintenance_id: UUID) -> MaintenanceRecord | None:
        """Returns the record as it is now."""
        with transaction(self._engine) as session:
            row = session.get(MaintenanceRow, maintenance_id)
            return maintenance_record(row) if row else None

    def forget(self, before: datetime) -> int:
        """Deletes records that ended before then, and returns how many."""
        old = delete(MaintenanceRow).where(MaintenanceRow.ended_at < before)
        with transaction(self._engine) as session:
            return len(session.scalars(old.returning(MaintenanceRow.maintenance_id)).all())

    def latest(self, table: TableName, limit: int) -> Sequence[MaintenanceRecord]:
        """The table's records, the newest first."""
        newest = select(MaintenanceRow).where(_is_of(table)).order_by(MaintenanceRow.requested_at.desc())
        with transaction(self._engine) as session:
            return [maintenance_record(scalar) for scalar in session.scalars(newest.limit(limit))]

    def open(self) -> Sequence[MaintenanceRecord]:
        """The records that have not ended, the oldest first."""
        row = MaintenanceRow
        oldest = select(row).where(row.ended_at.is_(None)).order_by(row.requested_at).limit(OPEN_AT_ONCE)
        with transaction(self._engine) as session:
            return [maintenance_record(scalar) for scalar in session.scalars(oldest)]

    @contextmanager
    def alone(self, table: TableName) -> Iterator[bool]:
        """Yields True if no other process maintains the table while this is open."""
        try:
            with advisory_lock(self._turns, _LOCK, table.catalog, table.schema, table.table) as connection:
                yield connection is not None
        except SQLAlchemyError as error:
            raise MetricsStoreDown() from error

    def due(self, since: datetime) -> Sequence[TableKey]:
        """Tables and branches whose upserts are due for compaction.

        The upserts were committed by `since`. The table was not compacted after them, and no compaction was
        requested after `since`.
        """
        row = IngestCommitRow
        key = (row.catalog, row.schema, row.table_name, row.branch)
        statement = (
            select(*key)
            .where(row.is_upsert, row.snapshot_id.is_not(None), row.committed_at <= since)
            .where(~exists().where(_has_compacted(since)))
            .group_by(*key)
            .order_by(func.min(row.committed_at))
            .limit(OPEN_AT_ONCE)
        )
        with transaction(self._engine) as session:
            found = session.execute(statement).all()
        return [TableKey(TableName(catalog, schema, name), branch) for catalog, schema, name, branch in found]

    def gathered(self, wanted: Gathered) -> Sequence[TableKey]:
        """Tables and branches in which ingests, upserts or not, have added as many files as `wanted` says."""
        row, last = CommitRoundRow, _last_runs(wanted.operation)
        key = (row.catalog, row.schema, row.table_name, row.branch)
        is_same = [one == last.c[one.key] for one in key]
        statement = (
            select(*key)
            .outerjoin(last, and_(*is_same))
            .where(row.snapshot_id.is_not(None))
            .where(or_(last.c.requested_at.is_(None), last.c.requested_at <= wanted.since))
            .where(or_(last.c.done_at.is_(None), last.c.done_at < row.ended_at))
            .group_by(*key)
            .having(func.min(row.ended_at) <= wanted.since, func.sum(row.file_count) >= wanted.file_count)
            .order_by(func.min(row.ended_at))
            .limit(OPEN_AT_ONCE)
        )
        with transaction(self._engine) as session:
            found = session.execute(statement).all()
        return [TableKey(TableName(catalog, schema, name), branch) for catalog, schema, name, branch in found]

    def oldest(self, table: TableName) -> datetime | None:
        """When the oldest ingest waiting for any branch of the table was accepted, at any replica."""
        row = IngestCommitRow
        is_of_table = and_(
            row.catalog == table.catalog, row.schema == table.schema, row.table_name == table.table
        )
        statement = (
            select(func.min(IngestRow.accepted_at))
            .join(row, row.ingest_id == IngestRow.ingest_id)
            .where(is_of_table, row.snapshot_id.is_(None), row.error_code.is_(None))
        )
        with transaction(self._engine) as session:
            return session.scalar(statement)

    @property
    def pool(self) -> PoolUse:
        """How many of its connections are in use."""
        return pool_use(self._engine)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


def _is_of(table: TableName) -> ColumnElement[bool]:
    row = MaintenanceRow
    return and_(row.catalog == table.catalog, row.schema == table.schema, row.table_name == table.table)


def _last_runs(operation: MaintenanceOperation) -> Subquery:
    """By table and branch: when the operation was last requested, and when its last success started."""
    run = MaintenanceRow
    is_done = run.state == MaintenanceState.SUCCEEDED.value
    key = (run.catalog, run.schema, run.table_name, run.branch)
    return (
        select(
            *key,
            func.max(run.requested_at).label("requested_at"),
            func.max(run.started_at).filter(is_done).label("done_at"),
        )
        .where(run.operations.contains([operation.value]))
        .group_by(*key)
        .subquery()
    )


def _has_compacted(since: datetime) -> ColumnElement[bool]:
    """Whether the commit's table was compacted after it, or a compaction was requested after the moment."""
    commit, run = IngestCommitRow, MaintenanceRow
    return and_(
        run.catalog == commit.catalog,
        run.schema == commit.schema,
        run.table_name == commit.table_name,
        run.branch == commit.branch,
        run.operations.contains([MaintenanceOperation.COMPACT.value]),
        or_(
            run.requested_at > since,
            and_(run.state == MaintenanceState.SUCCEEDED.value, run.started_at > commit.committed_at),
        ),
    )
