"""Finds who calls: by a password, a token, or the token that this server gave for a password."""

from __future__ import annotations

import asyncio
import base64
import binascii
import concurrent.futures
import hashlib
import re
import secrets
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from uuid import UUID

from api.flight.calls.expiring import Expiring, ExpiryBounds
from api.flight.calls.flight_calls import Head
from api.flight.wire.flight_errors import FlightBusy
from api.sql_protocols.login import Login, ProtocolCaller
from service.errors.credential_errors import AuthenticationDown, CredentialFault, CredentialRefused
from service.errors.unavailable import ShuttingDown
from service.ports.clock import Clock

LOGIN_WITHIN_S = 15.0
HANDSHAKE_PEER = "flight-handshake"
"""The address of all handshakes: gRPC does not tell it there."""
SESSION_COOKIE = "arrow_flight_session_id"
_PREFIX = "flight-"
_TOKEN_BYTES = 32
_PEER = re.compile(r"ipv[46]:(?P<host>.+):\d+")


@dataclass(slots=True)
class Connected:
    """A client that logged in: its credential, which every call is checked by, and its session."""

    secret: str = field(repr=False)
    name: str | None = None
    """The name that came with a password. None: the secret is a bearer token."""
    session_id: UUID | None = None
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Held while a session is made."""


@dataclass(frozen=True, slots=True)
class KnownCall:
    """A call whose caller is known. `connected` is None for a client that sends its own credential."""

    caller: ProtocolCaller
    head: Head
    secret: str = field(repr=False, default="")
    name: str | None = None
    """The name that came with a password."""
    connected: Connected | None = None
    token_id: str | None = None
    """Where `connected` is kept."""

    @property
    def session_id(self) -> UUID | None:
        """The session that its client has, if any."""
        if self.connected is not None:
            return self.connected.session_id
        return session_in(self.head)


class Callers:
    """Finds callers. Any thread may call any method, but not that of the event loop.

    Args:
        login: authenticates, on the event loop.
        loop: returns the event loop; None before it runs and after it has ended.
        bounds: how many clients are known, and for how long without a call.
        clock: the time.
    """

    def __init__(
        self,
        login: Login,
        loop: Callable[[], asyncio.AbstractEventLoop | None],
        bounds: ExpiryBounds,
        clock: Clock,
    ) -> None:
        self._login = login
        self._loop = loop
        self._connected: Expiring[str, Connected] = Expiring(bounds, clock, FlightBusy, drops_oldest=True)

    def __len__(self) -> int:
        """How many clients are known by a token of ours."""
        return len(self._connected)

    def handshake(self, head: Head) -> str:
        """Authenticates by the password of a handshake, and returns a token for the calls after it.

        Raises:
            CredentialRefused, TooManyFailures, PartDown: as for every login.
            FlightBusy: too many clients are known.
        """
        name, password = _password(head) or ("", "")
        caller = self._ask(self._login.by_password(name, password, HANDSHAKE_PEER))
        return self.connect(caller, Connected(password, name))

    def connect(self, caller: ProtocolCaller, connected: Connected) -> str:
        """Returns a new token, by which the client is known from now on.

        Raises:
            FlightBusy: too many clients are known.
        """
        token = _PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
        self._connected.add(_digest(token), caller.name, connected)
        return token

    def forget(self, call: KnownCall) -> None:
        """Forgets the token that the call came with."""
        if call.token_id is not None:
            self._connected.remove(call.token_id)

    def find(self, head: Head, peer: str) -> KnownCall:
        """Returns the call with its caller. `peer` is as gRPC tells it.

        Raises:
            CredentialRefused, TooManyFailures, PartDown: as for every login.
        """
        address = address_of(peer)
        basic = _password(head)
        if basic is not None:
            caller = self._ask(self._login.by_password(*basic, address))
            return KnownCall(caller, head, secret=basic[1], name=basic[0])
        token = _bearer(head)
        if not token.startswith(_PREFIX):
            return KnownCall(self._ask(self._login.by_bearer(token, address)), head, secret=token)
        token_id = _digest(token)
        connected = self._connected.find(token_id)
        if connected is None:
            if self._login.is_open:
                return KnownCall(self._ask(self._login.by_bearer("", address)), head)
            raise CredentialRefused(
                "This connection is no longer known, because it was not used. Connect again.",
                CredentialFault.EXPIRED,
            )
        caller = self._again(connected, address)
        return KnownCall(caller, head, connected=connected, token_id=token_id)

    def check_again(self, call: KnownCall, peer: str) -> None:
        """Checks that the credential of a call that has lasted for a while is still its caller's.

        Raises:
            CredentialRefused, TooManyFailures, PartDown: as for every login.
        """
        if call.connected is None:
            now = self.find(call.head, peer).caller
        else:
            # Its token may have been forgotten while it was called.
            now = self._again(call.connected, address_of(peer))
        if now.name != call.caller.name:
            raise CredentialRefused("This credential is now another caller's.", CredentialFault.PRINCIPAL)

    def _again(self, connected: Connected, address: str) -> ProtocolCaller:
        """Checks the credential of a connection again: it may have been revoked."""
        if connected.name is None:
            return self._ask(self._login.by_bearer(connected.secret, address))
        return self._ask(self._login.by_password(connected.name, connected.secret, address))

    def _ask(self, login: Coroutine[Any, Any, ProtocolCaller]) -> ProtocolCaller:
        loop = self._loop()
        if loop is None or loop.is_closed():
            login.close()
            raise ShuttingDown
        asked = asyncio.run_coroutine_threadsafe(login, loop)
        try:
            return asked.result(LOGIN_WITHIN_S)
        except concurrent.futures.TimeoutError:
            asked.cancel()
            raise AuthenticationDown from None
        except concurrent.futures.CancelledError:
            raise ShuttingDown from None


def address_of(peer: str) -> str:
    """Returns the address in gRPC's text of a peer.

    >>> address_of("ipv4:127.0.0.1:5000"), address_of("ipv6:%5B::1%5D:5000"), address_of("unix:")
    ('127.0.0.1', '::1', 'unix:')
    """
    found = _PEER.fullmatch(peer)
    if found is None:
        return peer
    return found["host"].replace("%5B", "").replace("%5D", "").strip("[]")


def session_in(head: Head) -> UUID | None:
    """Returns the session that a client's cookie names; None: it has none.

    >>> session_in(Head(cookies=("a=b; arrow_flight_session_id=12345678-1234-5678-1234-567812345678",)))
    UUID('12345678-1234-5678-1234-567812345678')
    """
    for text in head.cookies:
        try:
            found = SimpleCookie(text).get(SESSION_COOKIE)
            if found is not None:
                return UUID(found.value)
        except (CookieError, ValueError):
            continue
    return None


def _password(head: Head) -> tuple[str, str] | None:
    """Returns name and password of the scheme Basic. None: the call has another scheme, or none."""
    if len(head.authorization) != 1:
        return None
    scheme, _, text = head.authorization[0].partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        # Go's driver leaves the padding out.
        padded = text.strip() + "=" * (-len(text.strip()) % 4)
        name, colon, password = base64.b64decode(padded, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        colon = name = password = ""
    if not colon:
        raise CredentialRefused("The name and password cannot be read.", CredentialFault.MALFORMED)
    return name, password


def _bearer(head: Head) -> str:
    """Returns the token of the call; an empty text: it has none."""
    if not head.authorization:
        return ""
    scheme, _, text = head.authorization[0].partition(" ")
    if len(head.authorization) > 1 or scheme.lower() != "bearer" or not text.strip():
        raise CredentialRefused("Send one name with a password, or one token.", CredentialFault.MALFORMED)
    return text.strip()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
