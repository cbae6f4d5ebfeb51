"""Reads many queries of the metrics store at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Executable, Row, func, select, tuple_
from sqlalchemy.exc import SQLAlchemyError

from service.adapters.postgres.query_records.metrics_rows import scan_of
from service.adapters.postgres.query_records.table_pruning import table_prunings
from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.adapters.postgres.shared.metrics_tables import FilterRow, QueryRow, ScanRow
from service.adapters.postgres.shared.pool_use import pool_use
from service.adapters.postgres.shared.storable import storable
from service.errors.unavailable import MetricsStoreDown
from service.model.filters.filter_record import Reason
from service.model.operations.usage import PoolUse
from service.model.query.history import (
    MAX_FREQUENT_BYTES,
    MAX_SQL_CHARACTERS,
    FilteringQuery,
    FrequentQuery,
    QueryListing,
    QuerySummary,
    TablePruning,
)
from service.model.query.query import QueryState
from service.model.query.scan_metrics import ScanRecord

MAX_COUNTED = 20_000
"""Counting more queries than the newest ones would take long, and say little else."""

_LISTED = (
    QueryRow.query_id,
    func.left(QueryRow.sql, MAX_SQL_CHARACTERS).label("sql"),
    QueryRow.state,
    QueryRow.submitted_at,
    QueryRow.error_code,
    QueryRow.queued_ms,
    (QueryRow.queued_ms + QueryRow.planning_ms + QueryRow.running_ms).label("elapsed_ms"),
    QueryRow.row_count,
    QueryRow.tags,
    QueryRow.caller,
)
_SCANNED = (
    ScanRow.table_name,
    func.count(ScanRow.query_id.distinct()).label("queries"),
    func.count().label("scans"),
    func.sum(ScanRow.data_files_total).label("data_files_total"),
    func.sum(ScanRow.data_files_selected).label("data_files_selected"),
    func.sum(ScanRow.bytes_total).label("bytes_total"),
    func.sum(ScanRow.bytes_selected).label("bytes_selected"),
)
_FILTERED = (
    FilterRow.probe_table.label("table_name"),
    FilterRow.reason,
    FilterRow.source,
    func.count().label("filters"),
    func.sum(FilterRow.collection_ms).label("collection_ms"),
)


class PostgresQueryHistory:
    """The `QueryHistory` port. It has its own connections, so that reading history delays no record."""

    def __init__(self, url: str) -> None:
        self._engine = store_engine(url, CONNECTION, pool_size=1, max_overflow=3, pool_timeout=3)

    def queries(self, listing: QueryListing) -> Sequence[QuerySummary]:
        """Recorded queries of a caller, or of all, the newest first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        with self._connection() as connection:
            return [_summary(row) for row in connection.execute(_listed(listing))]

    def pruning(self, since: datetime, table: str | None) -> Sequence[TablePruning]:
        """Every table that was scanned, or had a candidate filter, since then; ordered by name.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        with self._connection() as connection:
            scans = connection.execute(_scanned(since, table)).all()
            filters = connection.execute(_filtered(since, table)).all()
        return table_prunings(scans, filters)

    def frequent(self, since: datetime, limit: int, within_ms: int) -> Sequence[FrequentQuery]:
        """Lists the texts that ran and succeeded most often since then, the most frequent first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        with self._connection() as connection:
            rows = connection.execute(_frequent(since, limit, within_ms)).all()
        return [FrequentQuery(row.sql, row.catalog, row.schema) for row in rows]

    def scans(self, since: datetime, table: str, limit: int) -> Sequence[ScanRecord]:
        """Lists the scans of a table that ran since then, those of the newest queries first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        with self._connection() as connection:
            return [scan_of(row) for row in connection.execute(_scans(since, table, limit))]

    def filtering(self, since: datetime, limit: int, at_least: int) -> Sequence[FilteringQuery]:
        """Lists texts and the tables of their keys, of queries since then, the most frequent first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        with self._connection() as connection:
            rows = connection.execute(_filtering(since, limit, at_least)).all()
        return [
            FilteringQuery(FrequentQuery(row.sql, row.catalog, row.schema), tuple(row.tables), row.queries)
            for row in rows
        ]

    @property
    def pool(self) -> PoolUse:
        """How many of its connections are in use."""
        return pool_use(self._engine)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            # The driver's own message may hold the address, the user and the values.
            raise MetricsStoreDown() from error


def _listed(listing: QueryListing) -> Executable:
    place = tuple_(QueryRow.submitted_at, QueryRow.query_id)
    statement = select(*_LISTED).limit(listing.limit)
    statement = statement.order_by(QueryRow.submitted_at.desc(), QueryRow.query_id.desc())
    if listing.caller is not None:
        statement = statement.where(QueryRow.caller == storable(listing.caller))
    if listing.state is not None:
        statement = statement.where(QueryRow.state == listing.state.value)
    if listing.before is not None:
        statement = statement.where(place < (listing.before.submitted_at, listing.before.query_id))
    return statement


def _frequent(since: datetime, limit: int, within_ms: int) -> Executable:
    ran = select(QueryRow.sql, QueryRow.catalog, QueryRow.schema, QueryRow.submitted_at)
    ran = ran.where(QueryRow.submitted_at >= since, QueryRow.state == QueryState.SUCCEEDED.value)
    ran = ran.where(QueryRow.reused_from.is_(None), QueryRow.planning_ms + QueryRow.running_ms <= within_ms)
    # The server knows the length of a text without reading the text.
    ran = ran.where(func.octet_length(QueryRow.sql) <= MAX_FREQUENT_BYTES)
    newest = ran.order_by(QueryRow.submitted_at.desc()).limit(MAX_COUNTED).subquery()
    place = (newest.c.sql, newest.c.catalog, newest.c.schema)
    order = (func.count().desc(), func.max(newest.c.submitted_at).desc())
    return select(*place).group_by(*place).order_by(*order).limit(limit)


def _filtering(since: datetime, limit: int, at_least: int) -> Executable:
    ran = select(QueryRow.query_id, QueryRow.sql, QueryRow.catalog, QueryRow.schema, QueryRow.submitted_at)
    ran = ran.where(QueryRow.submitted_at >= since, QueryRow.state == QueryState.SUCCEEDED.value)
    ran = ran.where(func.octet_length(QueryRow.sql) <= MAX_FREQUENT_BYTES)
    newest = ran.order_by(QueryRow.submitted_at.desc()).limit(MAX_COUNTED).subquery()
    what = (newest.c.sql, newest.c.catalog, newest.c.schema, FilterRow.build_tables)
    queries = func.count(newest.c.query_id.distinct())
    statement = select(*what[:3], FilterRow.build_tables.label("tables"), queries.label("queries"))
    statement = statement.join(FilterRow, FilterRow.query_id == newest.c.query_id)
    statement = statement.where(FilterRow.reason == Reason.APPLIED.value)
    order = (queries.desc(), func.max(newest.c.submitted_at).desc())
    return statement.group_by(*what).having(queries >= at_least).order_by(*order).limit(limit)


def _scanned(since: datetime, table: str | None) -> Executable:
    statement = select(*_SCANNED).join(QueryRow, QueryRow.query_id == ScanRow.query_id)
    # A query that reused a result read nothing, with or without pruning.
    statement = statement.where(QueryRow.submitted_at >= since, QueryRow.reused_from.is_(None))
    statement = statement.group_by(ScanRow.table_name)
    return statement if table is None else statement.where(ScanRow.table_name == storable(table))


def _filtered(since: datetime, table: str | None) -> Executable:
    statement = select(*_FILTERED).join(QueryRow, QueryRow.query_id == FilterRow.query_id)
    statement = statement.where(QueryRow.submitted_at >= since)
    statement = statement.group_by(FilterRow.probe_table, FilterRow.reason, FilterRow.source)
    return statement if table is None else statement.where(FilterRow.probe_table == storable(table))


def _scans(since: datetime, table: str, limit: int) -> Executable:
    statement = select(ScanRow.__table__).join(QueryRow, QueryRow.query_id == ScanRow.query_id)
    statement = statement.where(ScanRow.table_name == storable(table), ScanRow.has_run)
    statement = statement.where(QueryRow.submitted_at >= since, QueryRow.reused_from.is_(None))
    statement = statement.where(QueryRow.state == QueryState.SUCCEEDED.value)
    order = (QueryRow.submitted_at.desc(), ScanRow.query_id, ScanRow.ordinal)
    return statement.order_by(*order).limit(limit)


def _summary(row: Row[Any]) -> QuerySummary:
    values = row._asdict()
    values["state"] = QueryState(row.state)
    values["submitted_at"] = row.submitted_at.astimezone(UTC)
    return QuerySummary(**values)
