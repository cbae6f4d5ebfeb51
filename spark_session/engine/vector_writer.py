"""Writes deletion vectors of the rows that have given keys, on the engine's current session."""

from __future__ import annotations

import structlog

from service.errors.gateway_error import GatewayError, PartDown
from service.errors.ingest_errors import CommittableUnreadable
from service.errors.unavailable import CatalogDown
from service.ports.tables.vector_writer import VectorsQuery, WrittenVectors
from spark_session.engine.background_work import background_work
from spark_session.engine.engine import SparkEngine

log = structlog.get_logger(__name__)


class SparkVectorWriter:
    """Implements the port `VectorWriter`. A write that takes longer than `within_s` is given up."""

    def __init__(self, engine: SparkEngine, within_s: float) -> None:
        self._engine = engine
        self._within_s = within_s

    def write(self, asked: VectorsQuery) -> WrittenVectors | None:
        """See `service.ports.tables.vector_writer.VectorWriter`."""
        says = f"deletes of {asked.key.table} at {asked.snapshot_id}"
        try:
            with background_work(self._engine, "sluice.engine.vectors", says, self._within_s) as work:
                return work.session.vectors.write(asked, work.tag, work.is_late)
        except (PartDown, CommittableUnreadable):
            raise
        except GatewayError as failure:
            log.warning("vectors_failed", table=str(asked.key.table), reason=failure.detail)
            raise CatalogDown(f"Spark cannot delete rows of {asked.key.table} now.") from failure
