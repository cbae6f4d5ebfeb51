"""Connects to PostgreSQL: to one server, or to the one of several that accepts writes."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Engine, create_engine, event

STATEMENT_WITHIN_MS = 10_000
SILENT_AT_MOST_S = STATEMENT_WITHIN_MS / 1000 + 2
"""The server ends a statement before this; a server silent for longer hangs."""
OF_SEVERAL_WITHIN_S = 2
"""How long each of several servers may take to accept a connection before the next is tried."""

CONNECTION: dict[str, object] = {
    "connect_timeout": 3,
    "options": f"-c statement_timeout={STATEMENT_WITHIN_MS} -c timezone=UTC",
}
# For writes that are confirmed to others: the setting of a role or a database may allow a crash, or a
# failover to a standby, to lose the latest commits.
DURABLE = CONNECTION | {"options": f"{CONNECTION['options']} -c synchronous_commit=on"}

# A machine that is gone is silent. Without these, a connection would wait until TCP gives up: minutes for
# data in transit, and hours for data already received.
_LIVENESS: Mapping[str, object] = {
    "application_name": "sluice",
    "tcp_user_timeout": 5_000,
    "keepalives": 1,
    "keepalives_idle": 3,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
_DRIVER = re.compile(r"^postgres(?:ql)?(?:\+psycopg)?:")


def store_engine(
    url: str, session: Mapping[str, object], *, silent_at_most_s: float | None = SILENT_AT_MOST_S, **pool: Any
) -> Engine:
    """Returns an engine that connects to the server that accepts writes, and tests connections before use.

    A connection that is silent for `silent_at_most_s` within a statement is closed, and the statement fails.
    Otherwise a server that is stopped, or that waits for a standby, would block its caller forever. It is
    then unknown whether the statement took effect.

    Args:
        url: as libpq reads it: hosts with ports, separated by commas, and options after the `?`.
        session: options of libpq. Those of the URL win; only `options` are combined.
        silent_at_most_s: None: no limit.
        pool: further arguments of SQLAlchemy's `create_engine`.
    """
    options = connection_options(url, session)
    engine = create_engine("postgresql+psycopg://", connect_args=options, pool_pre_ping=True, **pool)

    @event.listens_for(engine, "do_connect")
    def _connected(
        _dialect: object, _record: object, arguments: list[Any], options: dict[str, Any]
    ) -> BoundedConnection:
        connection = BoundedConnection.connect(*arguments, **options)
        connection.silent_at_most_s = silent_at_most_s
        return connection

    return engine


def connection_options(url: str, session: Mapping[str, object]) -> dict[str, Any]:
    """Returns psycopg's connection options.

    >>> options = connection_options("postgresql://a:5432,b:5433/db?application_name=x", CONNECTION)
    >>> [options[name] for name in ("host", "port", "application_name", "target_session_attrs")]
    ['a,b', '5432,5433', 'x', 'read-write']
    """
    given = conninfo_to_dict(_DRIVER.sub("postgresql:", url))
    merged = {**_LIVENESS, **session, **given}
    if "options" in given:
        # The gateway's own come last, and win.
        merged["options"] = f"{given['options']} {session.get('options', '')}".strip()
    if "," in f"{given.get('host', '')}{given.get('hostaddr', '')}":
        merged = {"target_session_attrs": "read-write"} | merged
        if "connect_timeout" not in given:
            merged["connect_timeout"] = OF_SEVERAL_WITHIN_S
    return merged


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that waits at most `silent_at_most_s`, whatever the server does."""

    silent_at_most_s: float | None = None

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Overrides psycopg's `wait`, which every statement goes through.

        Raises:
            psycopg.OperationalError: it took too long; the connection is closed.
        """
        if timeout is not None or self.silent_at_most_s is None:
            return super().wait(gen, interval, timeout)
        deadline = time.monotonic() + self.silent_at_most_s
        try:
            return super().wait(gen, interval, self.silent_at_most_s)
        except psycopg.OperationalError:
            if time.monotonic() >= deadline:
                # The connection is in the middle of an answer: it cannot be used again.
                self.pgconn.finish()
            raise
