"""Says which rows of a table a filter selects, and finds its keys in kept rows of a wider set."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import structlog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
)
from sqlglot import exp

from service.adapters.catalogs.open_catalog import catalog_errors
from service.adapters.catalogs.opened_tables import OpenedTable
from service.adapters.keys.distinct_keys import DistinctKeys
from service.adapters.keys.key_collector import NOT_READABLE
from service.adapters.keys.key_literals import NotTranslatable
from service.adapters.keys.key_query import KeyQuery, key_query
from service.adapters.keys.row_filter import RowFilters
from service.adapters.keys.rows_within import rows_within
from service.adapters.keys.table_pieces import usable_fields
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_selection import ColumnSet, LiteralValue
from service.model.filters.key_set import DynamicFilteringData
from service.model.query.query import Parameter, Parameters
from service.model.tables.tables import TableName
from service.ports.filters.filter_keys import SelectedRows
from service.pruning.conditions.spelled import spelled
from service.pruning.containment.key_selections import key_selection

log = structlog.get_logger(__name__)

# Arrow orders and compares values of these types as the engine does. Numbers with a floating point have two
# zeros and NaN, and moments depend on the session's time zone.
_KEPT_TYPES = (BooleanType, DateType, DecimalType, IntegerType, LongType, StringType)


class ArrowKeySelector:
    """Implements `service.ports.filters.filter_keys.KeySelector` with PyIceberg and Arrow. Thread-safe."""

    def __init__(self, open_table: Callable[[TableName], OpenedTable], max_filter_bytes: int) -> None:
        self._open_table = open_table
        self._max_filter_bytes = max_filter_bytes
        self._errors = (*catalog_errors(), *NOT_READABLE, OSError, ValueError, pa.ArrowException)

    def selected(self, wanted: DynamicFilter, parameters: Parameters) -> SelectedRows | None:
        """See the port."""
        query = key_query(wanted.filtering_query)
        if query is None or wanted.build.snapshot_ids != (query.snapshot_id,) or wanted.is_converted:
            return None
        try:
            fields = self._fields(wanted, query)
            return None if fields is None else selected_rows(query, fields, parameters)
        except NotTranslatable:
            return None
        except self._errors as error:
            log.info("rows_not_selected", fingerprint=wanted.fingerprint, error=type(error).__name__)
            return None

    def kept(self, rows: pa.Table, columns: Sequence[str], selected: SelectedRows) -> pa.Table | None:
        """See the port."""
        try:
            return _each_once(rows, columns, selected.types)
        except self._errors as error:
            log.info("rows_not_kept", error=type(error).__name__)
            return None

    def keys_within(
        self, rows: pa.Table, wanted: DynamicFilter, conditions: Mapping[str, ColumnSet]
    ) -> DynamicFilteringData | None:
        """See the port."""
        try:
            distinct = DistinctKeys(self._max_filter_bytes)
            few = distinct.add(rows_within(rows, conditions).select(list(wanted.build.columns)))
            found = distinct.sorted_keys() if few else None
        except (*self._errors, KeyError) as error:
            log.info("keys_not_in_kept_rows", fingerprint=wanted.fingerprint, error=type(error).__name__)
            return None
        if found is None:
            return None
        has_null = wanted.is_null_safe and distinct.has_null
        return DynamicFilteringData(found, is_filtering=True, has_null=has_null)

    def _fields(self, wanted: DynamicFilter, query: KeyQuery) -> Mapping[str, NestedField] | None:
        """Returns the fields of the table by name; None if the snapshot has another schema."""
        table = self._open_table(wanted.build.tables[0]).table
        snapshot = table.snapshot_by_id(query.snapshot_id)
        if snapshot is None or snapshot.schema_id != table.schema().schema_id:
            return None
        return usable_fields(table)


def selected_rows(
    query: KeyQuery, fields: Mapping[str, NestedField], parameters: Parameters
) -> SelectedRows | None:
    """Returns what a query selects of a table with these fields, by their names in lower case.

    Conditions on fields of other types than `_KEPT_TYPES` are known by their texts alone.

    Raises:
        NotTranslatable: a key is of another column, or a parameter has no value.
    """
    fields = {name: field for name, field in fields.items() if isinstance(field.field_type, _KEPT_TYPES)}
    filters = RowFilters(query.table_alias, fields, parameters)
    keys = [filters.field(column).name.lower() for column in query.columns]
    if len(set(keys)) < len(keys):
        return None

    def is_known(column: exp.Column) -> bool:
        try:
            filters.field(column)
        except NotTranslatable:
            return False
        return True

    def value_of(column: exp.Column, literal: exp.Expr) -> LiteralValue | None:
        try:
            return filters.value(literal, filters.field(column))
        except NotTranslatable:
            return None

    def text_of(condition: exp.Expr) -> str:
        return json.dumps([spelled(condition, identify=True), _values_in(condition, parameters)])

    types = schema_to_pyarrow(Schema(*fields.values()), include_field_ids=False)
    return SelectedRows(
        key_selection(query.condition, is_known, value_of, text_of),
        {name: _plain_type(types.field(field.name).type) for name, field in fields.items()},
    )


def _each_once(rows: pa.Table, columns: Sequence[str], types: Mapping[str, pa.DataType]) -> pa.Table | None:
    names = {name.lower(): position for position, name in enumerate(rows.column_names)}
    if len(names) != rows.num_columns or not names.keys() >= set(columns):
        return None
    found = pa.table([_plain(rows.column(names[name])) for name in columns], list(columns))
    if found.schema.types != [types.get(name) for name in columns]:
        # A mask may give a column another type, and literals are of the column's own.
        return None
    return found.group_by(list(columns), use_threads=False).aggregate([]).select(list(columns))


def _plain(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    return column.cast(_plain_type(column.type))


def _plain_type(type_: pa.DataType) -> pa.DataType:
    """Texts have two types in Arrow, and readers differ in which they take."""
    return pa.string() if pa.types.is_large_string(type_) else type_


def _values_in(condition: exp.Expr, parameters: Parameters) -> list[list[str]]:
    """Returns the parameters that the condition names; two equal texts with other values are not the same."""
    names = sorted({placeholder.name for placeholder in condition.find_all(exp.Placeholder)})
    found = parameters if isinstance(parameters, Mapping) else {}
    return [[name, _spelled_value(found.get(name))] for name in names]


def _spelled_value(parameter: Parameter | None) -> str:
    if parameter is None:
        raise NotTranslatable
    return json.dumps([parameter.value, parameter.type_name])
