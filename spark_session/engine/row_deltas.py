"""Builds snapshots with equality deletes, by the Iceberg library in Spark's JVM."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from service.errors.ingest_errors import CommittableUnreadable
from service.errors.unavailable import CatalogDown, EngineLost, EngineNotReady
from service.model.ingest.writing import RowDelta
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.warm_session import WarmSession

log = structlog.get_logger(__name__)

_NOT_THERE = "NoSuchTableException"


class SparkRowDeltas:
    """Implements `RowDeltas`; `session` returns the current session, if there is one."""

    def __init__(self, session: Callable[[], WarmSession | None]) -> None:
        self._session = session

    def prepare(self, delta: RowDelta) -> str | None:
        """See `service.ports.tables.table_changes.RowDeltas`."""
        session = self._session()
        if session is None:
            raise EngineNotReady
        try:
            reported = session.row_deltas.prepare(delta)
        except Py4JJavaError as failure:
            raise _translated(failure, delta) from failure
        except (PySparkException, *UNREACHABLE) as failure:
            raise EngineLost from failure
        if reported and not reported.startswith("{"):
            log.error("row_delta_unreadable", table=str(delta.key.table), reason=reported)
            place = int(reported.partition(" ")[0])
            raise CommittableUnreadable(data_files=[(*delta.data_files, *delta.delete_files)[place]])
        return reported or None


def _translated(failure: Py4JJavaError, delta: RowDelta) -> Exception:
    """Returns the error that the caller sees; the JVM may go at that moment."""
    try:
        kind = str(failure.java_exception.getClass().getName())
    except (Py4JError, OSError):
        return EngineLost()
    if kind.endswith(_NOT_THERE):
        # The caller has just loaded the table: its next look will show whether it is gone.
        return CatalogDown(f"Spark does not find {delta.key.table}.")
    log.warning("row_delta_failed", table=str(delta.key.table), error=kind)
    return CatalogDown(f"Spark cannot add rows to {delta.key.table} now.")
