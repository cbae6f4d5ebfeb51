"""From a write and its table to what is read of its records."""

from __future__ import annotations

from service.ingest.reading.plan import ReadTarget
from service.ingest.reading.sent_types import fields_as_sent
from service.model.ingest import Write
from service.model.schemas import Field
from service.model.writing import WritableTable


def read_target(write: Write, table: WritableTable, fields: tuple[Field, ...]) -> ReadTarget:
    """The fields as they are sent; where they are inferred, all others of the table may be there, empty."""
    sent = fields_as_sent(fields, write.schema)
    if not write.is_inferred:
        return ReadTarget(sent)
    unwritten = {each.name for each in table.schema.columns} - {each.name for each in sent}
    return ReadTarget(sent, frozenset(unwritten))
