"""Spans of the clients of PostgreSQL and of the filter cache: one for each statement and command."""

from __future__ import annotations

import psycopg
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.instrumentation.redis import RedisInstrumentor
from opentelemetry.trace import TracerProvider

# SQLAlchemy uses psycopg, and the instrumentation of SQLAlchemy does not support version 2.1.
_CLIENTS = (PsycopgInstrumentor, RedisInstrumentor)
_CONNECTS = {
    connection: vars(connection)["connect"] for connection in (psycopg.Connection, psycopg.AsyncConnection)
}


def instrument(provider: TracerProvider) -> None:
    """Instruments the clients. Connections to PostgreSQL that are already open stay as they are."""
    for client in _CLIENTS:
        client().instrument(tracer_provider=provider)


def uninstrument() -> None:
    """Ends the instrumentation of new connections."""
    for client in _CLIENTS:
        client().uninstrument()
    # The package leaves a method that is bound to its class: a subclass would connect as that class.
    for connection, connect in _CONNECTS.items():
        setattr(connection, "connect", connect)  # noqa: B010 - a method, to mypy
