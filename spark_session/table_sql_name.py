"""A table's name as Spark's parser reads it."""

from __future__ import annotations

from service.model.tables import TableName


def table_sql_name(name: TableName) -> str:
    """Every part quoted.

    >>> table_sql_name(TableName("lake", "sales.eu", "or`ders"))
    '`lake`.`sales`.`eu`.`or``ders`'
    """
    parts = (name.catalog, *name.schema.split("."), name.table)
    return ".".join(f"`{each.replace('`', '``')}`" for each in parts)
