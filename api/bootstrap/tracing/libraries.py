"""Spans of the clients of PostgreSQL and of the filter cache: one for each statement and command."""

from __future__ import annotations

import psycopg
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.trace import TracerProvider

# SQLAlchemy speaks through psycopg, and the package for SQLAlchemy does not take version 2.1.
_CLIENTS = (PsycopgInstrumentor, RedisInstrumentor)
_CONNECTS = {each: vars(each)["connect"] for each in (psycopg.Connection, psycopg.AsyncConnection)}


def instrument(provider: TracerProvider) -> None:
    """From now on; connections of PostgreSQL that are open already stay as they are."""
    for each in _CLIENTS:
        each().instrument(tracer_provider=provider)


def uninstrument() -> None:
    """No more for new connections."""
    for each in _CLIENTS:
        each().uninstrument()
    # What the package leaves behind is bound to its class: a class of ours would connect as that one.
    for connection, connect in _CONNECTS.items():
        setattr(connection, "connect", connect)  # noqa: B010 - a method, to mypy
