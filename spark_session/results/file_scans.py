"""Reports how much each scan of a table of files read, from an executed plan."""

from __future__ import annotations

import json

from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from spark_session.results.reported_scan import reported_scan


def file_scan_records(text: str, has_run: bool = True) -> tuple[ScanRecord, ...]:
    """Returns the scans as records; such a table has no snapshot and no manifests.

    >>> row = '["spark_catalog.logs.events", [4, 9, 900, 80], [1, 2, 200], 20, 3, true, false, ["id"]]'
    >>> [scan] = file_scan_records(f"[{row}]")
    >>> scan.metrics.partitions, scan.metrics.data_files
    (Selection(total=4, selected=1), Selection(total=9, selected=2))
    """
    return tuple(
        reported_scan(_record(*row[:5]), *row[5:], has_query_run=has_run) for row in json.loads(text)
    )


def _record(
    table: str, total: list[int], selected: list[int], output_rows: int, planning_ms: int
) -> ScanRecord:
    metrics = PruningMetrics(
        partitions=Selection(total[0], selected[0]),
        manifests=Selection(0, 0),
        data_files=Selection(total[1], selected[1]),
        bytes=Selection(total[2], selected[2]),
        rows=Selection(total[3], output_rows),
        planning_ms=planning_ms,
    )
    return ScanRecord(table, None, metrics)
