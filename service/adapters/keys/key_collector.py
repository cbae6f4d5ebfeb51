"""Reads keys of dynamic filters from the build table's files, without the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import pyarrow as pa
import structlog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.table import Table

from service.adapters.catalogs.open_catalog import catalog_errors
from service.adapters.catalogs.opened_tables import OpenedTable
from service.adapters.catalogs.table_facts import has_imported_files
from service.adapters.keys.distinct_keys import DistinctKeys
from service.adapters.keys.few_rows import FewRows
from service.adapters.keys.key_literals import NotTranslatable
from service.adapters.keys.key_query import KeyQuery, have_same_rows, key_query, row_query
from service.adapters.keys.table_pieces import key_pieces, row_pieces
from service.errors.query_errors import QueryCanceled
from service.errors.table_errors import TableAmbiguous, TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_set import DynamicFilteringData
from service.model.filters.relations import RelationBounds, RelationQuery
from service.model.query.query import Parameters
from service.model.tables.tables import TableName
from service.ports.filters.filter_keys import KeysAndRows

log = structlog.get_logger(__name__)
R = TypeVar("R")

# Errors on metadata or files that PyIceberg does not expect, besides its own errors.
NOT_READABLE = (CatalogDown, TableAmbiguous, TableNotFound, LookupError, TypeError, ArithmeticError)
# Later versions have defaults for missing columns and other delete files.
_FORMAT_VERSION_AT_MOST = 2


class ArrowKeyCollector:
    """Implements `service.ports.filters.filter_keys.KeyCollector` with PyIceberg and Arrow.

    It accepts builds of one table, with conditions that mean the same to PyIceberg as to the engine. It takes
    milliseconds; a job of the engine takes a hundred. Thread-safe.
    """

    def __init__(
        self, open_table: Callable[[TableName], OpenedTable], max_filter_bytes: int, max_files: int
    ) -> None:
        self._open_table = open_table
        self._max_filter_bytes = max_filter_bytes
        self._max_files = max_files
        self._errors: tuple[type[Exception], ...] = (*catalog_errors(), *NOT_READABLE)

    def collect(
        self, wanted: DynamicFilter, parameters: Parameters, is_canceled: Callable[[], bool]
    ) -> DynamicFilteringData | None:
        """Returns the keys in the build's snapshot; None if only the engine can collect them.

        Raises:
            QueryCanceled: the query was canceled during the read.
        """
        query = key_query(wanted.filtering_query)
        if query is None:
            return None

        def read(table: Table) -> DynamicFilteringData:
            pieces = key_pieces(table, query, parameters, wanted.is_null_safe)
            return self._collected(pieces, is_canceled, wanted.is_null_safe)

        return self._read(wanted, query, read)

    def collect_with_rows(
        self,
        wanted: DynamicFilter,
        relation: RelationQuery,
        bounds: RelationBounds,
        parameters: Parameters,
        is_canceled: Callable[[], bool],
    ) -> KeysAndRows | None:
        """See `service.ports.filters.filter_keys.KeyCollector`.

        Raises:
            QueryCanceled: the query was canceled during the read.
        """
        query, rows_query = key_query(wanted.filtering_query), row_query(relation.sql)
        if query is None or rows_query is None or relation.rows_of.tables != wanted.build.tables:
            return None
        if not have_same_rows(query, rows_query, wanted.is_null_safe):
            return None

        def read(table: Table) -> KeysAndRows:
            keys, fields, pieces = row_pieces(table, query, rows_query, parameters)
            rows = FewRows(schema_to_pyarrow(Schema(*fields), include_field_ids=False), bounds)

            def keys_of_each() -> Iterator[pa.Table]:
                for piece in pieces:
                    rows.add(piece)
                    yield piece.select([key.name for key in keys])

            found = self._collected(keys_of_each(), is_canceled, wanted.is_null_safe)
            # With too many keys, not all rows were read.
            return KeysAndRows(found, rows.rows() if found.is_filtering else None)

        return self._read(wanted, query, read)

    def _read(self, wanted: DynamicFilter, query: KeyQuery, read: Callable[[Table], R]) -> R | None:
        if wanted.build.snapshot_ids != (query.snapshot_id,):
            return None
        try:
            table = self._open_table(wanted.build.tables[0]).table
            return read(table) if is_readable(table, query.snapshot_id, self._max_files) else None
        except NotTranslatable:
            return None
        except self._errors as error:
            # The engine reads in another way, and reports the fault if it cannot read either.
            log.info("keys_not_read", fingerprint=wanted.fingerprint, error=type(error).__name__)
            return None

    def _collected(
        self, pieces: Iterator[pa.Table], is_canceled: Callable[[], bool], is_null_safe: bool
    ) -> DynamicFilteringData:
        distinct = DistinctKeys(self._max_filter_bytes)
        for piece in pieces:
            if is_canceled():
                raise QueryCanceled
            if not distinct.add(piece):
                return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        keys = distinct.sorted_keys()
        if keys is None:
            return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        return DynamicFilteringData(keys, is_filtering=True, has_null=is_null_safe and distinct.has_null)


def is_readable(table: Table, snapshot_id: int, max_files: int) -> bool:
    """Returns whether PyIceberg reads this snapshot as the engine does, and fast enough.

    PyIceberg binds filters to the table's schema, the engine to the snapshot's, and PyIceberg does not
    support equality deletes. In an imported file PyIceberg reads the file's column, but the engine takes the
    partition's value.
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
