"""Derives the fields to read of a write's records from the write and its table."""

from __future__ import annotations

from service.ingest.decoding.streams.plan import ReadTarget
from service.ingest.decoding.values.sent_types import fields_as_sent
from service.ingest.derive_partition_rules import partition_rules
from service.model.ingest.ingest_request import Write
from service.model.ingest.record_deletes import RecordDeletes
from service.model.ingest.record_rest import RecordRest
from service.model.ingest.writing import Destination
from service.model.tables.schemas import Field


def read_target(
    write: Write, destination: Destination, fields: tuple[Field, ...], max_rest_bytes: int
) -> ReadTarget:
    """Returns the fields as they are sent, the rules for partition values, and which records delete.

    If the fields are inferred, records may also have the table's other columns, without values. The text of a
    record's rest may have `max_rest_bytes`.
    """
    table = destination.table
    sent, rules = fields_as_sent(fields, write.schema), partition_rules(table)
    unwritten: frozenset[str] = frozenset()
    if write.is_inferred:
        unwritten = frozenset(
            {column.name for column in table.schema.columns} - {field.name for field in sent}
        )
    rest = None if write.rest is None else RecordRest(write.rest, max_rest_bytes)
    return ReadTarget(sent, unwritten, rules, _deletes(write, destination), rest)


def _deletes(write: Write, destination: Destination) -> RecordDeletes | None:
    if not write.is_delete and write.delete_when is None and write.envelope is None:
        return None
    ids = destination.target.equality_field_ids
    keys = (column.name for column in destination.table.schema.columns if column.field_id in ids)
    return RecordDeletes(tuple(keys), write.delete_when, write.envelope, write.order_by)
