"""Checks that data files written a while ago still fit their table."""

from __future__ import annotations

from collections.abc import Iterator

from pyiceberg.schema import Schema, index_by_id
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.types import (
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
)

from service.adapters.commits.is_tag import is_tag
from service.errors.ingest_errors import SEND_ALONE_AGAIN
from service.errors.table_errors import TableChanged
from service.model.ingest.writing import NEWEST_FORMAT, Committable, WriteTarget
from service.model.tables.tables import UNSORTED_ID

_WIDENED = ((IntegerType, LongType), (FloatType, DoubleType))


def check_fits_table(metadata: TableMetadata, committable: Committable) -> None:
    """Checks that the files may be committed.

    Raises:
        TableChanged: the table has changed; the error says how.
    """
    reason = next(_reasons(metadata, committable), None)
    if reason is not None:
        raise TableChanged(f"{committable.key.table} was changed: {reason} {SEND_ALONE_AGAIN}")


def _reasons(metadata: TableMetadata, committable: Committable) -> Iterator[str]:
    if metadata.format_version > NEWEST_FORMAT:
        yield f"it has format version {metadata.format_version} now."
    if is_tag(metadata, committable.key.branch):
        yield f"{committable.key.branch} is a tag, not a branch."
    # One check for all files of the same write target, in the order in which they were written.
    for target in dict.fromkeys(result.target for result in committable.write_results):
        yield from _reasons_of(metadata, target)


def _reasons_of(metadata: TableMetadata, target: WriteTarget) -> Iterator[str]:
    if target.table_uuid is not None and target.table_uuid != metadata.table_uuid:
        yield "it is another table of the same name."
    if target.spec_id != metadata.default_spec_id:
        yield f"its partition spec is {metadata.default_spec_id}, not {target.spec_id} any more."
    if not _knows_order(metadata, target.sort_order_id):
        yield f"it has no sort order {target.sort_order_id}."
    written = next((schema for schema in metadata.schemas if schema.schema_id == target.schema_id), None)
    if written is None:
        yield f"it no longer has the schema {target.schema_id}."
    elif written.schema_id != metadata.current_schema_id:
        yield from _schema_reasons(written, metadata.schema(), target.write_schema_column_ids)


def _knows_order(metadata: TableMetadata, order_id: int | None) -> bool:
    return order_id in (None, UNSORTED_ID) or any(
        order.order_id == order_id for order in metadata.sort_orders
    )


def _schema_reasons(written: Schema, current: Schema, column_ids: tuple[int, ...] | None) -> Iterator[str]:
    before, now = index_by_id(written), index_by_id(current)
    in_files = set(before) if column_ids is None else set(_whole(before, column_ids))
    for field_id in sorted(in_files):
        if field_id not in now:
            yield f"column {written.find_column_name(field_id)} is gone."
        elif not _is_readable_as(before[field_id].field_type, now[field_id].field_type):
            yield f"column {current.find_column_name(field_id)} is {now[field_id].field_type} now."
    for field_id in _newly_required(before, now, current):
        if field_id in in_files or now[field_id].initial_default is None:
            yield f"column {current.find_column_name(field_id)} is required now."


def _whole(fields: dict[int, NestedField], column_ids: tuple[int, ...]) -> Iterator[int]:
    """The ids of the columns and of all fields inside them."""
    for column_id in column_ids:
        if column_id in fields:
            yield column_id
            yield from index_by_id(Schema(fields[column_id]))


def _newly_required(
    before: dict[int, NestedField], now: dict[int, NestedField], current: Schema
) -> list[int]:
    # A new required field inside a struct matters only where the struct is not null. Older rows do not have
    # the struct's field.
    columns = {field.field_id for field in current.fields}
    return [
        field_id
        for field_id, field in now.items()
        if field.required and (not before[field_id].required if field_id in before else field_id in columns)
    ]


def _is_readable_as(written: IcebergType, current: IcebergType) -> bool:
    """Whether the types are equal, or Iceberg widens the written one without rewriting files."""
    if not written.is_primitive or not current.is_primitive:
        return type(written) is type(current)
    if isinstance(written, DecimalType) and isinstance(current, DecimalType):
        return written.scale == current.scale and written.precision <= current.precision
    return written == current or (type(written), type(current)) in _WIDENED
