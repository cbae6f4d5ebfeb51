"""Snapshots with equality deletes, made by the Iceberg library in Spark's JVM."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import structlog
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from service.errors import CatalogDown, CommittableUnreadable, EngineLost, EngineNotReady
from service.model.ingest.writing import RowDelta
from spark_session.java_source import java_instance
from spark_session.jvm import UNREACHABLE
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject
    from pyspark.sql import SparkSession

    from spark_session.warm_session import WarmSession

log = structlog.get_logger(__name__)

_NOT_THERE = "NoSuchTableException"


class RowDeltaWriter:
    """Asks `RowDeltas.java` of one JVM."""

    def __init__(self, gateway: JavaGateway, root: SparkSession) -> None:
        self._gateway = gateway
        self._root = root

    def prepare(self, delta: RowDelta) -> str:
        """As `RowDeltas.java` tells it."""
        return str(
            self._java.prepare(
                self._root._jsparkSession,
                table_sql_name(delta.key.table),
                delta.metadata_location,
                delta.key.branch,
                list(delta.data_files),
                list(delta.delete_files),
                dict(delta.summary),
            )
        )

    @cached_property
    def _java(self) -> JavaObject:
        # Not compiled where nobody upserts.
        return java_instance(self._gateway, "RowDeltas", "ForwardingOperations")


class SparkRowDeltas:
    """Implements `service.ingest_ports.RowDeltas`; `session` gives the session of now, if there is one."""

    def __init__(self, session: Callable[[], WarmSession | None]) -> None:
        self._session = session

    def prepare(self, delta: RowDelta) -> str | None:
        """See `service.ingest_ports.RowDeltas`."""
        session = self._session()
        if session is None:
            raise EngineNotReady
        try:
            told = session.row_deltas.prepare(delta)
        except Py4JJavaError as failure:
            raise _translated(failure, delta) from failure
        except (PySparkException, *UNREACHABLE) as failure:
            raise EngineLost from failure
        if told and not told.startswith("{"):
            log.error("row_delta_unreadable", table=str(delta.key.table), reason=told)
            place = int(told.partition(" ")[0])
            raise CommittableUnreadable(data_files=[(*delta.data_files, *delta.delete_files)[place]])
        return told or None


def _translated(failure: Py4JJavaError, delta: RowDelta) -> Exception:
    """What the caller sees; the JVM may go at that moment."""
    try:
        kind = str(failure.java_exception.getClass().getName())
    except (Py4JError, OSError):
        return EngineLost()
    if kind.endswith(_NOT_THERE):
        # The caller has just loaded it: whether it is gone is for its next look to say.
        return CatalogDown(f"Spark does not find {delta.key.table}.")
    log.warning("row_delta_failed", table=str(delta.key.table), error=kind)
    return CatalogDown(f"Spark cannot add rows to {delta.key.table} now.")
