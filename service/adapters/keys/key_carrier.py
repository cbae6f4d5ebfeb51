"""Keeps keys over commits: what a commit changed tells whether cached keys of an earlier snapshot hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import structlog
from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression
from pyiceberg.expressions.visitors import _InclusiveMetricsEvaluator
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from sqlglot import exp

from service.adapters.catalogs.open_catalog import catalog_errors
from service.adapters.catalogs.opened_tables import OpenedTable
from service.adapters.catalogs.table_facts import has_imported_files
from service.adapters.keys.distinct_keys import KEY_BYTES, DistinctKeys
from service.adapters.keys.key_collector import NOT_READABLE, is_readable
from service.adapters.keys.key_literals import NotTranslatable
from service.adapters.keys.key_query import key_query
from service.adapters.keys.required_conditions import required_conditions
from service.adapters.keys.row_filter import RowFilters
from service.adapters.keys.snapshot_changes import NotComparable, SnapshotChanges, changes_between
from service.adapters.keys.table_pieces import key_pieces, usable_fields
from service.errors.query_errors import QueryCanceled
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_set import DynamicFilteringData, EarlierKeys
from service.model.filters.keys import size_in_arrow
from service.model.query.query import Parameters
from service.model.tables.tables import TableName

log = structlog.get_logger(__name__)

# Errors on files that are gone or damaged, besides those of the collector.
_ERRORS: tuple[type[Exception], ...] = (*catalog_errors(), *NOT_READABLE, OSError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryBounds:
    """How many commits and files are looked through, and the bytes of keys that are kept.

    With zero commits, nothing is carried over.
    """

    max_snapshots: int
    max_files: int
    max_filter_bytes: int


class ArrowKeyCarrier:
    """Implements `service.ports.filters.filter_keys.KeyCarrier` with PyIceberg and Arrow. Thread-safe."""

    def __init__(self, open_table: Callable[[TableName], OpenedTable], bounds: CarryBounds) -> None:
        self._open_table = open_table
        self._bounds = bounds

    def carry(
        self,
        wanted: DynamicFilter,
        earlier: EarlierKeys,
        parameters: Parameters,
        is_canceled: Callable[[], bool],
    ) -> DynamicFilteringData | None:
        """See the port."""
        try:
            return self._carried(wanted, earlier, parameters, is_canceled)
        except (NotComparable, NotTranslatable):
            return None
        except _ERRORS as error:
            log.info("keys_not_carried", fingerprint=wanted.fingerprint, error=type(error).__name__)
            return None

    def _carried(
        self,
        wanted: DynamicFilter,
        earlier: EarlierKeys,
        parameters: Parameters,
        is_canceled: Callable[[], bool],
    ) -> DynamicFilteringData | None:
        changed = self._changed(wanted, earlier.snapshots)
        if all(changes.changes_no_row for _, changes in changed.values()):
            return earlier.data
        if wanted.build.is_restricted:
            # The files have values that the keys may not come from.
            return None
        added = self._that_may_matter(wanted, changed, parameters)
        if not added:
            return earlier.data
        if len(wanted.build.tables) > 1:
            # The added rows may go with any row of the other tables.
            return None
        table, _ = changed[wanted.build.tables[0]]
        return self._with_keys_of(added, table, wanted, earlier.data, parameters, is_canceled)

    def _changed(
        self, wanted: DynamicFilter, earlier: Mapping[TableName, int]
    ) -> Mapping[TableName, tuple[Table, SnapshotChanges]]:
        """Returns the tables that were committed to, each with its changes."""
        now = wanted.build.snapshots
        if not self._bounds.max_snapshots or now is None or now.keys() != earlier.keys():
            raise NotComparable
        changed: dict[TableName, tuple[Table, SnapshotChanges]] = {}
        for name, snapshot_id in now.items():
            if snapshot_id != earlier[name]:
                table = self._open_table(name).table
                changed[name] = (table, self._changes(table, earlier[name], snapshot_id))
        return changed

    def _changes(self, table: Table, earlier_id: int, later_id: int) -> SnapshotChanges:
        earlier, later = table.snapshot_by_id(earlier_id), table.snapshot_by_id(later_id)
        if earlier is None or later is None or earlier.schema_id != later.schema_id:
            # The text may name other columns by now.
            raise NotComparable
        bounds = self._bounds
        return changes_between(table, earlier_id, later_id, bounds.max_snapshots, bounds.max_files)

    def _that_may_matter(
        self,
        wanted: DynamicFilter,
        changed: Mapping[TableName, tuple[Table, SnapshotChanges]],
        parameters: Parameters,
    ) -> Sequence[DataFile]:
        """Returns the added files that may have keys; raises NotComparable if a removed one may have had."""
        required, now = required_conditions(wanted.filtering_query), wanted.build.snapshots or {}
        added: list[DataFile] = []
        for name, (table, changes) in changed.items():
            if changes.changes_no_row:
                continue
            places = required.get(str(name).lower(), ())
            if not places or not _has_bounds_of_its_schema(table, now[name]):
                raise NotComparable
            may_matter = _MayMatter(table, places, parameters)
            if any(map(may_matter, changes.removed)):
                raise NotComparable
            added += filter(may_matter, changes.added)
        return added

    def _with_keys_of(
        self,
        files: Sequence[DataFile],
        table: Table,
        wanted: DynamicFilter,
        data: DynamicFilteringData,
        parameters: Parameters,
        is_canceled: Callable[[], bool],
    ) -> DynamicFilteringData | None:
        """Returns the earlier keys and those of these files; None for too many, or if only the engine can."""
        query = key_query(wanted.filtering_query)
        if query is None or not data.is_filtering or data.exceeds_threshold or data.ranges:
            return None
        if not is_readable(table, query.snapshot_id, self._bounds.max_files):
            return None
        distinct = DistinctKeys(self._bounds.max_filter_bytes)
        for piece in key_pieces(table, query, parameters, wanted.is_null_safe, files):
            if is_canceled():
                raise QueryCanceled
            if not distinct.add(piece):
                return None
        found = distinct.sorted_keys()
        if found is None:
            return None
        values = tuple(sorted({*data.values, *found}))
        if max(KEY_BYTES * len(values), size_in_arrow(values)) > self._bounds.max_filter_bytes:
            return None
        has_null = data.has_null or (wanted.is_null_safe and distinct.has_null)
        return DynamicFilteringData(values, is_filtering=True, has_null=has_null)


class _MayMatter:
    """Whether a file of a table may have a row that meets all conditions of a place that reads the table."""

    def __init__(
        self, table: Table, places: Sequence[tuple[str, Sequence[exp.Expr]]], parameters: Parameters
    ) -> None:
        fields = usable_fields(table)
        self._places = [
            _InclusiveMetricsEvaluator(
                table.schema(), _required(RowFilters(alias, fields, parameters), found)
            )
            for alias, found in places
        ]

    def __call__(self, file: DataFile) -> bool:
        return any(place.eval(file) for place in self._places)


def _required(filters: RowFilters, conditions: Sequence[exp.Expr]) -> BooleanExpression:
    every: BooleanExpression = AlwaysTrue()
    return reduce(And, _translated(filters, conditions), every)


def _translated(filters: RowFilters, conditions: Sequence[exp.Expr]) -> Iterator[BooleanExpression]:
    for condition in conditions:
        try:
            yield filters.row_filter(condition)
        except NotTranslatable:
            # Without it, more files may matter.
            continue


def _has_bounds_of_its_schema(table: Table, snapshot_id: int) -> bool:
    """Whether the bounds of its files are of the columns that the query for keys names."""
    snapshot = table.snapshot_by_id(snapshot_id)
    is_of_schema = snapshot is not None and snapshot.schema_id == table.schema().schema_id
    return is_of_schema and not has_imported_files(table)
