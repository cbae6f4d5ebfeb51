"""Audits what the clients of a protocol do, as requests by HTTP are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import uuid4

from api.sql_protocols.login import ProtocolCaller
from service.audit.outcomes import outcome_of
from service.audited import AuditedRequest, serving
from service.errors.gateway_error import GatewayError
from service.gateway import Gateway
from service.model.audit.events import Action, AuditEvent
from service.ports.clock import Clock


class AuditedCalls:
    """Writes one event for each call, unless a query was accepted: its record becomes the event.

    Any thread may call its methods.
    """

    def __init__(self, gateway: Callable[[], Gateway], clock: Clock, *, is_enabled: bool) -> None:
        self._gateway = gateway
        self._clock = clock
        self._is_enabled = is_enabled

    @contextmanager
    def auditing(self, action: Action, caller: ProtocolCaller) -> Iterator[None]:
        """Reserves a place for the event of what is done within, and writes it.

        Raises:
            AuditLogFull: there is no place. Nothing is done.
        """
        if not self._is_enabled:
            yield
            return
        trail = self._gateway().audit.trail
        trail.reserve()
        request = AuditedRequest(caller.origin())
        at, began_s, error_code = self._clock.now(), time.perf_counter(), None
        try:
            with serving(request):
                yield
        except BaseException as error:
            error_code = error.code if isinstance(error, GatewayError) else GatewayError.code
            raise
        finally:
            if not request.is_handed_over:
                trail.write(_event(action, request, error_code, at, began_s), is_reserved=True)


def _event(
    action: Action, request: AuditedRequest, error_code: str | None, at: datetime, began_s: float
) -> AuditEvent:
    return AuditEvent(
        event_id=uuid4(),
        at=at,
        action=action,
        outcome=outcome_of(error_code),
        origin=request.origin,
        details=request.details,
        error_code=error_code,
        duration_ms=round((time.perf_counter() - began_s) * 1000),
    )
