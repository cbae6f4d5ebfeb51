"""Builds what a server of a protocol needs from the app's edge."""

from __future__ import annotations

from dataclasses import dataclass

from api.http.protocol_servers import ProtocolEdge
from api.sql_protocols.audited_calls import AuditedCalls
from api.sql_protocols.listing import Listing
from api.sql_protocols.login import Login
from api.sql_protocols.sessions import ProtocolSessions
from api.sql_protocols.statement_runs import Statements
from service.gateway import Gateway


@dataclass(frozen=True, slots=True)
class SharedParts:
    """Login, sessions, statements and listings of one server."""

    login: Login
    sessions: ProtocolSessions
    statements: Statements
    listing: Listing


def shared_parts(edge: ProtocolEdge) -> SharedParts:
    """Returns the parts over the gateway that the app holds, which may not be built yet."""
    settings = edge.settings

    def gateway() -> Gateway:
        return edge.access.gateway

    audited = AuditedCalls(gateway, edge.clock, is_enabled=settings.audit)
    return SharedParts(
        Login(edge.logins),
        ProtocolSessions(gateway, settings, audited),
        Statements(gateway, settings, edge.clock, audited, edge.shown_statement),
        Listing(gateway, settings),
    )
