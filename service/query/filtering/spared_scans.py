"""The scans that filters have made unnecessary together."""

from __future__ import annotations

from collections.abc import Sequence

from service.model.query.pruning import ScanRecord
from service.ports import EngineResult


def spared_scans(
    result: EngineResult, told: Sequence[ScanRecord], mentioned: Sequence[ScanRecord]
) -> tuple[ScanRecord, ...]:
    """Of the tables that are `mentioned`, as 0 of their total, those of which nothing was planned to be read.

    A set without keys spares what its scan is joined with, and several sets without a key in common spare
    the scan that they narrow. Those that are `told` of already are left out.
    """
    listed = {each.table.lower() for each in (*result.scans, *told)}
    missing = [each for each in mentioned if each.table.lower() not in listed]
    planned = result.planned_tables() if missing else None
    return () if planned is None else tuple(each for each in missing if each.table.lower() not in planned)
