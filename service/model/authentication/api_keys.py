"""API keys: `sluice_<id>_<secret>`. The gateway keeps the id and the SHA-256 of the secret."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime

from service.errors import ApiKeyExpired, ApiKeyInvalid, ApiKeyRevoked

PREFIX = "sluice_"
ID_BYTES, SECRET_BYTES = 8, 32
_KEY = re.compile(r"sluice_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_NO_HASH = bytes(32)
"""Compared with the secret of a key that does not exist. No text has this hash."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is stored. `roles` are those of its principal. Times are in UTC."""

    key_id: str
    secret_sha256: bytes = field(repr=False)
    name: str
    roles: frozenset[str]
    description: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    revoked_by: str | None = None


@dataclass(frozen=True, slots=True)
class SentKey:
    """A key as a caller sends it. Its `repr` does not show the secret."""

    key_id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key, and its whole text, which is not stored anywhere."""

    key: ApiKey
    text: str = field(repr=False)


def sent_key(text: str) -> SentKey | None:
    """Returns the parts of a key. None: the text is not a key.

    >>> sent_key("sluice_0123456789abcdef_" + "A" * 43)
    SentKey(key_id='0123456789abcdef')
    >>> sent_key("sluice_1_2")
    """
    found = _KEY.fullmatch(text)
    return None if found is None else SentKey(found[1], found[2])


def made_key(unsecret: ApiKey) -> MadeKey:
    """Returns the key with a new id and a new secret."""
    key_id, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    key = replace(unsecret, key_id=key_id, secret_sha256=_hash(secret))
    return MadeKey(key, f"{PREFIX}{key_id}_{secret}")


def check_key(sent: SentKey, key: ApiKey | None, now: datetime) -> ApiKey:
    """Returns the key if its secret is right and it is valid. A missing key takes as long as a wrong secret.

    Raises:
        ApiKeyInvalid: there is no key, or the secret is wrong.
        ApiKeyExpired: the key has expired.
        ApiKeyRevoked: the key was revoked.
    """
    is_right = hmac.compare_digest(_hash(sent.secret), _NO_HASH if key is None else key.secret_sha256)
    if key is None or not is_right:
        raise ApiKeyInvalid
    # Only a caller with the right secret learns more.
    if key.revoked_at is not None:
        raise ApiKeyRevoked
    if key.expires_at is not None and key.expires_at <= now:
        raise ApiKeyExpired
    return key


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
