"""Yields the rows that a query selects from one table, as they come from its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import pyarrow as pa
from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression
from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.table import FileScanTask, Table
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)
from sqlglot import exp

from service.adapters.catalogs.variant_type import variant_ids
from service.adapters.keys.key_literals import NotTranslatable
from service.adapters.keys.key_query import KeyQuery
from service.adapters.keys.row_filter import RowFilters, has_value
from service.model.query.query import Parameters

_KEY_TYPES = (BooleanType, DateType, DecimalType, IntegerType, LongType, StringType)
# For these types, Arrow passes to the engine the same values that the engine reads from the file.
_ROW_TYPES = (*_KEY_TYPES, BinaryType, DoubleType, FloatType, TimestampType, TimestamptzType)


def key_pieces(
    table: Table,
    query: KeyQuery,
    parameters: Parameters,
    is_null_safe: bool,
    files: Sequence[DataFile] | None = None,
) -> Iterator[pa.Table]:
    """Yields the rows of a query for keys; rows without a key only if NULL is a key.

    With `files`, only these are read, and no delete file.

    Raises:
        NotTranslatable: only the engine can interpret the query.
    """
    filters = RowFilters(query.table_alias, usable_fields(table), parameters)
    keys = _keys(query, filters)
    have_keys = AlwaysTrue() if is_null_safe else reduce(And, map(has_value, keys))
    return _scanned(table, query, filters, keys, have_keys, files)


def row_pieces(
    table: Table, query: KeyQuery, rows_query: KeyQuery, parameters: Parameters
) -> tuple[Sequence[NestedField], Sequence[NestedField], Iterator[pa.Table]]:
    """Returns the fields of the keys, those of the rows, and all rows, also those without a key.

    Raises:
        NotTranslatable: only the engine can interpret the query, or it would read the rows differently.
    """
    filters = RowFilters(query.table_alias, usable_fields(table), parameters)
    keys, fields = _keys(query, filters), [filters.field(column) for column in rows_query.columns]
    if not all(isinstance(field.field_type, _ROW_TYPES) for field in fields):
        raise NotTranslatable
    if not {key.field_id for key in keys} <= {field.field_id for field in fields}:
        raise NotTranslatable
    return keys, fields, _scanned(table, rows_query, filters, fields, AlwaysTrue())


def _keys(query: KeyQuery, filters: RowFilters) -> Sequence[NestedField]:
    keys = [filters.field(column) for column in query.columns]
    # One column that is used as two keys is only one column of the files.
    if len({key.field_id for key in keys}) != len(keys):
        raise NotTranslatable
    if not all(isinstance(key.field_type, _KEY_TYPES) for key in keys):
        raise NotTranslatable
    return keys


def _scanned(
    table: Table,
    query: KeyQuery,
    filters: RowFilters,
    fields: Sequence[NestedField],
    row_filter: BooleanExpression,
    files: Sequence[DataFile] | None = None,
) -> Iterator[pa.Table]:
    """Yields the fields of the rows that meet both the query's condition and the row filter."""
    compared: list[NestedField] = []
    if query.condition is not None:
        row_filter = And(row_filter, filters.row_filter(query.condition))
        compared = [filters.field(column) for column in query.condition.find_all(exp.Column)]
    # All files are read: PyIceberg 0.12 cannot plan a comparison if a partition value is NULL.
    tasks = (
        table.scan(snapshot_id=query.snapshot_id).plan_files()
        if files is None
        else [FileScanTask(file) for file in files]
    )
    # A column may exist only as a partition value. PyIceberg 0.12 finds the value only if the column is read,
    # and otherwise takes it as NULL.
    read = Schema(*{field.field_id: field for field in (*fields, *compared)}.values())
    scan = ArrowScan(table.metadata, table.io, read, row_filter)
    wanted = schema_to_pyarrow(Schema(*fields), include_field_ids=False)
    return (
        pa.Table.from_batches([batch]).select(wanted.names).cast(wanted)
        for batch in scan.to_record_batches(tasks)
    )


def usable_fields(table: Table) -> dict[str, NestedField]:
    """Returns the top-level fields that a query may use, by their names in lower case.

    There are none in a table with variants: PyIceberg does not read any column of files that have them.
    """
    if any(map(variant_ids, table.metadata.schemas)):
        return {}
    fields = table.schema().fields
    names = [field.name.lower() for field in fields]
    return {
        field.name.lower(): field
        for field in fields
        # PyIceberg would take a dotted name for a field inside a struct.
        if names.count(field.name.lower()) == 1 and "." not in field.name and _has_one_type(table, field)
    }


def _has_one_type(table: Table, field: NestedField) -> bool:
    """Files written before a type was widened would be compared with literals that do not fit their type."""
    return {
        str(other.field_type)
        for schema in table.metadata.schemas
        for other in schema.fields
        if other.field_id == field.field_id
    } == {str(field.field_type)}
