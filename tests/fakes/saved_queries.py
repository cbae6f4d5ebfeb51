"""Saved queries in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from service.errors.saved_query_errors import SavedQueryChanged, TooManySavedQueries
from service.errors.unavailable import MetricsStoreDown
from service.model.query.history import MAX_SQL_CHARACTERS
from service.model.query.saved_queries import SavedQuery, SavedQueryListing, SavedQueryScope, SavedText
from service.ports.clock import Clock
from service.saved_queries.saved_query_service import SavedQueryService, SavedTextBounds
from tests.fakes.clock import FakeClock


class FakeSavedQueryStore:
    """The `SavedQueryStore` port. While `is_down`, it does not answer."""

    def __init__(self, clock: Clock, max_of_caller: int = 500, max_saved_queries: int = 100_000) -> None:
        self._clock = clock
        self._max_of_caller = max_of_caller
        self._max_saved_queries = max_saved_queries
        self._saved: dict[UUID, SavedQuery] = {}
        self._lock = threading.Lock()
        self.is_down = False

    def add(self, owner: str, text: SavedText) -> SavedQuery:
        with self._lock:
            self._check()
            of_owner = sum(saved.owner == owner for saved in self._saved.values())
            if of_owner >= self._max_of_caller or len(self._saved) >= self._max_saved_queries:
                raise TooManySavedQueries
            now = self._clock.now()
            added = SavedQuery(
                saved_query_id=uuid4(), owner=owner, text=text, version=1, created_at=now, changed_at=now
            )
            self._saved[added.saved_query_id] = added
            return added

    def find(self, saved_query_id: UUID, caller: str) -> SavedQuery | None:
        with self._lock:
            self._check()
            found = self._saved.get(saved_query_id)
            is_readable = found is not None and (found.owner == caller or found.text.is_shared)
            return found if is_readable else None

    def list(self, listing: SavedQueryListing) -> Sequence[SavedQuery]:
        with self._lock:
            self._check()
            found = sorted(
                (saved for saved in self._saved.values() if _is_listed(saved, listing)),
                key=lambda saved: saved.position,
                reverse=True,
            )
            return [_shortened(saved) for saved in found[: listing.limit]]

    def replace(
        self, saved_query_id: UUID, owner: str, expected_version: int, text: SavedText
    ) -> SavedQuery | None:
        with self._lock:
            found = self._own(saved_query_id, owner, expected_version)
            if found is None:
                return None
            version = found.version + 1
            changed = replace(found, text=text, version=version, changed_at=self._clock.now())
            self._saved[saved_query_id] = changed
            return changed

    def remove(self, saved_query_id: UUID, owner: str, expected_version: int | None) -> bool:
        with self._lock:
            found = self._own(saved_query_id, owner, expected_version)
            return found is not None and bool(self._saved.pop(saved_query_id))

    def _own(self, saved_query_id: UUID, owner: str, expected_version: int | None) -> SavedQuery | None:
        self._check()
        found = self._saved.get(saved_query_id)
        if found is None or found.owner != owner:
            return None
        if expected_version not in (None, found.version):
            raise SavedQueryChanged
        return found

    def _check(self) -> None:
        if self.is_down:
            raise MetricsStoreDown


def _is_listed(saved: SavedQuery, listing: SavedQueryListing) -> bool:
    is_own = saved.owner == listing.caller
    is_in_scope = {
        SavedQueryScope.OWN: is_own,
        SavedQueryScope.OTHERS: saved.text.is_shared and not is_own,
        SavedQueryScope.ALL: saved.text.is_shared or is_own,
    }[listing.scope]
    is_named = listing.name.lower() in saved.text.name.lower()
    return is_in_scope and is_named and (listing.before is None or saved.position < listing.before)


def _shortened(saved: SavedQuery) -> SavedQuery:
    return replace(saved, text=replace(saved.text, sql=saved.text.sql[:MAX_SQL_CHARACTERS]))


def fake_saved_queries(
    store: FakeSavedQueryStore | None = None, bounds: SavedTextBounds | None = None
) -> SavedQueryService:
    """Returns saved queries over a store in memory."""
    return SavedQueryService(store or FakeSavedQueryStore(FakeClock()), bounds or SavedTextBounds())
