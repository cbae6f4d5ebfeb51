"""How far a running query is, as text."""

from __future__ import annotations

from collections.abc import Iterator

from service.model.query.progress import QueryProgress, ScanProgress


def progress_lines(progress: QueryProgress) -> Iterator[str]:
    """Returns a line for the query and one for each scan. Numbers that are not known are left out.

    >>> from service.model.query.progress import Phase
    >>> list(progress_lines(QueryProgress(phase=Phase.PLANNING, percent=0, counters=None)))
    ['PLANNING, 0 %']
    """
    counted = progress.counters
    yield f"{progress.phase}, {progress.percent} %" + (
        ""
        if counted is None
        else f": {counted.tasks_completed} of {counted.tasks_total} tasks ({counted.tasks_running} running),"
        f" {counted.stages_completed} of {counted.stages_total} stages"
    )
    for scan in progress.scans:
        yield _scan(scan)


def _scan(scan: ScanProgress) -> str:
    known = [
        *([] if scan.rows is None else [f"{scan.rows} rows"]),
        *([] if scan.files_read is None else [f"{scan.files_read} of {scan.data_files} data files"]),
        *([] if scan.bytes_read is None else [f"{scan.bytes_read} of {scan.data_bytes} bytes"]),
    ]
    return f"{scan.table or 'a table'}{': ' if known else ''}{', '.join(known)}"
