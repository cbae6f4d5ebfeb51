"""Checks that a new table's name is unambiguous: no schema may have a table's name, nor the reverse."""

from __future__ import annotations

from collections.abc import Sequence

from pyiceberg.catalog import Catalog

from service.errors.ingest_errors import CreationInvalid
from service.model.tables.reserved_names import is_reserved
from service.model.tables.tables import TableName


def check_unambiguous(catalog: Catalog, schema: Sequence[str], table: str) -> None:
    """Checks that a table of this name may be created in the schema, given by its levels.

    Raises:
        CreationInvalid: readers could confuse it with something else.
    """
    if is_reserved(table):
        raise CreationInvalid(
            f"{_name(catalog, *schema, table)} cannot be created: Iceberg reads {table} behind a"
            " table's name as its metadata or a version of it. Choose another name."
        )
    for depth in range(2, len(schema) + 1):
        if catalog.table_exists(tuple(schema[:depth])):
            raise CreationInvalid(
                f"{_name(catalog, *schema, table)} cannot be created: {_name(catalog, *schema[:depth])}"
                " is a table, and a schema must not have the name of a table. Choose another schema."
            )
    if catalog.namespace_exists((*schema, table)):
        raise CreationInvalid(
            f"{_name(catalog, *schema, table)} cannot be created: a schema has this name. Choose"
            " another name."
        )


def is_planted(catalog: Catalog, name: TableName) -> bool:
    """Whether readers take this name for the metadata, or a version, of another table.

    Other engines can create such a table, and earlier versions of this gateway could.
    """
    schema = tuple(name.schema.split("."))
    return is_reserved(name.table) and len(schema) > 1 and catalog.table_exists(schema)


def _name(catalog: Catalog, *parts: str) -> str:
    return ".".join((catalog.name, *parts))
