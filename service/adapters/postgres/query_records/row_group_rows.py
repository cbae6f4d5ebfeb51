"""The row groups of a query's scans, and the files that they leave out, in JSON of the metrics store.

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
    """Returns the entry for all scans, in their order; none if no scan has row groups that are known.

    `left_out` is there if a scan has left out files.
    """
    selections = [scan.metrics.row_groups for scan in scans]
    left_out = [scan.files_left_out for scan in scans]
    if all(found is None for found in selections) and not any(left_out):
        return []
    values = [None if found is None else [found.total, found.selected] for found in selections]
    named = {"kind": _READ_AS, "named": NAME}
    of_files = {"left_out": left_out} if any(left_out) else {}
    empty = {"table": "", "detail": "", "mention": None, "filter_id": ""}
    return [{**named, **empty, "scans": values, **of_files}]


def with_row_groups(
    scans: Iterable[ScanRecord], rewrites: Iterable[Mapping[str, Any]]
) -> tuple[ScanRecord, ...]:
    """Returns the scans of a query, which are in their order, with the row groups among its rewrites."""
    found = tuple(scans)
    entry = next((entry for entry in rewrites if entry.get("named") == NAME), {"scans": ()})
    if len(entry["scans"]) != len(found):
        return found
    left_out = entry.get("left_out", [0] * len(found))
    return tuple(
        replace(_with_selection(scan, stored), files_left_out=count)
        for scan, stored, count in zip(found, entry["scans"], left_out, strict=True)
    )


def _with_selection(scan: ScanRecord, stored: Sequence[int] | None) -> ScanRecord:
    if stored is None:
        return scan
    total, selected = stored
    return replace(scan, metrics=replace(scan.metrics, row_groups=Selection(total, selected)))
