"""Sessions of issuers' users in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta

from service.authentication.issuer_logins import IssuerSessions
from service.errors.unavailable import MetricsStoreDown
from service.model.authentication.issuer_sessions import IssuerSession
from service.ports.clock import Clock
from tests.fakes.clock import FakeClock


class FakeIssuerSessionStore:
    """The `IssuerSessionStore` port. While `is_down`, it does not answer."""

    def __init__(self) -> None:
        self.is_down = False
        self._sessions: dict[str, IssuerSession] = {}

    def add(self, session: IssuerSession, at_most: int) -> None:
        self._check()
        open_ones = [each for each in self._sessions.values() if each.expires_at > session.created_at]
        others = [each for each in open_ones if each.user.name != session.user.name]
        own = [session, *(each for each in open_ones if each.user.name == session.user.name)]
        newest = sorted(own, key=lambda each: each.created_at, reverse=True)[:at_most]
        self._sessions = {each.session_id: each for each in (*others, *newest)}

    def find(self, session_ids: Collection[str]) -> Mapping[str, IssuerSession]:
        self._check()
        return {each: self._sessions[each] for each in session_ids if each in self._sessions}

    def end(self, session_id: str) -> None:
        self._check()
        self._sessions.pop(session_id, None)

    def _check(self) -> None:
        if self.is_down:
            raise MetricsStoreDown


def fake_issuer_sessions(
    clock: Clock | None = None, store: FakeIssuerSessionStore | None = None
) -> IssuerSessions:
    """Returns sessions over a store in memory."""
    return IssuerSessions(store or FakeIssuerSessionStore(), clock or FakeClock(), timedelta(hours=12))
