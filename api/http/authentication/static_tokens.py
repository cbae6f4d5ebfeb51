"""Finds callers by the tokens of `api_tokens`. The gateway knows only their SHA-256."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping


class StaticTokens:
    """Finds callers by their tokens."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        """Takes caller → SHA-256 (hex) of the token."""
        self._tokens = dict(tokens)

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def caller(self, token: str) -> str | None:
        """Returns the caller with this token. None: no caller has it."""
        sent = hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
        # All tokens are compared, each in constant time, so that the time taken reveals nothing.
        found = [name for name, known in self._tokens.items() if hmac.compare_digest(known, sent)]
        return found[0] if found else None
