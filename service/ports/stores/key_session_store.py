"""Port of browsers' sessions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from service.model.authentication.api_keys import ApiKey
from service.model.authentication.key_sessions import KeySession


class KeySessionStore(Protocol):
    """Keeps sessions for all replicas. Each method raises MetricsStoreDown if the store does not answer."""

    def add(self, session: KeySession, at_most: int) -> None:
        """Stores a new session, and deletes expired ones.

        The `at_most` newest sessions of its key stay.
        """
        ...

    def find(self, session_ids: Collection[str]) -> Mapping[str, ApiKey]:
        """Returns the key that each session stands for, by the session's id; without ids that have none.

        The key has the secret of the session, and expires when the session or the key does.
        """
        ...

    def end(self, session_id: str) -> None:
        """Deletes a session. A later call changes nothing."""
        ...
