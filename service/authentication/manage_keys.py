"""Creates, lists and revokes API keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from service.authentication.key_sessions import KeySessions
from service.authentication.last_uses import LastUses
from service.errors.credential_errors import ApiKeyNotFound
from service.model.authentication.api_keys import ApiKey, MadeKey, made_key
from service.ports.clock import Clock
from service.ports.stores.api_key_store import ApiKeyStore

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """The properties of a new key. `lifetime` None: it does not expire."""

    name: str
    roles: frozenset[str] = frozenset()
    description: str = ""
    lifetime: timedelta | None = None


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """The administration of keys, and the sessions that stand for them.

    Any thread may call any method. Each asks the store.
    """

    store: ApiKeyStore
    clock: Clock
    uses: LastUses
    sessions: KeySessions

    def create(self, request: KeyRequest, by: str) -> MadeKey:
        """Creates a key. Its text is not available again.

        Raises:
            MetricsStoreDown: the store does not answer. It may have kept a key whose text nobody knows.
        """
        now = self.clock.now()
        made = made_key(
            ApiKey(
                key_id="",
                secret_sha256=b"",
                name=request.name,
                roles=request.roles,
                description=request.description,
                created_at=now,
                created_by=by,
                expires_at=_expiry(now, request.lifetime),
            )
        )
        self.store.add(made.key)
        _log.info("api_key_created", key_id=made.key.key_id, principal=request.name, by=by)
        return made

    def newest(self, limit: int) -> Sequence[ApiKey]:
        """Returns the newest keys, also expired and revoked ones.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        return self.store.newest(limit)

    def revoke(self, key_id: str, by: str) -> ApiKey:
        """Revokes a key. A second call changes nothing.

        Raises:
            ApiKeyNotFound: there is no such key.
            MetricsStoreDown: the store does not answer.
        """
        revoked = self.store.revoke(key_id, by)
        if revoked is None:
            raise ApiKeyNotFound
        _log.info("api_key_revoked", key_id=key_id, principal=revoked.name, by=by)
        return revoked


def _expiry(now: datetime, lifetime: timedelta | None) -> datetime | None:
    return None if lifetime is None else now + lifetime
