"""Records of scans that a rewritten query does not make, or may not make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.model.filters.key_set import FilterForm
from service.model.query.scan_metrics import ScanRecord
from service.model.tables.tables import TableFacts, TableSource
from service.pruning.rewrites.local_relations import RelationAssignment
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detection.detected import Detected
from service.query.filtering.passes.references import read_references
from service.query.filtering.pruned_query import skipped_scan


def skipped_scans_of(
    applied: Sequence[AppliedFilter], relations: Iterable[RelationAssignment], detected: Detected
) -> tuple[ScanRecord, ...]:
    """Returns the scans whose filter has no key, and those of tables that are read from memory."""
    return (*_skipped(applied, detected), *(_unread(place, detected) for place in relations))


def _skipped(applied: Sequence[AppliedFilter], detected: Detected) -> list[ScanRecord]:
    empty = {
        applied_filter.end: applied_filter
        for applied_filter in applied
        if applied_filter.formed.form is FilterForm.EMPTY
    }
    return [skipped_scan(_facts_of(applied_filter, detected)) for applied_filter in empty.values()]


def referenced_scans(detected: Detected) -> tuple[ScanRecord, ...]:
    """Returns one record for each snapshot that the text reads; each may be skipped when it runs."""
    read = (facts for _, facts in read_references(detected) if facts is not None)
    facts = {(facts.name, facts.snapshot_id): facts for facts in read}.values()
    return tuple(skipped_scan(fact) for fact in facts if fact.source is TableSource.ICEBERG)


def _unread(place: RelationAssignment, detected: Detected) -> ScanRecord:
    rows_of = place.query.rows_of
    return skipped_scan(detected.facts_at(rows_of.tables[0], rows_of.snapshot_ids[0]))


def _facts_of(applied: AppliedFilter, detected: Detected) -> TableFacts:
    probe = applied.assignment.filter.probe
    return detected.facts_at(probe.table, probe.snapshot_id)
