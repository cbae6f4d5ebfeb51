"""Sessions of browsers: credentials of a short life, each of which stands for an API key."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class KeySession:
    """A session as it is stored. `key_id` is the key that it stands for. Times are in UTC."""

    session_id: str
    secret_sha256: bytes = field(repr=False)
    key_id: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A new session, and its whole text, which is not stored anywhere."""

    session: KeySession
    text: str = field(repr=False)
