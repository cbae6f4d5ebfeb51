"""Sums over ingests and commit rounds, by table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Executable, Row, Select, and_, case, func, select

from service.adapters.postgres.ingest_log.ingest_tables import CommitRoundRow, IngestCommitRow, IngestRow
from service.adapters.postgres.shared.storable import storable
from service.model.ingest.ingest_history import Spread, TableIngests

Named = type[IngestCommitRow] | type[CommitRoundRow]


def accepted(since: datetime, table: str | None) -> Executable:
    """Sums by table over the ingests accepted since then."""
    row = IngestCommitRow
    waits = and_(row.snapshot_id.is_(None), row.error_code.is_(None))
    columns = (
        func.count(row.ingest_id.distinct()).label("ingest_count"),
        func.count(row.ingest_id.distinct()).filter(waits).label("waiting_count"),
        func.sum(row.record_count).label("record_count"),
        func.sum(_data_file_count(row)).label("data_file_count"),
        func.sum(row.byte_count).label("byte_count"),
        *_spread(IngestRow.write_ms),
    )
    return _since(select(_name(row), *columns), since, row, table)


def failed(since: datetime, table: str | None) -> Executable:
    """Counts of rejected ingests among these, by table and error code."""
    row = IngestCommitRow
    statement = select(_name(row), row.error_code, func.count().label("ingest_count"))
    return _since(statement.where(row.error_code.is_not(None)), since, row, table).group_by(row.error_code)


def rounds(since: datetime, table: str | None) -> Executable:
    """Sums by table over the rounds that made a snapshot since then."""
    row = CommitRoundRow
    columns = (
        func.count().label("round_count"),
        func.sum(row.ingest_count).label("ingests_in_rounds"),
        func.max(row.ingest_count).label("most_ingests_of_a_round"),
        func.sum(row.target_count).label("targets_in_rounds"),
        *_spread(row.commit_ms),
    )
    statement = select(_name(row), *columns).where(row.ended_at >= since, row.error_code.is_(None))
    return _of_table(statement, row, table)


def table_ingests(
    accepted: Sequence[Row[Any]], failed: Sequence[Row[Any]], rounds: Sequence[Row[Any]]
) -> Sequence[TableIngests]:
    """Returns one entry for each table in any of them, ordered by name."""
    values: dict[str, dict[str, Any]] = {}
    for row in accepted:
        values.setdefault(row.name, {}).update({**_sums(row), "write_ms": _read_spread(row)})
    for row in rounds:
        values.setdefault(row.name, {}).update({**_sums(row), "commit_ms": _read_spread(row)})
    for row in failed:
        values[row.name].setdefault("failed_by_code", {})[row.error_code] = row.ingest_count
    return [TableIngests(name, **values[name]) for name in sorted(values)]


def _data_file_count(row: type[IngestCommitRow]) -> ColumnElement[int]:
    # Only upserts also have delete files, and an upsert has only one target per table.
    return case((row.is_upsert, row.targets[0]["data_file_count"].as_integer()), else_=row.file_count)


def _name(row: Named) -> ColumnElement[str]:
    return (row.catalog + "." + row.schema + "." + row.table_name).label("name")


def _since(
    statement: Select[*tuple[Any, ...]], since: datetime, row: type[IngestCommitRow], table: str | None
) -> Select[*tuple[Any, ...]]:
    statement = statement.join(IngestRow, IngestRow.ingest_id == row.ingest_id)
    return _of_table(statement.where(IngestRow.accepted_at >= since), row, table)


def _of_table(statement: Select[*tuple[Any, ...]], row: Named, table: str | None) -> Select[*tuple[Any, ...]]:
    statement = statement.group_by(row.catalog, row.schema, row.table_name)
    if table is None:
        return statement
    return statement.where(row.catalog + "." + row.schema + "." + row.table_name == storable(table))


def _spread(column: Any) -> Sequence[ColumnElement[Any]]:
    return (
        func.percentile_disc(0.5).within_group(column).label("p50"),
        func.percentile_disc(0.95).within_group(column).label("p95"),
        func.max(column).label("maximum"),
    )


def _read_spread(row: Row[Any]) -> Spread:
    return Spread(row.p50, row.p95, row.maximum)


def _sums(row: Row[Any]) -> Mapping[str, Any]:
    others = {"name", "p50", "p95", "maximum"}
    # The sum of bigints is a numeric.
    return {name: int(value) for name, value in row._asdict().items() if name not in others}
