"""A table's name as Spark's parser reads it."""

from __future__ import annotations

from collections.abc import Iterable

from service.model.tables.tables import TableName


def table_sql_name(name: TableName) -> str:
    """Returns the name with every part quoted.

    >>> table_sql_name(TableName("lake", "sales.eu", "or`ders"))
    '`lake`.`sales`.`eu`.`or``ders`'
    """
    return quoted(name.parts)


def quoted(parts: Iterable[str]) -> str:
    """Returns the parts of a name, each quoted."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)
