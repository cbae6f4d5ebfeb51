"""Results whose rows the engine writes itself."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from service.model.query.results import Column, Manifest
from service.model.query.written_rows import ResultPlace, WrittenRows


class WrittenResults(Protocol):
    """Keeps results whose rows the engine has written."""

    def place(self, query_id: UUID) -> ResultPlace | None:
        """Returns the place where the engine may leave a query's rows; None if it reaches none.

        What is left there belongs to the store: `ResultStore.drop` deletes it.
        """
        ...

    def keep(
        self, query_id: UUID, rows: WrittenRows, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """Keeps the rows that are in this query's place. Each batch is a chunk.

        Raises:
            ResultTooLarge: they are larger than all results together may be.
            NoRoomForResult: the place is full.
            QueryFailed: it cannot be written.
        """
        ...


class NoWrittenResults:
    """Gives no place."""

    def place(self, query_id: UUID) -> ResultPlace | None:  # noqa: ARG002
        """See `WrittenResults`."""
        return None

    def keep(
        self, query_id: UUID, rows: WrittenRows, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """See `WrittenResults`; never called, as there is no place."""
        raise NotImplementedError
