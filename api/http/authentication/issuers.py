"""Verifies access tokens of the operator's issuers with cached keys."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import structlog
from anyio import CapacityLimiter, to_thread

from service.authentication.signing_keys import SigningKeys, SigningKeyTimes
from service.errors.credential_errors import AccessTokenInvalid, AuthenticationDown, CredentialFault
from service.model.authentication.access_tokens import ReadToken, SigningKey
from service.model.authentication.principals import Principal
from service.ports.clock import Clock
from service.ports.stores.api_key_store import TokenVerifier

FETCHED_AT_ONCE = 4
WAIT_WHILE_DOWN_S = 1.0
"""Shorter, so that requests with made-up tokens do not hold connections while an issuer is down."""
_log = structlog.stdlib.get_logger("api.authentication")


class Issuers:
    """Verifies tokens, and fetches keys. Its methods must be called on the event loop's thread."""

    def __init__(
        self,
        names: Collection[str],
        verifier: TokenVerifier,
        clock: Clock,
        times: SigningKeyTimes,
        max_wait_s: float,
    ) -> None:
        """Takes the operator's names of the issuers. A request waits at most `max_wait_s` for a fetch."""
        self._verifier = verifier
        self._keys = {name: SigningKeys(clock, times) for name in names}
        self._max_wait_s = max_wait_s
        self._fetching: dict[str, asyncio.Task[None]] = {}
        self._threads = CapacityLimiter(FETCHED_AT_ONCE)

    async def principal(self, token: str) -> Principal:
        """Returns the principal of a token. Waits for the issuer only if it may have a key that is unknown.

        Raises:
            AccessTokenInvalid: the token does not come from these issuers, or is not valid.
            AccessTokenExpired: the token is no longer valid.
            AuthenticationDown: the key is unknown, and the issuer does not answer or publishes no keys.
        """
        read = self._verifier.read(token)
        return self._verifier.verify(read, await self.signing_key(read))

    async def signing_key(self, token: ReadToken) -> SigningKey:
        """Returns the key that signed a token. Waits as `principal` does.

        Raises:
            AccessTokenInvalid: the issuer publishes no such key.
            AuthenticationDown: the key is unknown, and the issuer does not answer or publishes no keys.
        """
        keys = self._keys[token.issuer]
        found = keys.find(token.key_id, token.algorithm)
        is_fetching = token.issuer in self._fetching
        if found is not None and not keys.is_stale():
            if keys.is_due():
                self._fetch(token.issuer)
            return found
        if is_fetching or keys.may_fetch():
            # Requests that arrive during the fetch wait for it, too.
            max_wait_s = min(self._max_wait_s, WAIT_WHILE_DOWN_S) if keys.has_failed else self._max_wait_s
            await asyncio.wait([self._fetch(token.issuer)], timeout=max_wait_s)
            found = keys.find(token.key_id, token.algorithm)
        if found is None and (keys.has_failed or not keys.has_keys):
            raise AuthenticationDown(
                "The keys of the access token's issuer are not available. Send the request again."
            )
        if found is None:
            raise AccessTokenInvalid(
                "The access token is signed with a key that is not known.", CredentialFault.UNKNOWN_KEY
            )
        return found

    def _fetch(self, issuer: str) -> asyncio.Task[None]:
        task = self._fetching.get(issuer)
        if task is None:
            self._keys[issuer].begin_fetch()
            task = self._fetching[issuer] = asyncio.create_task(self._fetched(issuer))
        return task

    async def _fetched(self, issuer: str) -> None:
        try:
            self._keys[issuer].take(
                await to_thread.run_sync(self._verifier.fetch, issuer, limiter=self._threads)
            )
        except AuthenticationDown as down:
            self._keys[issuer].fail()
            _log.warning("issuer_down", issuer=issuer, detail=down.detail)
        except Exception:  # noqa: BLE001 — waiting requests need an answer, and the next fetch must be possible
            self._keys[issuer].fail()
            _log.exception("issuer_not_asked", issuer=issuer)
        finally:
            del self._fetching[issuer]
