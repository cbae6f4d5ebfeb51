"""The metrics store on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import ProgrammingError

from service.adapters.postgres.query_records.metrics_filter_rows import filter_values
from service.adapters.postgres.query_records.metrics_rows import query_values, record_of, scan_values
from service.adapters.postgres.query_records.replica_tables import OpenQueryRow
from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.adapters.postgres.shared.metrics_tables import FilterRow, QueryRow, ScanRow
from service.adapters.postgres.shared.pool_use import pool_use
from service.adapters.postgres.shared.postgres_errors import transaction
from service.errors.unavailable import MetricsStoreDown
from service.model.operations.health import PartHealth, PartState
from service.model.operations.usage import PoolUse
from service.model.query.query import QueryRecord
from service.single_flight import SingleFlight

NAME = "metricsStore"
HEALTH_WITHIN_S = 0.9
NOT_MIGRATED = "The metrics store answers, but its tables cannot be read: run `sluice migrate`."
PURGE_AT_ONCE = 5_000


class PostgresQueryStore:
    """The `QueryStore` port; the tables must be there (`migrations.upgrade`)."""

    def __init__(self, url: str) -> None:
        self._engine = store_engine(url, CONNECTION, pool_size=4, max_overflow=4, pool_timeout=3)
        self._probes: SingleFlight[str, None] = SingleFlight()

    @property
    def pool(self) -> PoolUse:
        """How many of its connections are in use."""
        return pool_use(self._engine)

    def record(self, records: Sequence[QueryRecord]) -> None:
        """Writes all records or none; an existing record stays as it is.

        Raises:
            MetricsStoreDown: nothing was written.
        """
        if not records:
            return
        # reversed: if two records in a batch have the same id, the first counts.
        by_id = {record.query_id: record for record in reversed(records)}
        with transaction(self._engine) as session:
            # In one step with its record, so that a query is always in one of the tables. First, in the same
            # order as `take_lost`: they must not deadlock.
            session.execute(
                delete(OpenQueryRow).where(OpenQueryRow.query_id.in_(by_id)),
                execution_options={"synchronize_session": False},
            )
            statement = insert(QueryRow).on_conflict_do_nothing().returning(QueryRow.query_id)
            rows = [query_values(record) for record in reversed(by_id.values())]
            written = session.scalars(statement, rows).all()
            scans = [scan for query_id in written for scan in scan_values(by_id[query_id])]
            if scans:
                session.execute(insert(ScanRow), scans)
            filters = [value for query_id in written for value in filter_values(by_id[query_id])]
            if filters:
                session.execute(insert(FilterRow), filters)

    def find(self, query_id: UUID) -> QueryRecord | None:
        """Returns the record of one query.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        return self._find_one(QueryRow.query_id == query_id)

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns the record of the query that this caller sent under this id.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        return self._find_one((QueryRow.caller == caller) & (QueryRow.request_id == request_id))

    def forget_before(self, moment: datetime) -> int:
        """Deletes older records, some thousands per transaction, and returns how many.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        old = select(QueryRow.query_id).where(QueryRow.submitted_at < moment).limit(PURGE_AT_ONCE)
        statement = delete(QueryRow).where(QueryRow.query_id.in_(old)).returning(QueryRow.query_id)
        forgotten = 0
        while True:
            with transaction(self._engine) as session:
                deleted = len(
                    session.execute(statement, execution_options={"synchronize_session": False}).all()
                )
            forgotten += deleted
            if deleted < PURGE_AT_ONCE:
                return forgotten

    def health(self) -> PartHealth:
        """Checks within a second whether the store answers."""
        # A connection to a dead address may hang for longer than a second; another thread waits for it
        # instead of the caller.
        try:
            self._probes.start(NAME, self._ping).result(timeout=HEALTH_WITHIN_S)
        except MetricsStoreDown as error:
            return PartHealth(NAME, PartState.DOWN, error.detail)
        except TimeoutError:
            return PartHealth(NAME, PartState.DOWN, MetricsStoreDown().detail)
        return PartHealth(NAME, PartState.UP)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def _find_one(self, condition: ColumnElement[bool]) -> QueryRecord | None:
        with transaction(self._engine) as session:
            row = session.scalars(select(QueryRow).where(condition)).one_or_none()
            return record_of(row) if row else None

    def _ping(self) -> None:
        with transaction(self._engine) as session:
            try:
                session.execute(text("SELECT 1 FROM queries LIMIT 0"))
            except ProgrammingError as error:
                raise MetricsStoreDown(NOT_MIGRATED) from error
