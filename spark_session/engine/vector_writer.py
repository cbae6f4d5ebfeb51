"""Writes deletion vectors of the rows that have given keys, on the engine's current session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from uuid import uuid4

import structlog

from service.errors.gateway_error import GatewayError, PartDown
from service.errors.ingest_errors import CommittableUnreadable
from service.errors.unavailable import CatalogDown
from service.model.policies.decisions import FULL_ACCESS
from service.ports.engine.query_engine import Statement
from service.ports.tables.vector_writer import VectorsQuery, WrittenVectors
from spark_session.engine.engine import SparkEngine

log = structlog.get_logger(__name__)


class SparkVectorWriter:
    """Implements the port `VectorWriter`. A write that takes longer than `within_s` is given up."""

    def __init__(self, engine: SparkEngine, within_s: float) -> None:
        self._engine = engine
        self._within_s = within_s

    def write(self, asked: VectorsQuery) -> WrittenVectors | None:
        """See `service.ports.tables.vector_writer.VectorWriter`."""
        statement = _statement(asked, _is_late(self._within_s))
        tag = str(statement.query_id)
        late = threading.Timer(self._within_s, self._engine.cancel, [statement.query_id])
        late.daemon = True
        late.start()
        try:
            with (
                self._engine.calls.session(statement, "sluice.engine.vectors", is_background=True) as session,
                session.jobs.of(tag),
            ):
                return session.vectors.write(asked, tag, statement.is_canceled)
        except (PartDown, CommittableUnreadable):
            raise
        except GatewayError as failure:
            log.warning("vectors_failed", table=str(asked.key.table), reason=failure.detail)
            raise CatalogDown(f"Spark cannot delete rows of {asked.key.table} now.") from failure
        finally:
            late.cancel()


def _statement(asked: VectorsQuery, is_canceled: Callable[[], bool]) -> Statement:
    """Returns the statement that stands for the work."""
    return Statement(
        query_id=uuid4(),
        sql=f"deletes of {asked.key.table} at {asked.snapshot_id}",
        parameters=(),
        catalog=None,
        schema=None,
        row_limit=asked.max_rows,
        byte_limit=0,
        is_canceled=is_canceled,
        access=FULL_ACCESS,
    )


def _is_late(within_s: float) -> Callable[[], bool]:
    until_s = time.monotonic() + within_s
    return lambda: time.monotonic() > until_s
