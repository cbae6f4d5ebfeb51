"""Sums up failed authentications, so that a flood of them is not a flood of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from uuid import uuid4

from service.model.audit.events import Action, AuditEvent, Origin, Outcome
from service.ports.clock import Clock

WINDOW_MS = 60_000
MAX_SUMS = 1_000


@dataclass(frozen=True, slots=True)
class FailedLogin:
    """A failed authentication: the address, the kind of the credentials, and the code of the error."""

    address: str | None
    kind: str
    error_code: str


_OTHERS = FailedLogin(None, "", "")
"""The sum of failures from further addresses, when there are too many."""


@dataclass(slots=True)
class _Sum:
    began_at: datetime
    began_ms: int
    latest_ms: int
    key_id: str | None
    count: int = 0


class FailedLogins:
    """Counts failures by address, kind and code. Each sum becomes an event about a minute after its start.

    At most `max_sums` are kept; failures from further addresses are counted together. Any thread may call
    any method.
    """

    def __init__(self, clock: Clock, max_sums: int = MAX_SUMS) -> None:
        self._clock = clock
        self._max_sums = max_sums
        self._lock = Lock()
        self._sums: dict[FailedLogin, _Sum] = {}

    def note(self, login: FailedLogin, key_id: str | None) -> None:
        """Counts a failure. The event has the key's id only if all its failures have the same."""
        now_ms = self._clock.elapsed_ms()
        with self._lock:
            if login not in self._sums and len(self._sums) >= self._max_sums:
                login = _OTHERS
            found = self._sums.get(login)
            if found is None:
                found = self._sums[login] = _Sum(self._clock.now(), now_ms, now_ms, key_id)
            found.count += 1
            found.latest_ms = now_ms
            if found.key_id != key_id:
                found.key_id = None

    def take(self, is_all: bool) -> Sequence[AuditEvent]:
        """Returns the sums that are a minute old, or all of them, and forgets them."""
        until_ms = self._clock.elapsed_ms() - WINDOW_MS
        with self._lock:
            taken = {
                login: found for login, found in self._sums.items() if is_all or found.began_ms <= until_ms
            }
            for login in taken:
                del self._sums[login]
        return [_event(login, found) for login, found in taken.items()]


def _event(login: FailedLogin, found: _Sum) -> AuditEvent:
    return AuditEvent(
        event_id=uuid4(),
        at=found.began_at,
        action=Action.AUTHENTICATION,
        outcome=Outcome.REFUSED,
        origin=Origin(kind=login.kind, key_id=found.key_id, address=login.address),
        error_code=login.error_code or None,
        duration_ms=found.latest_ms - found.began_ms,
        count=found.count,
    )
