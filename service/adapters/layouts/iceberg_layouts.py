"""The layouts of Iceberg tables, through PyIceberg."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform, IdentityTransform, UnknownTransform, VoidTransform
from pyiceberg.types import NestedField

from service.adapters.catalogs.opened_tables import OpenedTable
from service.adapters.layouts.bound_lengths import bound_length
from service.adapters.layouts.file_layouts import data_files, data_manifests, file_layout, is_compared
from service.adapters.layouts.placed_rows import PlacedRows, placed_rows
from service.adapters.layouts.rewritten_rows import ArrowRewrittenRows
from service.adapters.layouts.sampled_rows import FileSource, SampledFile, sampled_rows
from service.adapters.layouts.spark_parquet import parquet_options
from service.errors.table_errors import LayoutUnknown
from service.errors.unavailable import StorageDown
from service.model.tables.table_layout import LayoutFile, RowSample, TableLayout
from service.model.tables.tables import TableName
from service.ports.clock import Clock
from service.ports.tables.table_layouts import LayoutBounds

_COLUMNS_AT_MOST = 32
_TARGET = "write.target-file-size-bytes"
_TARGET_BYTES = 512 * 1024**2


class IcebergLayouts:
    """The `TableLayouts` port. `opened` returns a table as it is now.

    `others` are catalogs whose tables are not those of Iceberg.
    """

    def __init__(
        self, opened: Callable[[TableName], OpenedTable], clock: Clock, others: Collection[str] = ()
    ) -> None:
        self._opened = opened
        self._clock = clock
        self._others = others

    def layout(self, table: TableName, columns: Collection[str], bounds: LayoutBounds) -> TableLayout:
        """Returns the layout of the table as it is now, with bounds and samples of these columns.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has this name.
            LayoutUnknown: the table is not one of Iceberg, has too many files, or takes too long.
            CatalogDown: the catalog does not answer.
            StorageDown: the table's storage does not answer.
        """
        if table.catalog in self._others:
            raise LayoutUnknown(f"{table} is not a table of Iceberg.")
        opened = self._opened(table)
        until_ms = self._clock.elapsed_ms() + bounds.timeout_s * 1000

        def is_late() -> bool:
            return self._clock.elapsed_ms() >= until_ms

        try:
            return _layout(table, opened, columns, bounds, is_late)
        except OSError as error:
            # The storage's own message may hold addresses and keys.
            raise StorageDown("The table's storage does not give its files.") from error

    def rewritten(self, layout: TableLayout, bounds: LayoutBounds) -> ArrowRewrittenRows | None:
        """Returns rows of the files of this layout, to be written in other orders; None if none may be."""
        if not bounds.max_rewritten_bytes or layout.table.catalog in self._others:
            return None
        table = self._opened(layout.table).table
        options = parquet_options(table.properties)
        if options is None:
            return None

        def read(is_late: Callable[[], bool]) -> PlacedRows | None:
            return placed_rows(
                table.io,
                table.schema(),
                layout.files,
                bounds.max_sampled_files,
                bounds.max_rewritten_bytes,
                is_late,
            )

        return ArrowRewrittenRows(layout, options, read, len(table.schema().model_dump_json()))


def _layout(
    name: TableName,
    opened: OpenedTable,
    columns: Collection[str],
    bounds: LayoutBounds,
    is_late: Callable[[], bool],
) -> TableLayout:
    table, facts = opened.table, opened.facts
    snapshot = table.current_snapshot()
    manifests, has_deletes = data_manifests(table, snapshot, bounds.max_files) if snapshot else ([], False)
    fields = _fields(table, columns)
    layouts: list[LayoutFile] = []
    sources: list[FileSource] = []
    specs: dict[int, PartitionSpec] = {}
    # One by one: a file's entry has numbers of all of its columns, and takes much memory.
    for file, spec in data_files(table, manifests, bounds.max_files, is_late):
        layouts.append(file_layout(file, spec, fields))
        sources.append(FileSource(file.file_path, file.file_format))
        specs[spec.spec_id] = spec
    fields = {name: field for name, field in fields.items() if _has_bounds(name, layouts)}
    lengths = {name: bound_length(table.properties, name) for name in fields}
    return TableLayout(
        table=name,
        snapshot_id=snapshot.snapshot_id if snapshot else None,
        files=layouts,
        sample=_sample(table, sources, layouts, fields, bounds, is_late),
        column_types={name: str(field.field_type) for name, field in fields.items()},
        partition_fields=facts.partition_fields,
        target_file_bytes=_target_bytes(table),
        bloom_filter_columns=facts.bloom_filter_columns,
        text_bounds={
            name: length
            for name, length in lengths.items()
            if length is not None and str(fields[name].field_type) == "string"
        },
        is_simulated=not _hides_files(specs.values(), fields, layouts),
        has_deletes=has_deletes,
    )


def _fields(table: Table, columns: Collection[str]) -> dict[str, NestedField]:
    by_name = {
        field.name: field
        for field in table.schema().fields
        if is_compared(field) and bound_length(table.properties, field.name) != 0
    }
    return {name: by_name[name] for name in list(columns)[:_COLUMNS_AT_MOST] if name in by_name}


def _has_bounds(name: str, layouts: Sequence[LayoutFile]) -> bool:
    """Whether files have bounds of the column; if none has, those of a rewrite would have none either."""
    return (
        not layouts
        or any(name in file.bounds for file in layouts)
        or all(name in file.without_values for file in layouts)
    )


def _sample(
    table: Table,
    found: Sequence[FileSource],
    layouts: Sequence[LayoutFile],
    fields: dict[str, NestedField],
    bounds: LayoutBounds,
    is_late: Callable[[], bool],
) -> RowSample:
    if not found or not fields:
        return RowSample()
    # Files are listed by when they were added: evenly spaced ones are of all times.
    count = min(len(found), bounds.max_sampled_files)
    places = [place * len(found) // count for place in range(count)]
    files = [SampledFile(found[place], layouts[place], place) for place in places]
    return sampled_rows(table.io, files, fields, bounds.max_sampled_rows, is_late)


def _target_bytes(table: Table) -> int:
    try:
        return max(1, int(table.properties.get(_TARGET, _TARGET_BYTES)))
    except ValueError:
        return _TARGET_BYTES


def _hides_files(
    specs: Collection[PartitionSpec], fields: dict[str, NestedField], layouts: Sequence[LayoutFile]
) -> bool:
    """Whether files are selected by partition values that the bounds of columns do not show."""
    names = {field.field_id: name for name, field in fields.items()}
    return any(
        isinstance(field.transform, BucketTransform | UnknownTransform)
        or not (
            isinstance(field.transform, IdentityTransform | VoidTransform)
            or _is_bounded(names[field.source_id], layouts)
        )
        for spec in specs
        for field in spec.fields
        if field.source_id in names
    )


def _is_bounded(name: str, layouts: Sequence[LayoutFile]) -> bool:
    return all(name in file.bounds or name in file.without_values for file in layouts)
