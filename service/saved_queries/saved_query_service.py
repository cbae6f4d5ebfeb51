"""Everything that callers may ask for about saved queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from service.errors.saved_query_errors import SavedQueryNotFound, SavedQueryNotOwned, SavedQueryTooLarge
from service.model.query.saved_queries import SavedQuery, SavedQueryListing, SavedText
from service.ports.stores.saved_query_store import SavedQueryStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTextBounds:
    """How long a name may be, in characters, and a text, in bytes of UTF-8."""

    max_name_characters: int = 200
    max_bytes: int = 100 * 1024


class SavedQueryService:
    """Saves, lists, reads, changes and deletes queries. Their owner is the caller who saved them.

    A shared query may be read by all callers, and changed by its owner alone. To read a text gives no right
    to run it. Each method raises MetricsStoreDown if the store does not answer. Any thread may call any
    method.
    """

    def __init__(self, store: SavedQueryStore, bounds: SavedTextBounds) -> None:
        self._store = store
        self._bounds = bounds

    def save(self, owner: str, text: SavedText) -> SavedQuery:
        """Saves a new query.

        Raises:
            SavedQueryTooLarge: its name or its text is too long.
            TooManySavedQueries: the owner has as many as it may have, or all owners have together.
        """
        self._check(text)
        return self._store.add(owner, text)

    def list(self, listing: SavedQueryListing) -> Sequence[SavedQuery]:
        """Returns queries that the caller may read, the last changed first, with the start of each text."""
        return self._store.list(listing)

    def find(self, saved_query_id: UUID, caller: str) -> SavedQuery:
        """Returns a query with its whole text.

        Raises:
            SavedQueryNotFound: there is none that the caller may read.
        """
        found = self._store.find(saved_query_id, caller)
        if found is None:
            raise SavedQueryNotFound
        return found

    def replace(
        self, saved_query_id: UUID, caller: str, expected_version: int, text: SavedText
    ) -> SavedQuery:
        """Replaces the text of a query, if it has the expected version still.

        Raises:
            SavedQueryNotFound, SavedQueryNotOwned: the caller may not read it, or not change it.
            SavedQueryChanged: it has another version.
            SavedQueryTooLarge: its name or its text is too long.
        """
        self._check(text)
        changed = self._store.replace(saved_query_id, caller, expected_version, text)
        if changed is None:
            raise self._missing(saved_query_id, caller)
        return changed

    def delete(self, saved_query_id: UUID, caller: str, expected_version: int | None = None) -> None:
        """Deletes a query, if it has the expected version still. None: whatever version it has.

        Raises:
            SavedQueryNotFound, SavedQueryNotOwned: the caller may not read it, or not delete it.
            SavedQueryChanged: it has another version.
        """
        if not self._store.remove(saved_query_id, caller, expected_version):
            raise self._missing(saved_query_id, caller)

    def _missing(self, saved_query_id: UUID, caller: str) -> SavedQueryNotFound | SavedQueryNotOwned:
        is_of_another = self._store.find(saved_query_id, caller) is not None
        return SavedQueryNotOwned() if is_of_another else SavedQueryNotFound()

    def _check(self, text: SavedText) -> None:
        bounds = self._bounds
        if len(text.name) > bounds.max_name_characters:
            raise SavedQueryTooLarge(f"A name has at most {bounds.max_name_characters} characters.")
        if len(text.sql.encode("utf-8", "replace")) > bounds.max_bytes:
            raise SavedQueryTooLarge(f"The text of a saved query has at most {bounds.max_bytes} bytes.")
