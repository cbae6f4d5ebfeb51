"""Keys of dynamic filters, read from the build table's files without the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

import pyarrow as pa
import structlog
from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression
from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.table import Table
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
from service.adapters.catalogs.table_facts import has_imported_files
from service.adapters.keys.distinct_keys import DistinctKeys
from service.adapters.keys.key_literals import NotTranslatable
from service.adapters.keys.key_query import KeyQuery, key_query
from service.adapters.keys.row_filter import RowFilters, has_value
from service.errors import CatalogDown, QueryCanceled, TableAmbiguous, TableNotFound
from service.model.filtering import DynamicFilter, DynamicFilteringData
from service.model.query import Parameters
from service.model.tables import TableName

log = structlog.get_logger(__name__)

_KEY_TYPES = (BooleanType, DateType, DecimalType, IntegerType, LongType, StringType)
# What reading raises on metadata or files that PyIceberg does not expect, besides what it names.
_NOT_READABLE = (CatalogDown, TableAmbiguous, TableNotFound, LookupError, TypeError, ArithmeticError)
# Versions after it have defaults for missing columns and other delete files.
_FORMAT_VERSION_AT_MOST = 2


class ArrowKeyCollector:
    """Implements `service.ports.KeyCollector` with PyIceberg and Arrow.

    It takes builds of one table, with conditions that mean the same to PyIceberg as to the engine:
    milliseconds where a job of the engine takes a hundred. May be used from several threads at once.
    """

    def __init__(
        self, open_table: Callable[[TableName], OpenedTable], max_filter_bytes: int, max_files: int
    ) -> None:
        self._open_table = open_table
        self._max_filter_bytes = max_filter_bytes
        self._max_files = max_files
        self._errors: tuple[type[Exception], ...] = (*catalog_errors(), *_NOT_READABLE)

    def collect(
        self, wanted: DynamicFilter, parameters: Parameters, is_canceled: Callable[[], bool]
    ) -> DynamicFilteringData | None:
        """The keys, as the build's snapshot has them; None when only the engine can collect them.

        Raises:
            QueryCanceled: on the way.
        """
        query = key_query(wanted.filtering_query)
        if query is None or wanted.build.snapshot_ids != (query.snapshot_id,):
            return None
        try:
            table = self._open_table(wanted.build.tables[0]).table
            if not _is_readable(table, query.snapshot_id, self._max_files):
                return None
            pieces = _pieces(table, query, parameters, wanted.is_null_safe)
            return self._collected(pieces, is_canceled)
        except NotTranslatable:
            return None
        except self._errors as error:
            # The engine reads by other ways, and says what is wrong if it cannot either.
            log.info("keys_not_read", fingerprint=wanted.fingerprint, error=type(error).__name__)
            return None

    def _collected(self, pieces: Iterator[pa.Table], is_canceled: Callable[[], bool]) -> DynamicFilteringData:
        distinct = DistinctKeys(self._max_filter_bytes)
        for piece in pieces:
            if is_canceled():
                raise QueryCanceled
            if not distinct.add(piece):
                return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        keys = distinct.sorted_keys()
        if keys is None:
            return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        return DynamicFilteringData(keys, is_filtering=True, has_null=distinct.has_null)


def _pieces(table: Table, query: KeyQuery, parameters: Parameters, is_null_safe: bool) -> Iterator[pa.Table]:
    filters = RowFilters(query.table_alias, _fields(table), parameters)
    keys = [filters.field(each) for each in query.columns]
    # One column that is two keys is one of the files' columns, however it is asked for.
    if len({each.field_id for each in keys}) != len(keys):
        raise NotTranslatable
    if not all(isinstance(each.field_type, _KEY_TYPES) for each in keys):
        raise NotTranslatable
    row_filter: BooleanExpression = AlwaysTrue()
    if not is_null_safe:
        row_filter = reduce(And, map(has_value, keys))
    compared: list[NestedField] = []
    if query.condition is not None:
        row_filter = And(row_filter, filters.row_filter(query.condition))
        compared = [filters.field(each) for each in query.condition.find_all(exp.Column)]
    # All files are read: PyIceberg 0.12 cannot plan a comparison where the value of a partition is NULL.
    tasks = table.scan(snapshot_id=query.snapshot_id).plan_files()
    # A column may be the partition's alone: PyIceberg 0.12 finds its value there only if the column is asked
    # for, and else takes it for NULL.
    read = Schema(*{each.field_id: each for each in (*keys, *compared)}.values())
    scan = ArrowScan(table.metadata, table.io, read, row_filter)
    wanted = schema_to_pyarrow(Schema(*keys), include_field_ids=False)
    return (
        pa.Table.from_batches([batch]).select(wanted.names).cast(wanted)
        for batch in scan.to_record_batches(tasks)
    )


def _is_readable(table: Table, snapshot_id: int, max_files: int) -> bool:
    """Whether PyIceberg reads this snapshot as the engine does, and soon.

    It binds filters to the table's schema, the engine to the snapshot's; and it knows no equality deletes. Of
    an imported file it reads the column that the file has, where the engine takes the partition's value.
    """
    snapshot = table.snapshot_by_id(snapshot_id)
    if snapshot is None or snapshot.summary is None:
        return False
    return (
        table.metadata.format_version <= _FORMAT_VERSION_AT_MOST
        and snapshot.schema_id == table.schema().schema_id
        and not has_imported_files(table)
        and snapshot.summary["total-equality-deletes"] == "0"
        and int(snapshot.summary["total-data-files"] or max_files + 1) <= max_files
    )


def _fields(table: Table) -> dict[str, NestedField]:
    """The top-level fields that may be asked for, by their names in lower case."""
    fields = table.schema().fields
    names = [each.name.lower() for each in fields]
    return {
        each.name.lower(): each
        for each in fields
        # A dotted name would be one inside a struct to PyIceberg.
        if names.count(each.name.lower()) == 1 and "." not in each.name and _has_one_type(table, each)
    }


def _has_one_type(table: Table, field: NestedField) -> bool:
    """Files from before a type was widened compare with literals that their own type may not hold."""
    return {
        str(each.field_type)
        for schema in table.metadata.schemas
        for each in schema.fields
        if each.field_id == field.field_id
    } == {str(field.field_type)}
