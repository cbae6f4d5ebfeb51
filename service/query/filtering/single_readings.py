"""Which filters are for the only scan of their table?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from service.pruning.detection import FilterAssignment
from service.query.filtering.detection.detected import Detected
from service.query.filtering.passes.pins import pins
from service.query.filtering.passes.references import read_references


def single_readings(detected: Detected) -> Callable[[FilterAssignment], bool]:
    """Returns whether a filter's keys hold for all that a query reads of the filtered table.

    The text must then read each table at the snapshot of detection, whether or not it has other filters.
    """
    if any(name not in detected.facts for name in detected.names.values()):
        # An unexpanded view may read the same table.
        return lambda _: False
    pinned = pins(detected, (), ())
    named = Counter(facts.name for _, facts in read_references(detected) if facts is not None)
    unpinned = {
        facts.name
        for reference, facts in read_references(detected)
        if facts is not None and reference.end not in pinned
    }

    def is_single(assignment: FilterAssignment) -> bool:
        probe, build = assignment.filter.probe, assignment.filter.build
        if probe.snapshot_id is None or not assignment.filter.is_cacheable or named[probe.table] != 1:
            return False
        if unpinned & {probe.table, *build.tables}:
            return False
        # Policies may show other values of the column than its files have.
        return not detected.facts_at(probe.table, probe.snapshot_id).restriction.is_any

    return is_single
