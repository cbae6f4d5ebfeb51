"""Ports of sessions: where their values are kept, and who changes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from service.model.sessions.session_changes import SessionChange
from service.model.sessions.sessions import Session, SessionValues


class SessionStore(Protocol):
    """Keeps sessions for all replicas. Only the store's clock counts: clocks of machines may differ.

    A session that was not used for the time to live of its store does not exist any more, whether or not its
    values were deleted. Each method raises MetricsStoreDown if the store does not answer.
    """

    def add(self, caller: str, values: SessionValues) -> Session:
        """Creates a session.

        Raises:
            TooManySessions: the caller has as many as it may have, or all callers have together.
        """
        ...

    def use(self, session_id: UUID, caller: str) -> Session | None:
        """Returns a session, and notes that it was used. None: this caller has no such session."""
        ...

    def change(
        self, session_id: UUID, caller: str, change: Callable[[SessionValues], SessionValues]
    ) -> Session | None:
        """Replaces the values by what `change` makes of them; one change after the other.

        None: this caller has no such session. An error of `change` passes, and nothing is changed.
        """
        ...

    def remove(self, session_id: UUID, caller: str) -> bool:
        """Deletes a session. False: this caller has no such session."""
        ...

    def forget_unused(self) -> int:
        """Deletes the values of sessions that do not exist any more, and returns how many."""
        ...


class SessionChanges(Protocol):
    """Changes the values of a session, for a statement that was run in it."""

    def change(self, session_id: UUID, caller: str, change: SessionChange) -> Session:
        """Changes the session, and returns it.

        Raises:
            SessionNotFound: this caller has no such session.
            CallerError: the session may not have this value.
            MetricsStoreDown: the store does not answer.
        """
        ...


DEFAULT_TIME_TO_LIVE = timedelta(hours=1)
