"""Tables and views that are missing, ambiguous, or no longer what they were."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors.gateway_error import CallerError, PartDown, did_you_mean
from service.model.tables.tables import TableName


class TableAmbiguous(CallerError):
    """The name belongs to a table or view, and also to another table's metadata or version."""

    code = "TABLE_AMBIGUOUS"

    def __init__(self, table: str) -> None:
        super().__init__(
            f"{table} is a table or view, and also the name of another table's metadata or"
            " version. Nothing was read or written. Ask the catalog's administrator to rename or drop the"
            " one whose schema has the name of a table."
        )


class TableNotFound(CallerError):
    """There is no such table.

    `nearest` holds the most similar names that exist. `others` are further missing tables of the same
    request.
    """

    code = "TABLE_NOT_FOUND"

    def __init__(self, table: str, nearest: Sequence[str] = (), others: Sequence[TableNotFound] = ()) -> None:
        super().__init__(f"There is no table {table}.{did_you_mean(nearest)}")
        self.table = table
        self.nearest = tuple(nearest)
        self.others = tuple(others)


class ViewChanged(CallerError):
    """A view is no longer what it was when policies gave it the rights of its definer."""

    code = "VIEW_CHANGED"

    def __init__(self, view: TableName) -> None:
        super().__init__(
            f"The view {view} has changed since policies gave it the rights of its definer. An administrator"
            " has to look at it, and to import the policies with its present definition."
        )
        self.table = str(view)


class LayoutUnknown(CallerError):
    """The gateway cannot look at the layout of this table."""

    code = "LAYOUT_UNKNOWN"


class TableChanged(CallerError):
    """The table changed, and the rows of this ingest no longer fit."""

    code = "TABLE_CHANGED"


class TableUnreadable(PartDown):
    """The table has something that this gateway cannot read, such as a type of a newer format version."""

    code = "TABLE_UNREADABLE"
