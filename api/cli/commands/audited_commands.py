"""Makes the audit events of commands, which work on the metrics store without a gateway."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from uuid import uuid4

from service.model.audit.events import Action, AuditEvent, Details, Origin, Outcome

KIND = "cli"


def operator() -> str:
    """Returns the operator's name on this machine, as keys and events have it."""
    try:
        return f"{KIND}:{getpass.getuser()}"
    except (KeyError, OSError):
        return KIND


def command_event(action: Action, target: str | None = None, error_code: str | None = None) -> AuditEvent:
    """Returns the event of a command that has ended."""
    return AuditEvent(
        event_id=uuid4(),
        at=datetime.now(UTC),
        action=action,
        outcome=Outcome.SUCCEEDED if error_code is None else Outcome.REFUSED,
        origin=Origin(operator(), KIND),
        details=Details(target=target),
        error_code=error_code,
    )
