"""Audits the login of a user who comes back from an issuer: no credential came before its route."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from starlette.types import Scope

from api.http.auditing.audit_middleware import origin_of
from service.audit.outcomes import outcome_of
from service.audited import AuditedRequest, serving
from service.errors.gateway_error import GatewayError
from service.model.audit.events import Action, AuditEvent
from service.ports.clock import Clock
from service.ports.stores.audit_log import AuditTrail


@contextmanager
def audited_login(trail: AuditTrail, clock: Clock, scope: Scope) -> Iterator[None]:
    """Writes the event of a login that ends within it, by the principal in the request's state.

    Logins that fail before are summed up, as all failed authentications are.

    Raises:
        AuditLogFull: there is no place for the event, so nobody may log in.
    """
    trail.reserve()
    request, at, began_s = AuditedRequest(origin_of(scope)), clock.now(), time.perf_counter()
    error_code: str | None = GatewayError.code
    try:
        with serving(request):
            yield
        error_code = None
    except GatewayError as error:
        error_code = error.code
        raise
    finally:
        event = AuditEvent(
            event_id=uuid4(),
            at=at,
            action=Action.LOGIN,
            outcome=outcome_of(error_code),
            origin=request.origin,
            details=request.details,
            error_code=error_code,
            duration_ms=round((time.perf_counter() - began_s) * 1000),
        )
        trail.write(event, is_reserved=True)
