"""A table's rows in three readers: Spark, PyIceberg, and DuckDB, which reads only the Parquet files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

import duckdb
import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.conversions import from_bytes
from pyiceberg.expressions.literals import literal
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from pyiceberg.types import NestedField, PrimitiveType, UUIDType

from tests.integration.asking import ask

Row = dict[str, Any]


def named(table: Table) -> str:
    """Returns the table's full name."""
    return ".".join(("lake", *table.name()))


def by_spark(gateway: httpx.Client, sql: str) -> list[Row]:
    """Returns the rows of a query, in Python values."""
    answer = ask(gateway, sql, format="ARROW_STREAM")
    chunks, link = [], answer["result"]["nextChunkLink"]
    while link:
        response = gateway.get(link)
        chunks.append(pa.ipc.open_stream(response.content).read_all())
        link = response.links.get("next", {}).get("url")
    return _rows(pa.concat_tables(chunks)) if chunks else []


def by_pyiceberg(table: Table) -> list[Row]:
    """Returns the rows that PyIceberg scans in the newest snapshot."""
    return _rows(table.refresh().scan().to_arrow())


def by_duckdb(path: str) -> list[Row]:
    """Returns the rows of a file, which lack the columns that it does not have."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        found = connection.from_parquet(path).to_arrow_table()
    return _rows(found)


def data_files(table: Table) -> list[DataFile]:
    """Returns the data files of the newest snapshot."""
    return [file.file for file in table.refresh().scan().plan_files()]


def path_of(file: DataFile) -> str:
    """Returns the file's path on disk."""
    return file.file_path.removeprefix("file://")


def assert_read_alike(gateway: httpx.Client, table: Table, expected: Iterable[Row]) -> None:
    """Asserts that all three readers find these rows, which have every column, and that metrics are right."""
    rows = {row["id"]: _plain(row) for row in expected}
    assert by_id(by_spark(gateway, f"SELECT * FROM {named(table)}")) == rows
    assert_read_alike_without_spark(table, rows.values())


def assert_read_alike_without_spark(table: Table, expected: Iterable[Row]) -> None:
    """Does as `assert_read_alike`, for tables with types that Spark does not support."""
    rows = {row["id"]: _plain(row) for row in expected}
    assert by_id(by_pyiceberg(table)) == rows
    in_files: dict[object, Row] = {}
    for file in data_files(table):
        found = by_id(by_duckdb(path_of(file)))
        assert in_files.keys().isdisjoint(found)
        in_files |= found
        assert_ids_match(table, file)
        assert_metrics_match(table, file, list(found.values()))
    assert in_files.keys() == rows.keys()
    for key, row in in_files.items():
        assert _filled(row, rows[key]) == rows[key]


def assert_ids_match(table: Table, file: DataFile) -> None:
    """Asserts that the file's columns have the field ids of the table's."""
    for field in pq.read_schema(path_of(file)):
        reported = int(cast(Mapping[bytes, bytes], field.metadata)[b"PARQUET:field_id"])
        assert table.schema().find_column_name(reported) == field.name


def assert_metrics_match(table: Table, file: DataFile, rows: list[Row]) -> None:
    """Asserts that a skipped column counts as NULL in every row, and that other metrics match the values."""
    assert file.record_count == len(rows)
    for field in table.schema().fields:
        if not isinstance(field.field_type, PrimitiveType):
            continue
        if field.field_id > max(file.value_counts):
            # The column is newer than the file.
            assert field.name not in rows[0]
            continue
        counts = (file.value_counts[field.field_id], file.null_value_counts[field.field_id])
        values = [row.get(field.name) for row in rows]
        assert counts == (len(rows), values.count(None)), field.name
        for value in values:
            assert _is_within_bounds(field, file, value), (field.name, value)


def by_id(rows: Iterable[Row]) -> dict[object, Row]:
    """Returns the rows by id, and asserts that ids are unique."""
    listed = list(rows)
    found = {row["id"]: row for row in listed}
    assert len(found) == len(listed)
    return found


def _is_within_bounds(field: NestedField, file: DataFile, value: Any) -> bool:
    kind = field.field_type
    if value is None or value == repr(math.nan) or isinstance(kind, UUIDType):
        return True
    assert isinstance(kind, PrimitiveType)
    given = float(value) if str(kind) in ("float", "double") else value
    number: Any = literal(given).to(kind).value
    lower, upper = (
        None if bound is None else cast(Any, from_bytes(kind, bound))
        for bound in (file.lower_bounds.get(field.field_id), file.upper_bounds.get(field.field_id))
    )
    return bool((lower is None or lower <= number) and (upper is None or number <= upper))


def _filled(found: Any, expected: Any) -> Any:
    """Returns a file's value with NULL for the fields that readers of the table add."""
    if isinstance(found, dict) and isinstance(expected, dict):
        missing = dict.fromkeys(expected.keys() - found.keys())
        return {name: _filled(value, expected.get(name)) for name, value in found.items()} | missing
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        return [_filled(*pair) for pair in zip(found, expected, strict=True)]
    return found


def _rows(table: pa.Table) -> list[Row]:
    return [_plain(row) for row in table.to_pylist()]


def _plain(value: Any) -> Any:
    """Converts values so that they are equal only if they are identical: NaN is, the two zeros are not."""
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case float():
            return repr(value)
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC)
        case UUID():
            return str(value)
        case _:
            return value
