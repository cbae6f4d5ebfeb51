"""API keys: `sluice_<id>_<secret>`. The gateway keeps the id and the SHA-256 of the secret."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

PREFIX = "sluice_"
ID_BYTES, SECRET_BYTES = 8, 32
_KEY = re.compile(r"sluice_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


class StoredCredential(Protocol):
    """The stored part of a key, or of a session that has the form of a key. Times are in UTC."""

    @property
    def key_id(self) -> str:
        """The id of the credential, or of the key that it stands for."""
        ...

    @property
    def secret_sha256(self) -> bytes:
        """The hash of its secret."""
        ...

    @property
    def expires_at(self) -> datetime | None:
        """When it expires. None: never."""
        ...

    @property
    def revoked_at(self) -> datetime | None:
        """When it was revoked. None: it was not."""
        ...


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
    key = replace(unsecret, key_id=key_id, secret_sha256=hash_of(secret))
    return MadeKey(key, f"{PREFIX}{key_id}_{secret}")


def hash_of(secret: str) -> bytes:
    """Returns what is stored of a secret."""
    return hashlib.sha256(secret.encode()).digest()
