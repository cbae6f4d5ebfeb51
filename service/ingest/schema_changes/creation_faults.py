"""Finds every reason why a table cannot be created as requested, before anything is created."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.ingest.schema_changes.layout_faults import layout_faults
from service.ingest.schema_changes.refused_changes import refused_changes
from service.ingest.schema_changes.table_properties import refused_properties
from service.model.tables.reserved_names import is_reserved
from service.model.tables.schema_changes import AddField
from service.model.tables.schemas import TableSchema
from service.model.tables.table_creation import CreationFault, TableCreation
from service.model.tables.tables import TableName

# The longest name that catalogs in a database can store.
_LONGEST_SCHEMA = 255
# A name becomes a folder: none may lead out of the warehouse.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}")


def creation_faults(name: TableName, creation: TableCreation, place: str) -> Iterator[CreationFault]:
    """Yields every reason, none if the table may be created; `place` is that of its write in the request."""
    for reason in _name_faults(name):
        yield CreationFault(f"{place}/table", reason)
    for reason in _schema_faults(creation.schema):
        yield CreationFault(f"{place}/schema", reason)
    for where, reason in layout_faults(creation.schema.columns, creation.layout):
        yield CreationFault(f"{place}/create/{where}", reason)
    for key, reason in refused_properties(creation.layout.properties):
        yield CreationFault(f"{place}/create/properties/{key}", reason)


def _name_faults(name: TableName) -> Iterator[str]:
    for part in name.parts[1:]:
        if not _NAME.fullmatch(part):
            yield f"{part!r} is not a valid name for a new table or its schema: use letters, digits, _ and -."
    if is_reserved(name.table):
        yield (
            f"{name.table!r} is not a valid name for a new table: behind a table's name, Iceberg reads"
            " it as that table's metadata or version. Choose another name."
        )
    if len(name.schema) > _LONGEST_SCHEMA:
        yield f"The name of a new table's schema has {_LONGEST_SCHEMA} characters at most."


def _schema_faults(schema: TableSchema) -> Iterator[str]:
    if not schema.columns:
        yield "The schema of a new table needs at least one column."
    for column in schema.columns:
        if column.field_id in schema.identifier_field_ids and not column.is_required:
            yield f"{column.name} identifies rows, so it has to be required."
    added = [AddField((), column) for column in schema.columns]
    for difference in refused_changes(added, TableSchema(0, ()), ()):
        yield difference.detail
