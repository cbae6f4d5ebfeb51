"""Finds the filters that may still leave out files when their keys come while the query runs."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import replace

import structlog

from service.model.filters.filter_record import FilterOutcome, FilterRecord
from service.model.filters.key_set import FilterForm, FilterSource
from service.ports.engine.late_filters import LateFilter
from service.pruning.detection import FilterAssignment
from service.query.filtering.detection.detected import Detected
from service.query.filtering.formed_filters import filter_records, formed_filters
from service.query.filtering.late_keys import LateKeys
from service.query.filtering.pruning_bounds import PruningBounds
from service.query.filtering.single_readings import single_readings

log = structlog.get_logger(__name__)


def late_filters(
    detected: Detected, outcomes: Mapping[str, FilterOutcome], bounds: PruningBounds
) -> tuple[LateKeys, ...]:
    """Returns the filters whose collection goes on, and whose scan is the only one of its table."""
    if not bounds.takes_late:
        return ()
    found: list[LateKeys] = []
    is_single = single_readings(detected)
    for assignment in detected.detection.assignments:
        outcome = outcomes.get(assignment.filter.filter_id)
        if outcome is not None and outcome.later is not None and is_single(assignment):
            found.append(_late_keys(assignment, outcome.later, detected, bounds))
    return tuple(found)


def _late_keys(
    assignment: FilterAssignment,
    later: Future[FilterOutcome | None],
    detected: Detected,
    bounds: PruningBounds,
) -> LateKeys:
    record: Future[FilterRecord] = Future()
    condition: Future[str | None] = Future()
    alone = replace(detected, detection=replace(detected.detection, assignments=(assignment,)))

    def come(done: Future[FilterOutcome | None]) -> None:
        found = None
        try:
            found = _formed(done.result(), alone, bounds)
        except CancelledError:
            pass
        except Exception as failure:  # the outermost edge of a collection: the query runs without it
            log.exception("late_filter_failed", error=type(failure).__name__)
        if found is not None:
            record.set_result(found[0])
        condition.set_result(None if found is None else found[1])

    probe = assignment.filter.probe
    assert probe.snapshot_id is not None  # or it was not certain
    asked = LateFilter(assignment.filter.filter_id, probe.table, probe.snapshot_id, condition)
    later.add_done_callback(come)
    return LateKeys(asked, assignment.filter.fingerprint, record)


def _formed(
    outcome: FilterOutcome | None, alone: Detected, bounds: PruningBounds
) -> tuple[FilterRecord, str] | None:
    """Returns the record of the applied filter and its condition; None if it leaves out nothing.

    Without any key, the engine finds by itself that it needs no rows.
    """
    if outcome is None or not outcome.data.is_filtering:
        return None
    formed = formed_filters(alone, {alone.detection.assignments[0].filter.filter_id: outcome}, bounds)
    [record] = filter_records(formed, alone)
    found = formed[0].formed
    if found is None or found.form is FilterForm.EMPTY:
        return None
    return replace(record, source=FilterSource.ARRIVED_LATE), found.condition.sql("spark")
