"""The audited request that the current thread or task serves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from service.model.audit.events import Details, Origin


@dataclass(slots=True)
class AuditedRequest:
    """A request whose event is written at its end. Code that knows more about it sets `details`.

    `is_handed_over`: other code writes the event, in the reserved place. A query is handed over, because it
    may end after its request.
    """

    origin: Origin
    details: Details = field(default_factory=Details)
    is_handed_over: bool = False


_current: ContextVar[AuditedRequest | None] = ContextVar("audited", default=None)


def current() -> AuditedRequest | None:
    """Returns the audited request. None: there is none, or it is not audited."""
    return _current.get()


def note(details: Details) -> None:
    """Sets the details of the current request, if it is audited."""
    request = _current.get()
    if request is not None:
        request.details = details


@contextmanager
def serving(request: AuditedRequest) -> Iterator[AuditedRequest]:
    """Makes this request the current one, also for the threads that it uses."""
    token = _current.set(request)
    try:
        yield request
    finally:
        _current.reset(token)
