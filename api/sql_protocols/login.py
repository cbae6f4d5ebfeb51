"""Finds the caller of a connection, exactly as HTTP does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.bootstrap.shown_settings import without_credentials
from api.http.authentication.authenticator import Sent
from api.http.authentication.logins import Logins
from service.errors.credential_errors import CredentialFault, CredentialRefused
from service.model.audit.events import Origin
from service.model.authentication.principals import Principal

TOKEN_NAME = "token"
"""The name that goes with every token, for clients that want one."""


@dataclass(frozen=True, slots=True)
class ProtocolCaller:
    """The principal of a connection, and the address that it came from."""

    principal: Principal
    peer: str

    @property
    def name(self) -> str:
        """The caller of its queries and sessions."""
        return self.principal.name

    def origin(self, request_id: str | None = None) -> Origin:
        """Returns who it is, for the audit log."""
        return Origin(
            principal=self.principal.name,
            kind=self.principal.kind.value,
            roles=tuple(sorted(self.principal.roles)),
            caller_class=self.principal.caller_class,
            key_id=self.principal.key_id,
            address=self.peer,
            request_id=None if request_id is None else without_credentials(request_id),
        )


class Login:
    """Authenticates names with passwords, and bearer tokens. A password is an API key or a token.

    Without authentication, everybody is anonymous; the settings allow that on loopback alone. Its methods
    must be called on the event loop's thread, and raise as `Logins.principal` does.
    """

    def __init__(self, logins: Logins) -> None:
        self._logins = logins

    @property
    def is_open(self) -> bool:
        """Whether everybody is anonymous."""
        return self._logins.is_open

    async def by_password(
        self, name: str, password: str, peer: str, certificate: Mapping[str, Any] | None = None
    ) -> ProtocolCaller:
        """Returns the caller with this password. An empty one is none: then the certificate counts.

        Raises:
            CredentialRefused: also if the name is another caller's; empty and `token` go with every password.
        """
        caller = await self._found(password, peer, certificate)
        if not self.is_open:
            check_name(name, caller.principal)
        return caller

    async def by_bearer(
        self, token: str, peer: str, certificate: Mapping[str, Any] | None = None
    ) -> ProtocolCaller:
        """Returns the caller with this API key or token."""
        return await self._found(token, peer, certificate)

    async def _found(self, text: str, peer: str, certificate: Mapping[str, Any] | None) -> ProtocolCaller:
        authorization = [f"Bearer {text}"] if text else []
        principal = await self._logins.principal(Sent(peer, authorization, certificate))
        return ProtocolCaller(principal, peer)


def check_name(name: str, principal: Principal) -> None:
    """Checks that a caller does not name another one: nobody may act in another's name.

    Raises:
        CredentialRefused: it does.
    """
    if name not in ("", TOKEN_NAME, principal.name):
        raise CredentialRefused(
            f"This password is not that of {name[:100]}. Send its caller's name, or the name {TOKEN_NAME}.",
            CredentialFault.PRINCIPAL,
        )
