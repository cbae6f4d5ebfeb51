"""The names of the tables that hold records which did not fit."""

from __future__ import annotations

from dataclasses import replace

from service.model.tables.tables import TableName

SUFFIX = "__dead_letter"


def dead_letter_name(table: TableName) -> TableName:
    """Returns the table of dead letters beside this one.

    >>> str(dead_letter_name(TableName("lake", "logs", "events")))
    'lake.logs.events__dead_letter'
    """
    return replace(table, table=f"{table.table}{SUFFIX}")


def sent_to(table: TableName) -> TableName | None:
    """Returns the table that the records of a table of dead letters were sent to. None: it is another table.

    >>> str(sent_to(TableName("lake", "logs", "Events__Dead_Letter")))
    'lake.logs.Events'
    >>> sent_to(TableName("lake", "logs", "events"))
    """
    if not table.table.lower().endswith(SUFFIX) or len(table.table) == len(SUFFIX):
        return None
    return replace(table, table=table.table[: -len(SUFFIX)])
