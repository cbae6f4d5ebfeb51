"""API keys in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from service.authentication.key_sessions import KeySessions
from service.authentication.last_uses import LastUses
from service.authentication.manage_keys import ApiKeys
from service.errors.unavailable import MetricsStoreDown
from service.model.authentication.api_keys import ApiKey
from service.model.authentication.key_sessions import KeySession
from service.ports.clock import Clock
from tests.fakes.clock import FakeClock

_NEVER = datetime.max.replace(tzinfo=UTC)


class FakeApiKeyStore:
    """The `ApiKeyStore` port. While `is_down`, it does not answer. `asked` has the ids of each `find`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._keys: dict[str, ApiKey] = {}
        self.is_down = False
        self.asked: list[frozenset[str]] = []

    def add(self, key: ApiKey) -> None:
        self._check()
        self._keys[key.key_id] = key

    def find(self, key_ids: Collection[str]) -> Mapping[str, ApiKey]:
        self.asked.append(frozenset(key_ids))
        self._check()
        return {key_id: self._keys[key_id] for key_id in key_ids if key_id in self._keys}

    def of_principal(self, name: str) -> Sequence[ApiKey]:
        self._check()
        found = [key for key in self._keys.values() if key.name == name and key.revoked_at is None]
        by_id = sorted(found, key=lambda key: key.key_id)
        return sorted(by_id, key=lambda key: key.expires_at or _NEVER, reverse=True)

    def newest(self, limit: int) -> Sequence[ApiKey]:
        self._check()
        return sorted(self._keys.values(), key=lambda key: key.created_at, reverse=True)[:limit]

    def revoke(self, key_id: str, by: str) -> ApiKey | None:
        self._check()
        key = self._keys.get(key_id)
        if key is not None and key.revoked_at is None:
            key = self._keys[key_id] = replace(key, revoked_at=self._clock.now(), revoked_by=by)
        return key

    def note_uses(self, uses: Mapping[str, datetime]) -> None:
        self._check()
        for key_id, used_at in uses.items():
            key = self._keys.get(key_id)
            if key is not None and (key.last_used_at is None or key.last_used_at < used_at):
                self._keys[key_id] = replace(key, last_used_at=used_at)

    def _check(self) -> None:
        if self.is_down:
            raise MetricsStoreDown


class FakeKeySessionStore:
    """The `KeySessionStore` port, over keys in memory."""

    def __init__(self, keys: FakeApiKeyStore) -> None:
        self._keys = keys
        self._sessions: dict[str, KeySession] = {}

    def add(self, session: KeySession, at_most: int) -> None:
        self._keys.find(())
        sessions = [each for each in self._sessions.values() if each.expires_at > session.created_at]
        others = [each for each in sessions if each.key_id != session.key_id]
        own = [session, *(each for each in sessions if each.key_id == session.key_id)]
        newest = sorted(own, key=lambda each: each.created_at, reverse=True)[:at_most]
        self._sessions = {each.session_id: each for each in (*others, *newest)}

    def find(self, session_ids: Collection[str]) -> Mapping[str, ApiKey]:
        sessions = [self._sessions[each] for each in session_ids if each in self._sessions]
        keys = self._keys.find({session.key_id for session in sessions})
        return {
            session.session_id: _for_session(keys[session.key_id], session)
            for session in sessions
            if session.key_id in keys
        }

    def end(self, session_id: str) -> None:
        self._keys.find(())
        self._sessions.pop(session_id, None)


def _for_session(key: ApiKey, session: KeySession) -> ApiKey:
    ends = min(session.expires_at, key.expires_at or _NEVER)
    return replace(key, secret_sha256=session.secret_sha256, expires_at=ends)


def fake_api_keys(clock: Clock | None = None, store: FakeApiKeyStore | None = None) -> ApiKeys:
    """Returns the administration of keys over a store in memory."""
    clock = clock or FakeClock()
    store = store or FakeApiKeyStore(clock)
    sessions = KeySessions(FakeKeySessionStore(store), clock, timedelta(hours=12))
    return ApiKeys(store, clock, LastUses(store.note_uses), sessions)
