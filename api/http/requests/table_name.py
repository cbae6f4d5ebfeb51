"""A table's full name, split into its parts."""

from __future__ import annotations

from api.http.problems.http_errors import InvalidRequest
from service.faults import Fault
from service.model.storable_texts import text_fault
from service.model.tables.tables import TableName

FULL_NAME = r"^[^.\x00]+(\.[^.\x00]+){2,}$"
"""Only for the description: `table_name` rejects other names with a better message."""


def table_name(dotted: str, pointer: str = "/path/name") -> TableName:
    """Splits the name into its parts; the schema between catalog and table may have several levels.

    >>> table_name("lake.sales.eu.orders")
    TableName(catalog='lake', schema='sales.eu', table='orders')

    Raises:
        InvalidRequest: it has fewer than three parts, an empty part, or characters that no catalog takes.
    """
    if fault := text_fault(dotted):
        raise InvalidRequest([Fault(f"a table's name {fault}", pointer)])
    parts = dotted.split(".")
    if len(parts) < 3 or not all(parts):
        raise InvalidRequest([Fault("a table's full name is catalog.schema.table", pointer)])
    return TableName(parts[0], ".".join(parts[1:-1]), parts[-1])
