"""Opens and ends the sessions of users whom an issuer has logged in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from service.model.authentication.api_keys import ApiKey, made_key
from service.model.authentication.issuer_sessions import (
    ISSUER_SESSION,
    IssuerSession,
    LoggedIn,
    OpenedIssuerSession,
)
from service.ports.clock import Clock
from service.ports.stores.issuer_session_store import IssuerSessionStore

MOST_OF_A_USER = 100
"""Sessions of one user. One more ends the oldest."""


@dataclass(frozen=True, slots=True)
class IssuerSessions:
    """Sessions that stand for users of issuers. Any thread may call any method. Each asks the store."""

    store: IssuerSessionStore
    clock: Clock
    lifetime: timedelta

    def open(self, user: LoggedIn) -> OpenedIssuerSession:
        """Opens a session, which does not outlast the user's tokens. Its text is not available again.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        now = self.clock.now()
        made = made_key(ApiKey("", b"", "", frozenset(), "", now, ""))
        ends = min(now + self.lifetime, user.until)
        session = IssuerSession(made.key.key_id, made.key.secret_sha256, user, now, ends)
        self.store.add(session, MOST_OF_A_USER)
        return OpenedIssuerSession(session, f"{ISSUER_SESSION}{made.text}")

    def end(self, session_id: str) -> None:
        """Ends a session. A second call changes nothing.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        self.store.end(session_id)
