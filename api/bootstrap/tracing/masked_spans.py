"""Spans without secrets: attributes, events, links and errors may have words of callers and libraries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link, Status
from opentelemetry.util.types import Attributes

from api.bootstrap.shown_settings import MASK, without_credentials, without_secrets


def masked_span(span: ReadableSpan, secrets: Collection[str]) -> ReadableSpan:
    """Returns the span with `**********` for these secrets, API keys and access tokens.

    The texts of errors are masked like log lines, other texts only where a secret is known: SQL is to stay
    readable.
    """
    return ReadableSpan(
        name=_masked(span.name, secrets),
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=_attributes(span.attributes, secrets),
        events=[_event(event, secrets) for event in span.events],
        links=[Link(link.context, _attributes(link.attributes, secrets)) for link in span.links],
        kind=span.kind,
        status=_status(span.status, secrets),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _event(event: Event, secrets: Collection[str]) -> Event:
    # The message and the stack of an exception.
    texts = {name: _of_errors(value, secrets) for name, value in (event.attributes or {}).items()}
    return Event(_masked(event.name, secrets), texts, event.timestamp)


def _of_errors(value: Any, secrets: Collection[str]) -> Any:
    return without_secrets(value, secrets) if isinstance(value, str) else value


def _status(status: Status, secrets: Collection[str]) -> Status:
    if not status.description:
        return status
    return Status(status.status_code, without_secrets(status.description, secrets))


def _attributes(attributes: Attributes, secrets: Collection[str]) -> Mapping[str, Any]:
    return {name: _value(value, secrets) for name, value in (attributes or {}).items()}


def _value(value: Any, secrets: Collection[str]) -> Any:
    if isinstance(value, str):
        return _masked(value, secrets)
    if isinstance(value, tuple | list):
        return [_value(element, secrets) for element in value]
    return value


def _masked(text: str, secrets: Collection[str]) -> str:
    shown = without_credentials(text)
    for secret in sorted(secrets, key=len, reverse=True):
        shown = shown.replace(secret, MASK)
    return shown
