"""The rows that key sets were collected from, as far as they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from service.model.filters.key_selection import KeptNote

if TYPE_CHECKING:
    import pyarrow as pa


class KeptRows(Protocol):
    """Shares kept rows among all queries of all replicas. Nothing raises: without a server, nothing is kept.

    Each call waits for the server once, or more often if it deletes something. Each wait is at most as long
    as that of any use of the filter cache.
    """

    def notes(self, family: str) -> Sequence[KeptNote]:
        """Returns the notes on the kept rows of a family, the newest first. The rows may be gone."""

    def rows(self, family: str, note: KeptNote) -> pa.Table | None:
        """Returns the rows of a note; None if they are gone, and then the note is deleted."""

    def keep(self, family: str, note: KeptNote, rows: pa.Table, at_most: int) -> None:
        """Stores rows and the note on them. Only the newest `at_most` of a family stay, with their rows."""
