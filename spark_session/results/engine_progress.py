"""Reads the counters of `QueryProgress.java`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from service.model.query.progress import EngineProgress, ScanProgress

_NOT_TABLES = ("Scan ExistingRDD", "Scan OneRowRelation")
"""Nodes of a plan that read rows in memory."""
_LEAST_PARTS = 3


def engine_progress(text: str) -> Mapping[str, EngineProgress]:
    """Returns the counters by the ids of the queries.

    >>> scans = '[["BatchScan lake.a.t", [7, 2, 6, 900, -1, -1], [2, 300]]]'
    >>> counters = f'"stages": [1, 2, 3], "tasks": [4, 2, 12], "isWhole": true, "scans": {scans}'
    >>> found = engine_progress('{"a": {' + counters + "}}")["a"]
    >>> found.tasks_running, found.rows, found.bytes, found.scans[0].data_files
    (2, 7, 300, 6)
    """
    return {query_id: _progress(counters) for query_id, counters in json.loads(text).items()}


def table_of(node: str) -> str | None:
    """Returns the full name of the table that a node of a plan scans; None if the node has none.

    >>> table_of("BatchScan lake.shop.returns"), table_of("Scan parquet spark_catalog.default.days")
    ('lake.shop.returns', 'spark_catalog.default.days')
    >>> table_of("Scan parquet "), table_of("BatchScan parquet file:/a/b.c")
    (None, None)
    """
    name = node.removeprefix("BatchScan ") if node.startswith("BatchScan ") else node.rpartition(" ")[2]
    is_name = len(name.split(".")) >= _LEAST_PARTS and all(name.split(".")) and not set(name) & set(" /:")
    return name if is_name else None


def _progress(counters: Mapping[str, Any]) -> EngineProgress:
    stages_completed, stages_total, stages_planned = counters["stages"]
    tasks_completed, tasks_running, tasks_total = counters["tasks"]
    scans = tuple(
        _scan(node, sums, read) for node, sums, read in counters["scans"] if not node.startswith(_NOT_TABLES)
    )
    return EngineProgress(
        stages_completed=stages_completed,
        stages_total=stages_total,
        stages_planned=stages_planned,
        tasks_completed=tasks_completed,
        tasks_running=tasks_running,
        tasks_total=tasks_total,
        rows=sum(scan.rows or 0 for scan in scans),
        bytes=_sum(scan.bytes_read for scan in scans),
        scans=scans,
        is_whole=counters["isWhole"],
    )


def _scan(node: str, sums: Sequence[int], read: Sequence[int]) -> ScanProgress:
    rows, _, result_files, result_bytes, files, file_bytes = sums
    files_read, bytes_read = read
    return ScanProgress(
        table=table_of(node),
        rows=max(rows, 0),
        files_read=_counted(files_read),
        data_files=_counted(max(result_files, files)),
        bytes_read=_counted(bytes_read),
        data_bytes=_counted(max(result_bytes, file_bytes)),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = tuple(counts)
    return None if None in known else sum(count for count in known if count is not None)


def _counted(sum_: int) -> int | None:
    return None if sum_ < 0 else sum_
