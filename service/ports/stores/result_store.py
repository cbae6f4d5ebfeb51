"""The rows of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from service.model.query.results import Column, Manifest

if TYPE_CHECKING:
    import pyarrow as pa


class ResultStore(Protocol):
    """Keeps results until their time to live ends."""

    def put(
        self, query_id: UUID, rows: pa.Table, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """Keeps the rows, cut into chunks."""

    def chunk(self, query_id: UUID, index: int) -> pa.Table:
        """Returns the rows of one chunk; the same on every read.

        Raises:
            ResultExpired: the result is gone.
            ChunkNotFound: the result has no such chunk.
        """

    def manifest(self, query_id: UUID) -> Manifest | None:
        """Returns the shape of a result that another replica may have kept; None if it is not here."""

    def keep_for(self, query_id: UUID, key: str) -> bool:
        """Notes the key beside the rows; returns whether that was possible."""

    def note_rights(self, query_id: UUID, rights: str) -> bool:
        """Notes beside the rows what policies allowed the query; returns whether that was possible."""

    def rights(self, query_id: UUID) -> str | None:
        """Returns what was noted, at whichever replica; None if nothing was, or it cannot be read."""

    def share(self, query_id: UUID, other: UUID, key: str | None = None) -> bool:
        """Makes a result that of another query too, and returns whether it is still there.

        Each has its own time to live and ends on its own. The rows take their room once. With a `key`, rows
        that any replica may have kept are shared only if they were kept for this key.
        """

    def drop(self, query_id: UUID) -> None:
        """Deletes a result, if it is there."""
