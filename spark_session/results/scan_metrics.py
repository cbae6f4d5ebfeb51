"""Reports how much each scan of an executed plan read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from service.model.tables.tables import TableName
from spark_session.java.own_classes import java_instance
from spark_session.results.reported_scan import reported_scan
from spark_session.results.scan_predicates import scan_predicates
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import DataFrame

    from spark_session.results.session_table_reader import SessionTableReader

log = structlog.get_logger(__name__)

_UNKNOWN = -1


class ScanReader:
    """Asks `ScanReader.java` in the driver's JVM after each run; scans of other tables follow Iceberg's."""

    def __init__(self, gateway: JavaGateway, tables: SessionTableReader) -> None:
        self._reader = java_instance(gateway, "sluice.scans.ScanReader")
        self._tables = tables

    def read(self, frame: DataFrame, has_run: bool = True) -> tuple[ScanRecord, ...]:
        """Returns the scans of a run or planned frame in plan order; empty if they cannot be read.

        Scans that the plan began with and that turned out to be unnecessary come last, as 0 of their total. A
        failure here must not cost the caller the answer.
        """
        try:
            rows = self._reader.read(frame._jdf.queryExecution())
            return scan_records(rows, has_run) + self._tables.scans(frame, has_run)
        except (PySparkException, Py4JError, OSError) as failure:
            log.warning("scans_not_read", error=type(failure).__name__)
            return ()

    def with_totals(self, frame: DataFrame, scans: Sequence[ScanRecord]) -> tuple[ScanRecord, ...]:
        """Adds the totals of every level to skipped scans of a frame; unchanged if they cannot be read."""
        try:
            return self._with_totals(frame, scans)
        except (PySparkException, Py4JError, OSError, AttributeError) as failure:
            # The last one: another thread made PySpark forget the context in the meantime.
            log.warning("totals_not_read", error=type(failure).__name__)
            return tuple(scans)

    def _with_totals(self, frame: DataFrame, scans: Sequence[ScanRecord]) -> tuple[ScanRecord, ...]:
        pinned = [scan for scan in scans if scan.snapshot_id is not None]
        asked = [[table_sql_name(TableName.of(scan.table)), scan.snapshot_id] for scan in pinned]
        text = self._reader.totals(frame._jdf.queryExecution(), json.dumps(asked)) if asked else "[]"
        found = dict(zip(map(_place, pinned), json.loads(text), strict=True))
        return tuple(
            _with_total(scan, found[_place(scan)]) if _place(scan) in found else self._tables.with_total(scan)
            for scan in scans
        )


def scan_records(text: str, has_run: bool = True) -> tuple[ScanRecord, ...]:
    """Parses the reader's JSON into records.

    >>> row = '["lake.t", 7, [4, 4, 900, 80, 2, 8], [1, 1, 200, 2], 1, 20, 3, true, false, ["x"], [], [], 2]'
    >>> [scan] = scan_records(f"[{row}]")
    >>> scan.metrics.data_files, scan.metrics.row_groups, scan.columns, scan.files_left_out
    (Selection(total=4, selected=1), Selection(total=8, selected=2), ('x',), 2)
    >>> [scan] = scan_records(f"[{row.replace('true', 'false')}]")
    >>> scan.metrics.data_files, scan.has_run
    (Selection(total=4, selected=0), False)
    """
    return tuple(_reported(row, has_run) for row in json.loads(text))


def _reported(row: list[Any], has_query_run: bool) -> ScanRecord:
    table, snapshot_id, total, selected = row[:4]
    # Readers select row groups when they open files: a plan does not know them.
    if not has_query_run:
        selected = [*selected[:3], _UNKNOWN]
    elif not row[7]:
        selected = [*selected[:3], 0]
    scan = _scan_record(table, snapshot_id, total, selected, *row[4:7])
    reported = reported_scan(scan, *row[7:10], has_query_run=has_query_run)
    left_out = row[12] if reported.has_run else 0
    return replace(reported, predicates=scan_predicates(*row[10:12]), files_left_out=left_out)


def _place(scan: ScanRecord) -> tuple[str, int | None]:
    return scan.table, scan.snapshot_id


def _with_total(scan: ScanRecord, total: list[int]) -> ScanRecord:
    reported = _scan_record(scan.table, scan.snapshot_id, total, [0, 0, 0, 0], 0, 0, scan.metrics.planning_ms)
    return replace(scan, metrics=reported.metrics)


def _scan_record(
    table: str,
    snapshot_id: int | None,
    total: list[int],
    selected: list[int],
    scanned_manifests: int,
    output_rows: int,
    planning_ms: int,
) -> ScanRecord:
    partitions, data_files, data_bytes, rows, manifests, row_groups = total
    is_known = _UNKNOWN not in (row_groups, selected[3])
    metrics = PruningMetrics(
        partitions=Selection(partitions, selected[0]),
        manifests=Selection(manifests, scanned_manifests),
        data_files=Selection(data_files, selected[1]),
        bytes=Selection(data_bytes, selected[2]),
        rows=Selection(rows, output_rows),
        planning_ms=planning_ms,
        row_groups=Selection(row_groups, selected[3]) if is_known else None,
    )
    return ScanRecord(table, snapshot_id, metrics)
