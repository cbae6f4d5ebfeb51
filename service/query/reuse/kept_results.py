"""Results that are kept for reuse: which of them answers a request, and what is kept of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from service.model.query.query import QueryRequest
from service.model.query.results import Manifest
from service.model.query.reuse import ReusableResult, ReuseOutcome
from service.model.query.scan_metrics import ScanRecord
from service.model.tables.tables import TableFacts, TableName
from service.ports.engine.query_engine import EngineResult
from service.query.filtering.pruned_query import skipped_scan


def outcome_of(
    kept: ReusableResult | None, request: QueryRequest, now: datetime, max_age_ms: int
) -> ReuseOutcome:
    """Returns whether this result answers the request, or why not."""
    if kept is None:
        return ReuseOutcome.NO_RESULT
    if not kept.fits(request.row_limit, request.byte_limit):
        return ReuseOutcome.LIMITS
    return ReuseOutcome.TOO_OLD if age_ms(kept, now) > max_age_ms else ReuseOutcome.HIT


def age_ms(kept: ReusableResult, now: datetime) -> int:
    """Returns how old the result is; clocks of replicas may differ, and none comes from the future."""
    return max(0, round((now - kept.taken_at).total_seconds() * 1000))


def unread_scans(
    scans: tuple[ScanRecord, ...], tables: Mapping[TableName, TableFacts]
) -> tuple[ScanRecord, ...]:
    """Returns the scans of a run as those of a query that reads nothing, with one for each other table.

    They select no files, so they have no values by which they would.

    A table without a scan was read too: its rows were in memory, or its join was eliminated.
    """
    unread = tuple(
        replace(scan, metrics=scan.metrics.unread(), has_run=False, is_native=False, predicates=())
        for scan in scans
    )
    scanned = {scan.table.lower() for scan in scans}
    others = (tables[name] for name in sorted(tables) if str(name).lower() not in scanned)
    return (*unread, *map(skipped_scan, others))


@dataclass(frozen=True, slots=True)
class Run:
    """A run whose result is to be kept."""

    query_id: UUID
    result: EngineResult
    manifest: Manifest
    cached_tables: Mapping[str, str]


def reusable_result(run: Run, taken_at: datetime, tables: Mapping[TableName, TableFacts]) -> ReusableResult:
    """Returns what is kept of a run."""
    return ReusableResult(
        run.query_id,
        taken_at,
        run.manifest,
        unread_scans(run.result.scans, tables),
        run.result.applied,
        cached_tables=tuple(run.cached_tables.items()),
    )
