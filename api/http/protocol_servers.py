"""Servers of other protocols, which live as long as the app and share what it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from fastapi import APIRouter
from prometheus_client import CollectorRegistry

from api.bootstrap.settings import Settings
from api.http.authentication.logins import Logins
from api.http.gateway_access import GatewayAccess
from api.http.waiting import Waiting
from service.audit.audited_statements import ShownStatement
from service.model.operations.health import PartHealth
from service.ports.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolEdge:
    """The parts of the app that a server of another protocol shares."""

    settings: Settings
    access: GatewayAccess
    logins: Logins
    waiting: Waiting
    clock: Clock
    shown_statement: ShownStatement
    registry: CollectorRegistry
    """The metrics of this process."""


class ProtocolServer(Protocol):
    """A server of another protocol. Its methods are called on the event loop's thread."""

    @property
    def router(self) -> APIRouter | None:
        """The routes that it has in the app. None: it has none."""
        ...

    async def start(self) -> None:
        """Begins to listen, while the gateway is still built.

        Raises:
            CannotStart: its address cannot be bound.
        """
        ...

    async def stop(self) -> None:
        """Ends its connections, and cancels what they run. Returns within a bound."""
        ...

    def health(self) -> PartHealth | None:
        """Its state, for `/readyz`. None: it does not listen on an address of its own."""
        ...


ProtocolFactory = Callable[[ProtocolEdge], ProtocolServer]
