from __future__ import annotations

from dataclasses import dataclass

import pytest
from prometheus_client import CollectorRegistry

from api.bootstrap.settings import Settings
from api.sql_protocols.audited_calls import AuditedCalls
from api.sql_protocols.listing import Listing
from api.sql_protocols.login import ProtocolCaller
from api.sql_protocols.sessions import ProtocolSessions
from api.sql_protocols.statement_runs import Statements
from service.audit.audited_statements import without_text
from service.model.authentication.principals import Principal, PrincipalKind
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import FakeGateway
from tests.fakes.queries import NOON

KIM = ProtocolCaller(Principal("kim", PrincipalKind.TOKEN), "10.0.0.7")
LOU = ProtocolCaller(Principal("lou", PrincipalKind.TOKEN), "10.0.0.8")


@dataclass(frozen=True)
class Parts:
    """The shared modules over a gateway in memory."""

    gateway: FakeGateway
    sessions: ProtocolSessions
    statements: Statements
    listing: Listing
    clock: FakeClock
    settings: Settings


def parts_of(settings: Settings) -> Parts:
    gateway, clock = FakeGateway(), FakeClock(NOON)
    audited = AuditedCalls(lambda: gateway, clock, is_enabled=settings.audit)
    return Parts(
        gateway,
        ProtocolSessions(lambda: gateway, settings, audited),
        Statements(lambda: gateway, settings, clock, audited, without_text),
        Listing(lambda: gateway, settings),
        clock,
        settings,
    )


@pytest.fixture
def parts() -> Parts:
    return parts_of(Settings(default_schema="tpcds"))


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()
