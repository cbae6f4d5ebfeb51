"""Rows that may be marked as deletes: the fields of their target, and a last column with the marks."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from service.ingest.decoding.streams.plan import ReadTarget
from service.ingest.decoding.values.arrow_types import arrow_schema
from service.model.ingest.record_deletes import DELETE_MARK
from service.model.tables.schemas import Field


def marked_schema(fields: tuple[Field, ...]) -> pa.Schema:
    """Returns the schema of marked rows; a deleted row has no values outside its key."""
    optional = [field.with_nullable(True) for field in arrow_schema(fields)]
    return pa.schema([*optional, pa.field(DELETE_MARK, pa.bool_(), nullable=False)])


def row_schema(target: ReadTarget) -> pa.Schema:
    """Returns the schema of the target's rows, which are marked if its records may delete."""
    return arrow_schema(target.fields) if target.deletes is None else marked_schema(target.fields)


def key_fields(target: ReadTarget) -> tuple[Field, ...]:
    """Returns the fields that a deleting record must fit."""
    keys = () if target.deletes is None else target.deletes.needed
    return tuple(field for field in target.fields if field.name in keys)


def is_read_at_once(target: ReadTarget) -> bool:
    """Returns whether all records of the target do the same and have the same fields."""
    return target.rest is None and (target.deletes is None or target.deletes.is_always)


def marked_if_deleting(rows: pa.RecordBatch, target: ReadTarget) -> pa.RecordBatch:
    """Returns rows of a target whose records act alike, marked if these delete."""
    return rows if target.deletes is None else marked(rows, target.fields, is_delete=True)


def may_lack_keys(keys: pa.RecordBatch) -> bool:
    """Returns whether a record may lack a part of its key: read with others, it has NULL there."""
    return any(column.null_count for column in keys.columns)


def all_deletes(keys: pa.RecordBatch) -> pa.RecordBatch:
    """Returns these keys, each marked as a delete."""
    marks = pa.repeat(pa.scalar(True), keys.num_rows)
    return pa.RecordBatch.from_arrays([*keys.columns, marks], names=[*keys.schema.names, DELETE_MARK])


def marked(rows: pa.RecordBatch, fields: tuple[Field, ...], *, is_delete: bool) -> pa.RecordBatch:
    """Returns the rows, all of them marked alike; columns that they do not have are NULL."""
    schema, names = marked_schema(fields), rows.schema.names
    found: Sequence[pa.Array] = [
        rows.column(field.name) if field.name in names else pa.nulls(rows.num_rows, field.type)
        for field in schema.remove(len(schema) - 1)
    ]
    marks = pa.repeat(pa.scalar(is_delete), rows.num_rows)
    return pa.RecordBatch.from_arrays([*found, marks], schema=schema)
