"""The records of queries that have ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryEnded
from service.errors.unavailable import EngineLost
from service.model.filters.filter_record import FilterRecord
from service.model.query.query import EngineRun, QueryError, QueryRecord, QueryState
from service.model.query.results import Manifest
from service.model.query.reuse import ReusableResult, Reused
from service.model.query.scan_metrics import ScanRecord
from service.policies.shown_counts import with_shown_counts
from service.ports.engine.query_engine import EngineResult
from service.query.filtering.pruned_query import PrunedQuery
from service.query.filtering.unfiltered_scans import unfiltered_scans


@dataclass(frozen=True, slots=True)
class Spent:
    """The time that a query has waited, and that a worker has had it, in milliseconds."""

    queued_ms: int
    worked_ms: int


def succeeded(
    record: QueryRecord, result: EngineResult, manifest: Manifest, pruned: PrunedQuery, spent: Spent
) -> QueryRecord:
    """Returns the record of a query that has run to its end."""
    planning_ms = min(_pruning_ms(record) + result.planning_ms, spent.worked_ms)
    return replace(
        record,
        state=QueryState.SUCCEEDED,
        queued_ms=spent.queued_ms,
        planning_ms=planning_ms,
        running_ms=spent.worked_ms - planning_ms,
        row_count=manifest.row_count,
        byte_count=manifest.byte_count,
        scans=with_shown_counts(result.scans, record.access),
        applied=result.applied,
        filters=_filters(record, pruned, result.scans),
        reused=result.reused,
    )


def succeeded_reused(record: QueryRecord, reused: Reused, kept: ReusableResult, spent: Spent) -> QueryRecord:
    """Returns the record of a query that got the result of an earlier one."""
    return replace(
        record,
        state=QueryState.SUCCEEDED,
        running_ms=spent.worked_ms,
        row_count=kept.manifest.row_count,
        byte_count=kept.manifest.byte_count,
        scans=with_shown_counts(kept.scans, record.access),
        applied=kept.applied,
        reused=reused,
    )


def failed(
    record: QueryRecord, failure: GatewayError, seen: GatewayError, pruned: PrunedQuery, spent: Spent
) -> QueryRecord:
    """Returns the record of a query that has no result; its caller sees `seen` as the reason.

    It gives its requestId back while nobody knows how its write ends: a repeat has to find that out.
    """
    planning_ms = _planning_ms(failure, _pruning_ms(record), spent.worked_ms)
    run = engine_run(failure)
    writes_still = record.write is not None and not record.write.state.is_final
    return replace(
        record,
        request_id=None if writes_still else record.request_id,
        state=QueryState.CANCELED if isinstance(seen, QueryCanceled) else QueryState.FAILED,
        error=QueryError(seen.code, seen.detail),
        queued_ms=spent.queued_ms,
        planning_ms=planning_ms,
        running_ms=spent.worked_ms - planning_ms,
        scans=() if run is None else with_shown_counts(run.scans, record.access),
        applied=None if run is None else run.applied,
        filters=_filters(record, pruned, () if run is None else run.scans),
    )


def engine_run(failure: GatewayError) -> EngineRun | None:
    """Returns the engine's report, if the query had started to run."""
    return failure.run if isinstance(failure, QueryEnded) else None


def _filters(
    record: QueryRecord, pruned: PrunedQuery, scans: Sequence[ScanRecord]
) -> tuple[FilterRecord, ...]:
    return (*record.filters, *unfiltered_scans(pruned, scans))


def _pruning_ms(record: QueryRecord) -> int:
    return record.parse_ms + record.detect_ms + record.filters_ms


def _planning_ms(failure: GatewayError, pruning_ms: int, worked_ms: int) -> int:
    """Returns how much of the worker's time had passed when the plan was ready, as far as is known."""
    run = engine_run(failure)
    if run is not None:
        return min(pruning_ms + run.planning_ms, worked_ms)
    # A lost engine cannot report its progress; any other failure without a report means that nothing ran.
    return min(pruning_ms, worked_ms) if isinstance(failure, EngineLost) else worked_ms
