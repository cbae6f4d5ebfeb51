"""The relations of the engine's current session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from uuid import uuid4

import pyarrow as pa

from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.query import Parameters
from service.ports.engine.query_engine import Statement
from spark_session.engine.engine import SparkEngine

# Small tables only: a longer read costs more than it saves, and holds a thread that others wait for.
FETCH_WITHIN_S = 60.0
# A query waits for it, and needs it less than its keys.
PUT_WITHIN_S = 5.0
_NO_ROWS = RelationBounds(max_rows=1, max_bytes=1)


class EngineRelations:
    """Implements the ports `Relations` and `HeldRows`. The relations of a lost JVM are lost with it."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine

    def cached(self, fingerprint: str) -> CachedRelation | None:
        """See `service.ports.engine.relations.Relations`."""
        session = self._engine.session
        return None if session is None else session.relations.cached(fingerprint)

    def fetch(
        self, query: RelationQuery, parameters: Parameters, bounds: RelationBounds, access: Access
    ) -> CachedRelation | None:
        """See `service.ports.engine.relations.Relations`."""
        reading = _statement(query.sql, _is_late(FETCH_WITHIN_S), parameters, access, bounds)
        tag = str(reading.query_id)
        with (
            self._engine.calls.session(reading, "sluice.engine.fetch", is_background=True) as session,
            session.jobs.of(tag),
        ):
            late = threading.Timer(FETCH_WITHIN_S, self._engine.cancel, [reading.query_id])
            late.start()
            try:
                return session.relations.fetch(query, parameters, bounds, access, tag)
            finally:
                late.cancel()

    def put(self, query: RelationQuery, rows: pa.Table, bounds: RelationBounds) -> CachedRelation | None:
        """See `service.ports.engine.relations.Relations`."""
        reading = _statement(query.sql, _is_late(PUT_WITHIN_S))
        with self._engine.calls.session(reading, "sluice.engine.put", is_background=True) as session:
            return session.relations.put(query, rows, bounds)

    def hold(self, fingerprint: str, rows: pa.Table, max_bytes: int) -> bool:
        """See `service.ports.engine.held_rows.HeldRows`."""
        bounds = RelationBounds(max_rows=max(rows.num_rows, 1), max_bytes=max_bytes)
        with self._engine.calls.session(_statement(fingerprint), "sluice.engine.hold") as session:
            return session.relations.hold(fingerprint, rows, bounds) is not None

    def let_go(self, fingerprint: str) -> None:
        """See `service.ports.engine.held_rows.HeldRows`."""
        session = self._engine.session
        if session is not None:
            session.relations.let_go(fingerprint)


def _statement(
    sql: str,
    is_canceled: Callable[[], bool] = lambda: False,
    parameters: Parameters = (),
    access: Access = FULL_ACCESS,
    bounds: RelationBounds = _NO_ROWS,
) -> Statement:
    """Returns the statement that stands for reading rows into memory, or for taking them."""
    return Statement(
        query_id=uuid4(),
        sql=sql,
        parameters=parameters,
        catalog=None,
        schema=None,
        row_limit=bounds.max_rows,
        byte_limit=bounds.max_bytes,
        is_canceled=is_canceled,
        access=access,
    )


def _is_late(within_s: float) -> Callable[[], bool]:
    until_s = time.monotonic() + within_s
    return lambda: time.monotonic() > until_s
