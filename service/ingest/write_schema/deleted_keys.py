"""Resolves the columns of a write that only deletes: those that identify a row."""

from __future__ import annotations

from service.errors.ingest_errors import WriteSchemaInvalid
from service.ingest.write_schema.projection import Projection
from service.ingest.write_schema.rules.equality_fields import equality_fields
from service.model.ingest.writing import WritableTable, WriteSchema


def deleted_keys(table: WritableTable, equality_field_ids: tuple[int, ...]) -> WriteSchema:
    """Returns the equality fields as a write schema; other columns may be required, as no row is written.

    Raises:
        WriteSchemaInvalid: the table is partitioned by a column outside of them.
    """
    violations = tuple(equality_fields(Projection(table, equality_field_ids, equality_field_ids)))
    if violations:
        raise WriteSchemaInvalid(
            f"The equality fields do not fit {table.key.table}: {violations[0].detail}", violations
        )
    return WriteSchema(table.schema.schema_id, equality_field_ids)
