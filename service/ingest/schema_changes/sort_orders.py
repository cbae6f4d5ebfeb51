"""Matches the sort orders that writes ask for with those that their table has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from service.errors.ingest_errors import IngestInvalid
from service.ingest.schema_changes.layout_faults import sort_order_faults
from service.model.ingest.ingest_request import Write, WriteFault
from service.model.ingest.writing import WritableTable
from service.model.tables.tables import UNSORTED_ID, SortField, SortOrder


def sort_order_id(fields: tuple[SortField, ...], orders: Iterable[SortOrder]) -> int | None:
    """Returns the id of the order with these fields; None where no order has them.

    >>> by_day = SortField("day", "identity", "asc", "nulls-first")
    >>> sort_order_id((by_day,), [SortOrder(4, (by_day,))]), sort_order_id((by_day,), [])
    (4, None)
    """
    if not fields:
        return UNSORTED_ID
    return next((order.order_id for order in orders if order.fields == fields), None)


def missing_sort_orders(
    writes: Iterable[Write], orders: Iterable[SortOrder]
) -> tuple[tuple[SortField, ...], ...]:
    """Returns the requested orders that the table does not have yet, each once."""
    known = tuple(orders)
    asked = dict.fromkeys(write.sort_order for write in writes if write.sort_order is not None)
    return tuple(fields for fields in asked if sort_order_id(fields, known) is None)


def with_sort_orders(table: WritableTable, missing: Iterable[tuple[SortField, ...]]) -> WritableTable:
    """Returns the table with these orders added; their ids are provisional."""
    highest = max((order.order_id for order in table.sort_orders), default=UNSORTED_ID)
    added = (SortOrder(highest + at, fields) for at, fields in enumerate(missing, 1))
    return replace(table, sort_orders=(*table.sort_orders, *added))


def check_sort_order(write: Write, table: WritableTable) -> None:
    """Checks that rows of the table can be in the order that the write asks for.

    Raises:
        IngestInvalid: they cannot be; with every reason.
    """
    faults = sort_order_faults(table.schema.columns, write.sort_order or ())
    found = [WriteFault(f"{write.place}/{place}", reason) for place, reason in faults]
    if found:
        raise IngestInvalid(f"The sort order does not fit {write.key.table}: {found[0].reason}.", found)
