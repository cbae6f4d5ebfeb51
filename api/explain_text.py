"""GET /explain/{id} for people: the SQL, the engine's plan, and what every scan read of how much."""

from __future__ import annotations

from collections.abc import Iterator

from service.model.explanation import Explanation
from service.model.pruning import ScanRecord


def explain_text(explanation: Explanation) -> str:
    """Three parts, each under its heading; the last has a line per scan and level."""
    return "\n".join(_lines(explanation)) + "\n"


def _lines(explanation: Explanation) -> Iterator[str]:
    yield "== SQL =="
    yield explanation.sql
    if explanation.error is not None:
        yield ""
        yield f"{explanation.state}: {explanation.error.code}: {explanation.error.detail}"
    yield ""
    yield "== Spark Plan =="
    yield explanation.spark_plan.rstrip() or "(there is none: the query did not get that far)"
    yield ""
    yield "== Pruning =="
    if not explanation.scans:
        yield "(no table was scanned)"
    for scan in explanation.scans:
        yield from _scan(scan)


def _scan(scan: ScanRecord) -> Iterator[str]:
    metrics = scan.metrics
    snapshot = "empty" if scan.snapshot_id is None else f"snapshot {scan.snapshot_id}"
    yield f"{scan.table} ({snapshot}), planned in {metrics.planning_ms} ms"
    levels = [
        ("partitions", metrics.partitions),
        ("manifests", metrics.manifests),
        ("data files", metrics.data_files),
        ("bytes", metrics.bytes),
        ("rows", metrics.rows),
    ]
    for name, selection in levels:
        yield f"  {name:<10}  {selection.selected} of {selection.total}"
