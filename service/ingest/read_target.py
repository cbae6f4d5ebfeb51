"""Derives the fields to read of a write's records from the write and its table."""

from __future__ import annotations

from service.ingest.decoding.streams.plan import ReadTarget
from service.ingest.decoding.values.sent_types import fields_as_sent
from service.ingest.derive_partition_rules import partition_rules
from service.model.ingest.ingest_request import Write
from service.model.ingest.writing import WritableTable
from service.model.tables.schemas import Field


def read_target(write: Write, table: WritableTable, fields: tuple[Field, ...]) -> ReadTarget:
    """Returns the fields as they are sent, and the rules for partition values.

    If the fields are inferred, records may also have the table's other columns, without values.
    """
    sent, rules = fields_as_sent(fields, write.schema), partition_rules(table)
    if not write.is_inferred:
        return ReadTarget(sent, partition=rules)
    unwritten = {column.name for column in table.schema.columns} - {field.name for field in sent}
    return ReadTarget(sent, frozenset(unwritten), rules)
