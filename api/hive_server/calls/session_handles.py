"""Handles of sessions. They carry what a session's calls have to know, so that any replica can serve them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from service.errors.session_errors import SessionNotFound

_ID_BYTES = 16
_DIGEST_BYTES = 14


@dataclass(frozen=True, slots=True)
class SessionHandle:
    """A session of the gateway, and what its client is like.

    `protocol` is the version of the protocol. `is_plain`: the client set nothing when it opened the session.
    """

    session_id: UUID
    protocol: int
    is_plain: bool


def written_handle(handle: SessionHandle, caller: str) -> dict[str, Any]:
    """Returns the fields of a handle. Its secret is right for this caller alone."""
    facts = bytes([handle.protocol, handle.is_plain])
    secret = facts + _digest(handle.session_id, facts, caller)
    return {"sessionId": {"guid": handle.session_id.bytes, "secret": secret}}


def read_handle(request: Mapping[str, Any], caller: str) -> SessionHandle:
    """Returns the handle in a request.

    Raises:
        SessionNotFound: there is none, or it is not this caller's.
    """
    found = request.get("sessionHandle", {}).get("sessionId", {})
    guid, secret = found.get("guid", b""), found.get("secret", b"")
    if len(guid) != _ID_BYTES or len(secret) != _ID_BYTES:
        raise SessionNotFound
    session_id, facts = UUID(bytes=guid), secret[:2]
    if not hmac.compare_digest(secret[2:], _digest(session_id, facts, caller)):
        raise SessionNotFound
    return SessionHandle(session_id, facts[0], bool(facts[1]))


def _digest(session_id: UUID, facts: bytes, caller: str) -> bytes:
    said = session_id.bytes + facts + caller.encode(errors="surrogatepass")
    return hashlib.blake2b(said, digest_size=_DIGEST_BYTES).digest()
