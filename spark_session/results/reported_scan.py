"""A scan as it is reported: by what it read, or by what a plan would read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.model.query.scan_metrics import ScanRecord


def reported_scan(
    scan: ScanRecord, has_run: bool, is_native: bool, columns: Sequence[str], *, has_query_run: bool
) -> ScanRecord:
    """Returns the reported scan of a query that has run, or was only planned.

    A scan that turned out to be unnecessary has read nothing of what its plan selects.
    """
    reported = replace(scan, columns=tuple(columns))
    if not has_query_run:
        return replace(reported, is_native=None)
    if has_run:
        return replace(reported, is_native=is_native)
    return replace(reported, has_run=False, metrics=scan.metrics.unread())
