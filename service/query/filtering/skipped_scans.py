"""Scans that filters together have made unnecessary."""

from __future__ import annotations

from collections.abc import Sequence

from service.model.query.scan_metrics import ScanRecord
from service.ports.engine.query_engine import EngineResult


def skipped_scans(
    result: EngineResult, reported: Sequence[ScanRecord], referenced: Sequence[ScanRecord]
) -> tuple[ScanRecord, ...]:
    """Returns the tables of `referenced` that the plan reads nothing of, each as 0 of its total.

    A filter without keys makes the scans joined with its scan unnecessary. Several filters without a common
    key make the scan that they filter unnecessary. Scans that `reported` already reports are left out.
    """
    listed = {scan.table.lower() for scan in (*result.scans, *reported)}
    missing = [scan for scan in referenced if scan.table.lower() not in listed]
    planned = result.planned_tables() if missing else None
    return () if planned is None else tuple(scan for scan in missing if scan.table.lower() not in planned)
