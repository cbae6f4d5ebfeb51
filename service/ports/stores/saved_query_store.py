"""Port of saved queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from service.model.query.saved_queries import SavedQuery, SavedQueryListing, SavedText


class SavedQueryStore(Protocol):
    """Keeps saved queries for all replicas. Only the store's clock counts: clocks of machines may differ.

    A caller may read a query that it owns, or that is shared; for this caller, all others do not exist.
    Each method raises MetricsStoreDown if the store does not answer.
    """

    def add(self, owner: str, text: SavedText) -> SavedQuery:
        """Stores a new query, as version 1.

        Raises:
            TooManySavedQueries: the owner has as many as it may have, or all owners have together.
        """
        ...

    def find(self, saved_query_id: UUID, caller: str) -> SavedQuery | None:
        """Returns a query. None: there is none that the caller may read."""
        ...

    def list(self, listing: SavedQueryListing) -> Sequence[SavedQuery]:
        """Returns queries that the caller may read, the last changed ones first.

        Each text is cut off after `MAX_SQL_CHARACTERS` characters.
        """
        ...

    def replace(
        self, saved_query_id: UUID, owner: str, expected_version: int, text: SavedText
    ) -> SavedQuery | None:
        """Replaces the text, if the query has this version still. None: the owner has no such query.

        Raises:
            SavedQueryChanged: it has another version. Nothing is changed.
        """
        ...

    def remove(self, saved_query_id: UUID, owner: str, expected_version: int | None) -> bool:
        """Deletes a query, if it has this version still. None: in any version. False: there is none.

        Raises:
            SavedQueryChanged: it has another version. Nothing is deleted.
        """
        ...
