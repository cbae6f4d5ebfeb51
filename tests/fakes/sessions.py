"""Sessions in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

from service.errors.session_errors import TooManySessions
from service.errors.unavailable import MetricsStoreDown
from service.model.sessions.session_changes import ValueBounds
from service.model.sessions.sessions import Session, SessionValues
from service.ports.clock import Clock
from service.ports.stores.session_store import DEFAULT_TIME_TO_LIVE
from service.sessions.session_service import SessionService
from tests.fakes.clock import FakeClock


class FakeSessionStore:
    """The `SessionStore` port. While `is_down`, it does not answer."""

    def __init__(
        self,
        clock: Clock,
        max_of_caller: int = 100,
        max_sessions: int = 10_000,
        time_to_live: timedelta = DEFAULT_TIME_TO_LIVE,
    ) -> None:
        self._clock = clock
        self._max_of_caller = max_of_caller
        self._max_sessions = max_sessions
        self._time_to_live = time_to_live
        self._sessions: dict[UUID, Session] = {}
        self._lock = threading.Lock()
        self.is_down = False

    def add(self, caller: str, values: SessionValues) -> Session:
        with self._lock:
            self._check()
            alive = [session for session in self._sessions.values() if self._is_alive(session)]
            of_caller = sum(session.caller == caller for session in alive)
            if of_caller >= self._max_of_caller or len(alive) >= self._max_sessions:
                raise TooManySessions
            now = self._clock.now()
            session = Session(uuid4(), caller, values, now, now, now + self._time_to_live)
            self._sessions[session.session_id] = session
            return session

    def use(self, session_id: UUID, caller: str) -> Session | None:
        return self.change(session_id, caller, lambda values: values)

    def change(
        self, session_id: UUID, caller: str, change: Callable[[SessionValues], SessionValues]
    ) -> Session | None:
        with self._lock:
            self._check()
            session = self._own(session_id, caller)
            if session is None:
                return None
            now = self._clock.now()
            ends = now + self._time_to_live
            values = change(session.values)
            changed = replace(session, values=values, last_used_at=now, expires_at=ends)
            self._sessions[session_id] = changed
            return changed

    def remove(self, session_id: UUID, caller: str) -> bool:
        with self._lock:
            self._check()
            return self._own(session_id, caller) is not None and bool(self._sessions.pop(session_id))

    def forget_unused(self) -> int:
        with self._lock:
            self._check()
            before = len(self._sessions)
            self._sessions = {key: kept for key, kept in self._sessions.items() if self._is_alive(kept)}
            return before - len(self._sessions)

    def _own(self, session_id: UUID, caller: str) -> Session | None:
        session = self._sessions.get(session_id)
        is_own = session is not None and session.caller == caller and self._is_alive(session)
        return session if is_own else None

    def _is_alive(self, session: Session) -> bool:
        return session.expires_at > self._clock.now()

    def _check(self) -> None:
        if self.is_down:
            raise MetricsStoreDown


def fake_sessions(store: FakeSessionStore | None = None, bounds: ValueBounds | None = None) -> SessionService:
    """Returns sessions over a store in memory."""
    return SessionService(store or FakeSessionStore(FakeClock()), bounds or ValueBounds())
