"""Scans that choose their files by keys of several columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import structlog
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.ports.engine.tuple_filters import TupleFilter
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.tuples_in_arrow import tuples_in_arrow

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject

log = structlog.get_logger(__name__)

CONF = "spark.sluice.tuples"
_FAILURES = (PySparkException, *UNREACHABLE)
_UNUSABLE = (*_FAILURES, ValueError, OverflowError)


@dataclass(frozen=True, slots=True)
class TupleRun:
    """The filters of one run, by the name under which the JVM knows them."""

    java: JavaObject
    name: str

    def uses(self) -> frozenset[str]:
        """Returns the ids of the filters by which a scan has chosen its files."""
        try:
            return frozenset(str(self.java.used(self.name)).split())
        except _FAILURES as failure:
            # A lost JVM shows in the next call.
            log.warning("tuple_filters_not_read", error=type(failure).__name__)
            return frozenset()


class TupleScans:
    """Asks `TupleSets.java` in the driver's JVM. A failure leaves scans as they are."""

    def __init__(self, gateway: JavaGateway, java: JavaObject) -> None:
        self._gateway = gateway
        self._java = java

    @contextmanager
    def chosen(
        self, child: SparkSession, frame: DataFrame, filters: Sequence[TupleFilter]
    ) -> Iterator[TupleRun]:
        """Lets scans of the analyzed frame choose their files by the filters, if the block plans it."""
        run = TupleRun(self._java, str(uuid4()))
        try:
            added = [each for each in filters if self._is_added(frame, run.name, each)]
            if added:
                child._jconf.setConfString(CONF, run.name)
            yield run
        finally:
            if filters:
                with suppress(*_FAILURES):
                    self._java.end(run.name)

    def _is_added(self, frame: DataFrame, name: str, found: TupleFilter) -> bool:
        table, key = str(found.table), f"{found.fingerprint} {found.type_names}"
        try:
            if not self._java.isReadOnce(frame._jdf.queryExecution(), table, found.snapshot_id):
                return False
            if not self._java.has(key):
                types = self._texts(found.type_names)
                tuples = tuples_in_arrow(found.type_names, found.keys)
                if tuples.num_rows == 0 or not self._java.add(key, types, _stream(tuples)):
                    return False
            columns = self._texts(found.columns)
            return bool(self._java.use(name, found.filter_id, table, found.snapshot_id, columns, key))
        except _UNUSABLE as failure:
            log.warning("tuple_filter_not_used", error=type(failure).__name__)
            return False

    def _texts(self, texts: Sequence[str]) -> JavaObject:
        array: JavaObject = self._gateway.new_array(self._gateway.jvm.java.lang.String, len(texts))
        for place, text in enumerate(texts):
            array[place] = text
        return array


def _stream(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return bytes(sink.getvalue())
