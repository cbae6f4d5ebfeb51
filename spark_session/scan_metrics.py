"""What each scan of an executed plan read of how much."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from service.model.pruning import PruningMetrics, ScanRecord, Selection
from spark_session.java_source import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)


class ScanReader:
    """Asks `ScanReader.java` in the driver's JVM after each run; scans of other tables follow Iceberg's."""

    def __init__(self, gateway: JavaGateway, others: Callable[[DataFrame], tuple[ScanRecord, ...]]) -> None:
        self._reader = java_instance(gateway, "ScanReader")
        self._others = others

    def read(self, frame: DataFrame) -> tuple[ScanRecord, ...]:
        """The scans of a frame that has run, in plan order; none, when they cannot be read.

        An answer must not be lost over what was read for it.
        """
        try:
            return scan_records(self._reader.read(frame._jdf.queryExecution())) + self._others(frame)
        except (PySparkException, Py4JError, OSError) as failure:
            log.warning("scans_not_read", error=type(failure).__name__)
            return ()


def scan_records(text: str) -> tuple[ScanRecord, ...]:
    """The reader's JSON as records.

    >>> [scan] = scan_records('[["lake.a.t", 7, [4, 4, 900, 80, 2], [1, 1, 200], 1, 20, 3]]')
    >>> scan.metrics.data_files
    Selection(total=4, selected=1)
    """
    return tuple(_scan_record(*row) for row in json.loads(text))


def _scan_record(
    table: str,
    snapshot_id: int | None,
    total: list[int],
    selected: list[int],
    scanned_manifests: int,
    output_rows: int,
    planning_ms: int,
) -> ScanRecord:
    partitions, data_files, data_bytes, rows, manifests = total
    metrics = PruningMetrics(
        partitions=Selection(partitions, selected[0]),
        manifests=Selection(manifests, scanned_manifests),
        data_files=Selection(data_files, selected[1]),
        bytes=Selection(data_bytes, selected[2]),
        rows=Selection(rows, output_rows),
        planning_ms=planning_ms,
    )
    return ScanRecord(table, snapshot_id, metrics)
