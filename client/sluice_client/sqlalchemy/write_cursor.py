"""A cursor of a statement that changes rows: no rows to fetch, and the number of those that it changed."""

from __future__ import annotations

from typing import Any, Self

from sluice_client.dbapi import Cursor

_ROWS_AFFECTED = "rows_affected"


class WriteCursor:
    """Takes the row of numbers that the gateway answers a write with, and hides it."""

    description = None

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self.rowcount = -1
        """The rows that changed; -1 if the gateway does not know, as for an UPDATE that copies files."""

    @property
    def lastrowid(self) -> None:
        """Always None: there are no row ids."""
        return self._cursor.lastrowid

    def execute(self, operation: str, parameters: Any = None) -> Self:
        """Runs the statement.

        Raises:
            Error: by its class, as PEP 249 says.
        """
        self.rowcount = -1
        self._cursor.execute(operation, parameters)
        described = self._cursor.description or ()
        row = self._cursor.fetchone() if described else None
        names = [column[0] for column in described]
        if row is not None and _ROWS_AFFECTED in names:
            affected = row[names.index(_ROWS_AFFECTED)]
            self.rowcount = -1 if affected is None else affected
        return self

    def close(self) -> None:
        """Closes the cursor."""
        self._cursor.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)
