"""Whether a new table's name means nothing else: no schema is called like a table, nor a table like one."""

from __future__ import annotations

from collections.abc import Sequence

from pyiceberg.catalog import Catalog

from service.errors import CreationInvalid
from service.model.tables.reserved_names import is_reserved
from service.model.tables.tables import TableName


def check_unambiguous(catalog: Catalog, schema: Sequence[str], table: str) -> None:
    """Returns where a table with this name may be made in the schema, whose levels are given.

    Raises:
        CreationInvalid: readers might take one thing for another.
    """
    if is_reserved(table):
        raise CreationInvalid(
            f"{_name(catalog, *schema, table)} cannot be made: Iceberg reads {table} behind a table's name as"
            " its metadata or a version of it. Choose another name."
        )
    for depth in range(2, len(schema) + 1):
        if catalog.table_exists(tuple(schema[:depth])):
            raise CreationInvalid(
                f"{_name(catalog, *schema, table)} cannot be made: {_name(catalog, *schema[:depth])} is a"
                " table, and no schema may have its name. Choose another schema."
            )
    if catalog.namespace_exists((*schema, table)):
        raise CreationInvalid(
            f"{_name(catalog, *schema, table)} cannot be made: a schema has this name. Choose another name."
        )


def is_planted(catalog: Catalog, name: TableName) -> bool:
    """Whether a table of this name would lie where the metadata, or a version, of another table is read.

    Other engines can make one, and so could this gateway once.
    """
    schema = tuple(name.schema.split("."))
    return is_reserved(name.table) and len(schema) > 1 and catalog.table_exists(schema)


def _name(catalog: Catalog, *parts: str) -> str:
    return ".".join((catalog.name, *parts))
