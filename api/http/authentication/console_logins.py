"""Logs users of the console in at their issuers: leads browsers there, and finds out who comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import structlog
from anyio import from_thread

from api.http.authentication.issuers import Issuers
from api.http.lane import Lane
from service.authentication.failure_counts import FailureCounts
from service.errors.credential_errors import (
    AccessTokenInvalid,
    AuthenticationDown,
    CredentialFault,
    LoginExpired,
    LoginNotBegun,
    LoginRefused,
    LoginTokenInvalid,
    LoginUnknown,
    TooManyFailures,
)
from service.model.authentication.code_flow import IssuedTokens, LoginEndpoints, shown_error
from service.model.authentication.issuer_sessions import LoggedIn
from service.model.authentication.pending_logins import PendingLogin, new_login, pending_login
from service.ports.clock import Clock
from service.ports.stores.login_issuers import LoginIssuers

T = TypeVar("T")
MAX_CODE_CHARACTERS = 4_096
CALLS_OF_ONE_PEER = 2
SPARE_CALLS = 2
_CLOCKS_DIFFER_S = 60
"""Another replica may have begun the login, by a clock that is ahead."""
_log = structlog.stdlib.get_logger("api.authentication")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginRules:
    """The operator's rules of logins.

    `urls` has the `iss` of each issuer whose users may log in, by the operator's name for it. `console_url`
    is the origin of the console. A user may take `timeout_s`, and a request to an issuer `fetch_timeout_s`.
    Endpoints may get as old as `endpoints_age_s`. An issuer that does not answer rests for `cooldown_s`.
    Beyond `failures_per_minute`, codes from one address are not sent to an issuer.
    """

    urls: Mapping[str, str]
    console_url: str
    timeout_s: int
    fetch_timeout_s: float
    endpoints_age_s: float
    cooldown_s: float
    failures_per_minute: int

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the console by TLS."""
        return self.console_url.startswith("https:")

    def redirect_uri(self, issuer: str) -> str:
        """Returns the address that the issuer leads browsers back to. Each issuer has its own."""
        return f"{self.console_url}/console/login/{issuer}/callback"


@dataclass(frozen=True, slots=True)
class CameBack:
    """The fields that a browser brought back. None: the field is not there. Empty: it is there twice."""

    state: str | None
    code: str | None
    issuer_url: str | None
    error: str | None


class ConsoleLogins:
    """The logins of all issuers. Its methods must be called on the event loop's thread.

    Requests to issuers are few at once, and take turns by the address that caused them. If codes of an
    address were refused too often, it has to wait: strangers could make an issuer stop serving this gateway.
    """

    def __init__(self, rules: LoginRules, issuers: LoginIssuers, keys: Issuers, clock: Clock) -> None:
        self.rules = rules
        self._issuers = issuers
        self._keys = keys
        self.clock = clock
        wait_s = 2 * rules.fetch_timeout_s
        self._max_wait_s = wait_s + rules.fetch_timeout_s
        self._calls = Lane(CALLS_OF_ONE_PEER, wait_s, AuthenticationDown, SPARE_CALLS)
        self._failures = FailureCounts(clock, rules.failures_per_minute)
        self._slow: set[asyncio.Task[Any]] = set()
        self._endpoints: dict[str, tuple[int, LoginEndpoints]] = {}
        self._failed_ms: dict[str, int] = {}
        self._asking = {name: asyncio.Lock() for name in rules.urls}

    async def begin(self, issuer: str, peer: str) -> tuple[str, PendingLogin]:
        """Returns the issuer's address for a new login, and the login, which the browser has to keep.

        Raises:
            LoginUnknown: nobody logs in by this issuer.
            AuthenticationDown: the issuer does not answer.
        """
        self._check(issuer)
        endpoints = await self._endpoints_of(issuer, peer)
        login = new_login(issuer, self._now_s())
        sent = {
            "redirect_uri": self.rules.redirect_uri(issuer),
            "state": login.state,
            "nonce": login.nonce,
            "code_challenge": login.challenge,
            "code_challenge_method": "S256",
        }
        return self._issuers.address(issuer, endpoints, sent), login

    def continued(self, issuer: str, kept: str | None, back: CameBack) -> PendingLogin:
        """Returns the login that a browser began, if it comes back from it.

        Raises:
            LoginUnknown: nobody logs in by this issuer.
            LoginNotBegun: the browser has begun no login, or another one.
        """
        self._check(issuer)
        if kept is None:
            raise LoginNotBegun(reason=CredentialFault.MISSING)
        login = pending_login(kept)
        if login is None or login.issuer != issuer or back.state is None or not login.is_state(back.state):
            raise LoginNotBegun
        return login

    async def finish(self, login: PendingLogin, back: CameBack, peer: str) -> LoggedIn:
        """Returns the user of a login that was continued.

        Raises:
            LoginExpired: it took too long.
            LoginRefused: the issuer has refused the user or the code, or another issuer has answered.
            LoginTokenInvalid: the issuer's tokens do not say who this is.
            TooManyFailures: too many codes from this address were refused.
            AuthenticationDown: the issuer does not answer.
        """
        age_s = self._now_s() - login.begun_s
        if not -_CLOCKS_DIFFER_S <= age_s <= self.rules.timeout_s:
            raise LoginExpired
        endpoints = await self._endpoints_of(login.issuer, peer)
        # RFC 9207. Otherwise another issuer could get the code of this one.
        is_named = back.issuer_url is not None or endpoints.names_itself
        if is_named and back.issuer_url != self.rules.urls[login.issuer]:
            raise LoginRefused(reason=CredentialFault.ISSUER)
        if back.error is not None:
            _log.warning("login_refused", issuer=login.issuer, reason=shown_error(back.error))
        if back.error is not None or not back.code or len(back.code) > MAX_CODE_CHARACTERS:
            raise LoginRefused
        return await self._user(login, endpoints, back.code, peer)

    async def _user(self, login: PendingLogin, endpoints: LoginEndpoints, code: str, peer: str) -> LoggedIn:
        redirect_uri = self.rules.redirect_uri(login.issuer)
        redeem = partial(self._issuers.redeem, login.issuer, endpoints, code, login.verifier, redirect_uri)
        try:
            tokens = self._issuers.read(login.issuer, await self._within(self._redeemed(redeem, peer)))
            keys = [await self._keys.signing_key(token) for token in tokens]
            user = self._issuers.verify(login.issuer, tokens, tuple(keys), login.nonce)
        except AccessTokenInvalid as error:
            raise LoginTokenInvalid(reason=error.reason) from None
        except AuthenticationDown as down:
            _log.warning("issuer_down", issuer=login.issuer, detail=down.detail)
            raise
        # By the leeway, a token counts for seconds more. Its session would be over before it begins.
        if user.until <= self.clock.now():
            raise LoginTokenInvalid(reason=CredentialFault.EXPIRED)
        return user

    async def _redeemed(self, redeem: Callable[[], IssuedTokens], peer: str) -> IssuedTokens:
        def in_turn() -> IssuedTokens:
            # Only now: other codes of this address may have been refused while this one waited.
            from_thread.run_sync(self._note_attempt, peer)
            return redeem()

        tokens = await self._calls.run(in_turn, caller=peer)
        self._failures.forgive(peer)
        return tokens

    def _note_attempt(self, peer: str) -> None:
        """Counts an attempt as a failure until it succeeds."""
        wait_s = self._failures.wait_s(peer)
        if wait_s:
            raise TooManyFailures(retry_after_s=wait_s)
        self._failures.add(peer)

    async def _within(self, call: Coroutine[Any, Any, T]) -> T:
        """Returns the call's result. A call that takes too long keeps its place, but nobody waits for it."""
        task = asyncio.create_task(call)
        done, _ = await asyncio.wait({task}, timeout=self._max_wait_s)
        if not done:
            self._slow.add(task)
            task.add_done_callback(self._forget)
            raise AuthenticationDown("The issuer of this login answers too slowly. Try again.")
        return task.result()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._slow.discard(task)
        if not task.cancelled():
            # Otherwise the loop logs that nobody has asked for it.
            task.exception()

    async def _endpoints_of(self, issuer: str, peer: str) -> LoginEndpoints:
        async with self._asking[issuer]:
            known = self._endpoints.get(issuer)
            if known is not None and not self._is_older_than(known[0], self.rules.endpoints_age_s):
                return known[1]
            failed_ms = self._failed_ms.get(issuer)
            if failed_ms is None or self._is_older_than(failed_ms, self.rules.cooldown_s):
                known = await self._ask(issuer, peer) or known
            if known is None:
                raise AuthenticationDown("The issuer of this login does not answer. Try again.")
            return known[1]

    async def _ask(self, issuer: str, peer: str) -> tuple[int, LoginEndpoints] | None:
        try:
            found = await self._within(self._calls.run(partial(self._issuers.endpoints, issuer), caller=peer))
        except AuthenticationDown as down:
            self._failed_ms[issuer] = self.clock.elapsed_ms()
            _log.warning("issuer_down", issuer=issuer, detail=down.detail)
            return None
        self._failed_ms.pop(issuer, None)
        self._endpoints[issuer] = self.clock.elapsed_ms(), found
        return self._endpoints[issuer]

    def _check(self, issuer: str) -> None:
        if issuer not in self.rules.urls:
            raise LoginUnknown

    def _is_older_than(self, moment_ms: int, seconds: float) -> bool:
        return self.clock.elapsed_ms() - moment_ms >= seconds * 1000

    def _now_s(self) -> int:
        return int(self.clock.now().timestamp())
