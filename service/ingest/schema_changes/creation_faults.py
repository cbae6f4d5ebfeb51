"""Why a table cannot be made as it is asked for: every reason at once, before anything is made."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.ingest.schema_changes.layout_faults import layout_faults
from service.ingest.schema_changes.refused_changes import refused_changes
from service.ingest.schema_changes.table_properties import refused_properties
from service.model.schema_changes import AddField
from service.model.schemas import TableSchema
from service.model.table_creation import CreationFault, TableCreation
from service.model.tables import TableName

# A name becomes a folder: none may lead out of the warehouse.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}")


def creation_faults(name: TableName, creation: TableCreation, place: str) -> Iterator[CreationFault]:
    """Nothing where the table may be made. `place` is that of its write in the request."""
    for part in (*name.schema.split("."), name.table):
        if not _NAME.fullmatch(part):
            reason = f"{part!r} is no name for a new table or its schema: letters, digits, _ and - are."
            yield CreationFault(f"{place}/table", reason)
    schema = creation.schema
    if not schema.columns:
        yield CreationFault(f"{place}/schema", "A table is made from a schema that has columns.")
    added = [AddField((), each) for each in schema.columns]
    for difference in refused_changes(added, TableSchema(0, ()), ()):
        yield CreationFault(f"{place}/schema", difference.detail)
    for where, reason in layout_faults(schema.columns, creation.layout):
        yield CreationFault(f"{place}/create/{where}", reason)
    for key, reason in refused_properties(creation.layout.properties):
        yield CreationFault(f"{place}/create/properties/{key}", reason)
