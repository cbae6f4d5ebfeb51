"""The client of a call: who it is, and whether it still waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from api.sql_protocols.login import ProtocolCaller
from service.errors import CredentialFault, CredentialRefused


@dataclass(slots=True)
class Client:
    """A connection, or a request over HTTP.

    `found` is None on a connection without SASL, until its first session names a caller. `sessions` are those
    that were opened here: they end with the connection.
    """

    peer: str
    found: ProtocolCaller | None
    is_gone: Callable[[], bool] = lambda: False
    certificate: Mapping[str, Any] | None = None
    sessions: set[UUID] = field(default_factory=set)

    @property
    def caller(self) -> ProtocolCaller:
        """Who it is.

        Raises:
            CredentialRefused: it has not said so yet.
        """
        if self.found is None:
            raise CredentialRefused("Open a session first.", CredentialFault.MISSING)
        return self.found
