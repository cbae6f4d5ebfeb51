"""The client of a call: who it is, and whether it still waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from api.sql_protocols.login import Login, ProtocolCaller
from service.errors.credential_errors import CredentialFault, CredentialRefused, TooManyFailures

LoginAgain = Callable[[], Awaitable[ProtocolCaller]]
"""Authenticates with the credentials that a connection began with. Raises as `Login.by_password` does."""


@dataclass(slots=True)
class Client:
    """A connection, or a request over HTTP.

    `found` is None on a connection without SASL, until its first session names a caller. `sessions` are those
    that were opened here: they end with the connection. `login_again` is None for a request over HTTP, which
    has brought its own credentials. `is_refused`: these are no longer accepted, so the connection has to end.
    """

    peer: str
    found: ProtocolCaller | None
    is_gone: Callable[[], bool] = lambda: False
    certificate: Mapping[str, Any] | None = None
    sessions: set[UUID] = field(default_factory=set)
    login_again: LoginAgain | None = field(default=None, repr=False)
    is_refused: bool = False

    @property
    def caller(self) -> ProtocolCaller:
        """Who it is.

        Raises:
            CredentialRefused: it has not said so yet.
        """
        if self.found is None:
            raise CredentialRefused("Open a session first.", CredentialFault.MISSING)
        return self.found

    def password_login(self, login: Login, name: str, password: str) -> LoginAgain:
        """Returns what authenticates by this password, now and later."""
        return partial(login.by_password, name, password, self.peer, self.certificate)

    async def check_again(self) -> None:
        """Authenticates again: a connection may outlive its key, its token, its certificate or its roles.

        Raises:
            CredentialRefused, TooManyFailures: the credentials are not accepted any more.
            PartDown: the store of keys, or the issuer, does not answer.
        """
        if self.found is None or self.login_again is None:
            return
        before = self.found
        try:
            self.found = await self.login_again()
            if self.found.name != before.name:
                raise CredentialRefused("This password is now another caller's.", CredentialFault.PRINCIPAL)
        except (CredentialRefused, TooManyFailures):
            self.found, self.is_refused = before, True
            raise
