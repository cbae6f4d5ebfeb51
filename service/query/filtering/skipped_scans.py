"""Scans that filters together have made unnecessary."""

from __future__ import annotations

from collections.abc import Sequence

from service.model.query.pruning import ScanRecord
from service.ports import EngineResult


def skipped_scans(
    result: EngineResult, reported: Sequence[ScanRecord], referenced: Sequence[ScanRecord]
) -> tuple[ScanRecord, ...]:
    """Returns the tables of `referenced` that the plan reads nothing of, each as 0 of its total.

    A filter without keys makes the scans joined with its scan unnecessary. Several filters without a common
    key make the scan that they filter unnecessary. Scans that `reported` already reports are left out.
    """
    listed = {each.table.lower() for each in (*result.scans, *reported)}
    missing = [each for each in referenced if each.table.lower() not in listed]
    planned = result.planned_tables() if missing else None
    return () if planned is None else tuple(each for each in missing if each.table.lower() not in planned)
