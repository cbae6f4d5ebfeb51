"""Opens and ends sessions of browsers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from service.model.authentication.api_keys import ApiKey, made_key
from service.model.authentication.key_sessions import KeySession, OpenedSession
from service.ports.clock import Clock
from service.ports.stores.key_session_store import KeySessionStore

MOST_OF_A_KEY = 100
"""Sessions of one key. One more ends the oldest."""


@dataclass(frozen=True, slots=True)
class KeySessions:
    """Sessions that stand for API keys. Any thread may call any method. Each asks the store."""

    store: KeySessionStore
    clock: Clock
    lifetime: timedelta

    def open(self, key_id: str) -> OpenedSession:
        """Opens a session for a key. Its text is not available again.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        now = self.clock.now()
        # A session has the form of a key, so that logs hide its text as they hide a key's.
        made = made_key(ApiKey("", b"", "", frozenset(), "", now, ""))
        session = KeySession(made.key.key_id, made.key.secret_sha256, key_id, now, now + self.lifetime)
        self.store.add(session, MOST_OF_A_KEY)
        return OpenedSession(session, made.text)

    def end(self, session_id: str) -> None:
        """Ends a session. A second call changes nothing.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        self.store.end(session_id)
