"""Slows down guesses, but not callers who have authenticated before."""

from __future__ import annotations

import hmac
import secrets

from cachetools import LRUCache

from service.authentication.failure_counts import FailureCounts
from service.errors.credential_errors import CredentialRefused, TooManyFailures

MAX_PROVEN = 10_000
_DIGEST_BYTES = 16


class Attempts:
    """Failures by address and by key, and the tokens that were right before.

    An address may be that of a proxy, with good callers and a bad one behind it. API keys and signed tokens
    cannot be guessed, so they are always verified: an address that fails too often only gets a 429 for its
    failures. Tokens of `api_tokens` may be short words. From an address that fails too often, the gateway
    accepts only those that were right before.
    """

    def __init__(self, peers: FailureCounts, keys: FailureCounts, max_proven: int = MAX_PROVEN) -> None:
        # Counted separately, so that made-up key ids do not evict addresses.
        self._peers, self._keys = peers, keys
        self._salt = secrets.token_bytes(32)
        self._proven: LRUCache[bytes, None] = LRUCache(max_proven)

    def may_guess(self, peer: str, token: str) -> bool:
        """Whether a text may be compared with the tokens of `api_tokens`."""
        return self._peers.wait_s(peer) == 0 or self._digest(token) in self._proven

    def prove(self, token: str) -> None:
        """Notes that the text is a token of `api_tokens`."""
        self._proven[self._digest(token)] = None

    def refused(
        self, error: CredentialRefused, peer: str, key_id: str | None
    ) -> CredentialRefused | TooManyFailures:
        """Counts a failure, and returns the error to answer with."""
        wait_s = self._peers.wait_s(peer)
        self._peers.add(peer)
        if key_id is not None:
            wait_s = max(wait_s, self._keys.wait_s(key_id))
            self._keys.add(key_id)
        return TooManyFailures(retry_after_s=wait_s) if wait_s else error

    def _digest(self, token: str) -> bytes:
        sent = token.encode("utf-8", "surrogatepass")
        return hmac.digest(self._salt, sent, "sha256")[:_DIGEST_BYTES]
