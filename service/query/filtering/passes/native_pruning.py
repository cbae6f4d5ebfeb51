"""Switches off the engine's own pruning where the filters do at least as much."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from service.model.filters.filter_record import FilterRecord
from service.model.filters.key_set import FilterForm
from service.pruning.scan_layout.covers_native_pruning import covers_native_pruning
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detection.detected import Detected
from service.query.filtering.passes.references import read_references


def is_covered(
    detected: Detected,
    applied: Sequence[AppliedFilter],
    filters: Sequence[FilterRecord],
    local: Collection[int],
) -> bool:
    """Whether the filters cover all that the engine would prune itself.

    `local` is where the names of the tables end whose rows are read from memory.
    """
    read = [
        (reference.end, facts) for reference, facts in read_references(detected) if reference.end not in local
    ]
    scans = [(end, facts) for end, facts in read if facts is not None]
    are_all_known = all(reference.has_known_version for reference in detected.parsed.references)
    if len(scans) < len(read) or not are_all_known or detected.detection.has_joining_subqueries:
        return False
    filtered: dict[tuple[int, str], bool] = {}
    for applied_filter in applied:
        columns = applied_filter.assignment.filter.probe.columns
        if len(columns) == 1:
            place = applied_filter.end, columns[0]
            filtered[place] = filtered.get(place, True) and _says_all(applied_filter)
    unapplied = [filter_ for filter_ in filters if not filter_.is_applied]
    return covers_native_pruning(
        scans,
        filtered,
        unapplied,
        detected.detection.unfiltered,
        has_filters_outside=detected.detection.has_filters_outside,
    )


def _says_all(applied: AppliedFilter) -> bool:
    """Whether the engine's own pruning by the same join would leave out no more."""
    if applied.formed.form is FilterForm.EMPTY:
        return True
    assignment = applied.assignment
    # Converted keys may match more: a day matches all of its timestamps.
    is_exact = applied.formed.is_exact and not assignment.filter.is_converted
    return is_exact and assignment.is_whole and not assignment.is_shared
