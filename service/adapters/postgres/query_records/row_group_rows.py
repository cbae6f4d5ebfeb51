"""The row groups of a query's scans in JSON of the metrics store.

They are an entry of `queries.rewrites`: gateways of the version before read the same rows during an update,
and skip entries whose names they do not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from service.model.query.scan_metrics import ScanRecord, Selection

NAME = "ROW_GROUPS"
"""No rewrite has this name."""
# Those that look at `kind` alone know this one.
_READ_AS = "READ_OPTIONS"


def stored_row_groups(scans: Sequence[ScanRecord]) -> list[dict[str, object]]:
    """Returns the entry for all scans, in their order; none if no scan has row groups that are known."""
    selections = [scan.metrics.row_groups for scan in scans]
    if all(found is None for found in selections):
        return []
    values = [None if found is None else [found.total, found.selected] for found in selections]
    named = {"kind": _READ_AS, "named": NAME}
    return [{**named, "table": "", "detail": "", "mention": None, "filter_id": "", "scans": values}]


def with_row_groups(
    scans: Iterable[ScanRecord], rewrites: Iterable[Mapping[str, Any]]
) -> tuple[ScanRecord, ...]:
    """Returns the scans of a query, which are in their order, with the row groups among its rewrites."""
    found = tuple(scans)
    stored = next((entry["scans"] for entry in rewrites if entry.get("named") == NAME), ())
    if len(stored) != len(found):
        return found
    return tuple(map(_with_selection, found, stored))


def _with_selection(scan: ScanRecord, stored: Sequence[int] | None) -> ScanRecord:
    if stored is None:
        return scan
    total, selected = stored
    return replace(scan, metrics=replace(scan.metrics, row_groups=Selection(total, selected)))
