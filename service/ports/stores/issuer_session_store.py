"""Port of the sessions that issuers' logins have opened."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from service.model.authentication.issuer_sessions import IssuerSession


class IssuerSessionStore(Protocol):
    """Keeps sessions for all replicas. Each method raises MetricsStoreDown if the store does not answer."""

    def add(self, session: IssuerSession, at_most: int) -> None:
        """Stores a new session, and deletes expired ones.

        The `at_most` newest sessions of its user stay.
        """
        ...

    def find(self, session_ids: Collection[str]) -> Mapping[str, IssuerSession]:
        """Returns the sessions with these ids, without ids that have none. Expired ones may be among them."""
        ...

    def end(self, session_id: str) -> None:
        """Deletes a session. A later call changes nothing."""
        ...
