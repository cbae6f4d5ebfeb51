"""Everything that is decided before the first row: how the files of one target look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyiceberg.schema import Schema
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.types import DoubleType, FloatType

from service.adapters.catalogs.variant_type import VariantType, variant_ids
from service.adapters.data_files.layout.arrow_shape import ArrowShape
from service.adapters.data_files.layout.columns import ColumnPlace, column_places
from service.adapters.data_files.layout.file_schema import file_schema
from service.adapters.data_files.layout.partitions import Partitioning
from service.adapters.data_files.layout.skipped_columns import null_field_ids
from service.adapters.data_files.layout.sorting import is_sortable
from service.adapters.data_files.metrics.file_metrics import MetricsPlan
from service.adapters.data_files.plan.write_properties import WriteProperties
from service.adapters.data_files.plan.writer_state import WriterState
from service.errors.ingest_errors import IngestInvalid
from service.model.ingest.writing import WriteTarget

# Engines disagree whether NaN equals itself, and whether the two zeros are equal. Variants are not compared.
_NO_KEYS = (FloatType, DoubleType, VariantType)


@dataclass(frozen=True, slots=True)
class FilePlan:
    """The plan of one target's files. Rows are sorted if all columns of the sort order are written.

    Files with equality fields are delete files: they hold only keys, and behind these the column that orders
    the records, if one does. Readers do not look at that column.
    """

    state: WriterState
    schema: Schema
    shape: ArrowShape
    places: Mapping[int, ColumnPlace]
    partitioning: Partitioning
    sort_order: SortOrder
    metrics: MetricsPlan
    properties: WriteProperties
    equality_field_ids: tuple[int, ...] = ()
    variant_ids: frozenset[int] = frozenset()

    @staticmethod
    def of(state: WriterState, target: WriteTarget) -> FilePlan:
        """Returns the plan for a target of exactly this state of the table.

        Raises:
            IngestInvalid: the target belongs to another schema or spec, or no files can be written for it.
        """
        schema = _written_schema(state, target)
        places = column_places(schema)
        return FilePlan(
            state,
            schema,
            ArrowShape.of(schema),
            places,
            Partitioning(state.spec, places),
            _sort_order(state, target, places),
            MetricsPlan.of(schema, state.properties, _skipped(state, schema)),
            WriteProperties(state.properties),
            variant_ids=variant_ids(schema),
        )

    @staticmethod
    def of_deletes(state: WriterState, target: WriteTarget) -> FilePlan:
        """Returns the plan for the files that delete the rows replaced by the target's rows.

        Raises:
            IngestInvalid: equality deletes cannot hold the keys of this target.
        """
        ids = target.equality_field_ids
        schema = _file_schema(state, ids if target.order_field_id is None else (*ids, target.order_field_id))
        places = column_places(schema)
        if not all(_is_key(places.get(field_id)) for field_id in ids):
            raise IngestInvalid(f"The fields {list(ids)} cannot tell rows apart.")
        return FilePlan(
            state,
            schema,
            ArrowShape.of(schema),
            places,
            Partitioning(state.spec, places),
            sort_order=UNSORTED_SORT_ORDER,
            metrics=MetricsPlan.of(schema, state.properties, ()),
            properties=WriteProperties(state.properties),
            equality_field_ids=ids,
        )

    @property
    def is_sorted(self) -> bool:
        """Whether the files have a sort order."""
        return not self.sort_order.is_unsorted


def _is_key(place: ColumnPlace | None) -> bool:
    # If a key field is in a struct, Iceberg's readers delete other rows than those with its values.
    return place is not None and len(place.positions) == 1 and not isinstance(place.kind, _NO_KEYS)


def _sort_order(state: WriterState, target: WriteTarget, places: Mapping[int, ColumnPlace]) -> SortOrder:
    """The requested order, or the table's; unsorted if the rows cannot be sorted by it."""
    try:
        order = state.order(target.sort_order_id)
    except ValueError as error:
        raise IngestInvalid(str(error)) from error
    return order if is_sortable(order, places) else UNSORTED_SORT_ORDER


def _written_schema(state: WriterState, target: WriteTarget) -> Schema:
    if target.is_upsert:
        # Without their deletes, the rows would exist twice: see `UpsertFiles`.
        raise IngestInvalid("An upsert's rows cannot be written without its deletes.")
    if (target.schema_id, target.spec_id) != (state.schema.schema_id, state.spec.spec_id):
        raise IngestInvalid(
            f"The files are for schema {target.schema_id} and spec {target.spec_id} of {target.key.table},"
            f" which has schema {state.schema.schema_id} and spec {state.spec.spec_id}."
        )
    return _file_schema(state, target.write_schema_column_ids)


def _file_schema(state: WriterState, column_ids: tuple[int, ...] | None) -> Schema:
    try:
        schema = file_schema(state.schema, column_ids)
    except ValueError as error:
        raise IngestInvalid(str(error)) from error
    if not schema.fields:
        raise IngestInvalid("A file needs a column.")
    return schema


def _skipped(state: WriterState, written: Schema) -> list[tuple[int, str]]:
    ids = null_field_ids(state.schema, written, state.spec)
    return [(field_id, state.schema.find_column_name(field_id) or "") for field_id in sorted(ids)]
