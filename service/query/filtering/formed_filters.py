"""Turns each filter's keys into a predicate, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from service.model.filters.column_values import ColumnValues
from service.model.filters.dynamic_filter import Probe
from service.model.filters.filter_record import FilterOutcome, FilterRecord, Reason
from service.model.filters.key_set import FilterForm, KeyValue
from service.pruning.detection import FilterAssignment
from service.pruning.predicates.composite_predicate import NO_TUPLES, TupleBounds, composite_predicate
from service.pruning.predicates.form import FormBounds, form, listed_keys
from service.pruning.predicates.predicate import FormedPredicate, never_predicate
from service.pruning.scan_layout.reaches_lowest_bucket import reaches_lowest_bucket
from service.pruning.scan_layout.takes_lists_only import takes_lists_only
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detection.detected import Detected
from service.query.filtering.pruned_query import filter_record
from service.query.filtering.pruning_bounds import PruningBounds
from service.query.filtering.single_readings import single_readings

_NOT_WORTH = FilterOutcome.none(Reason.NOT_WORTH_COLLECTING)


@dataclass(frozen=True, slots=True)
class FormedFilter:
    """A filter, the outcome of its collection, and its predicate; None for the outcome's reason."""

    assignment: FilterAssignment
    outcome: FilterOutcome
    formed: FormedPredicate | None


def formed_filters(
    detected: Detected,
    outcomes: Mapping[str, FilterOutcome],
    bounds: PruningBounds,
    later: frozenset[int] = frozenset(),
) -> list[FormedFilter]:
    """Returns one for each placement, in their order.

    The references in `later` are read in a later state than that of detection, so their predicates have every
    key, whatever the tables' files hold now. Then no scan compares tuples: the statement writes.

    Filters of one column all get the predicate of the keys that they have in common: a file may hold a key of
    each filter, and none that is in all of them.
    """
    forms = _Forms(detected, bounds, later)
    found = [
        forms.formed(assignment, outcomes.get(assignment.filter.filter_id, _NOT_WORTH))
        for assignment in detected.detection.assignments
    ]
    for together in _on_one_column(found):
        common = reduce(frozenset.intersection, together.values())
        for at, keys in together.items():
            if len(common) < len(keys):
                found[at] = forms.formed(found[at].assignment, found[at].outcome, common)
    return found


def filter_records(formed: Sequence[FormedFilter], detected: Detected) -> list[FilterRecord]:
    """Returns the record of each filter, in their order."""
    return [
        filter_record(
            found.assignment,
            found.outcome,
            found.formed,
            detected.parsed.label_at(found.assignment.reference_end),
        )
        for found in formed
    ]


def applied_filters(formed: Sequence[FormedFilter]) -> list[AppliedFilter]:
    """Returns the filters that have a predicate."""
    return [
        AppliedFilter(found.assignment, found.formed, len(found.outcome.data.values))
        for found in formed
        if found.formed is not None
    ]


def _on_one_column(found: Sequence[FormedFilter]) -> Iterator[Mapping[int, frozenset[KeyValue]]]:
    """Yields the keys of filters on the same column of the same scan, by their places in the list."""
    columns: dict[tuple[int, str], list[int]] = {}
    for at, formed_filter in enumerate(found):
        probe = formed_filter.assignment.filter.probe
        if formed_filter.formed is not None and len(probe.columns) == 1:
            columns.setdefault((formed_filter.assignment.reference_end, probe.columns[0]), []).append(at)
    for places in columns.values():
        if len(places) < 2:
            # Most columns have one filter; its keys may be many and are not read here.
            continue
        listed = {at: listed_keys(found[at].assignment.filter, found[at].outcome.data) for at in places}
        known = {at: keys for at, keys in listed.items() if keys is not None}
        if len(known) > 1:
            yield known


class _Forms:
    """Forms the predicates of one query."""

    def __init__(self, detected: Detected, bounds: PruningBounds, later: frozenset[int]) -> None:
        self._detected = detected
        self._bounds = bounds
        self._later = later
        compares = bounds.tuples.are_compared and not later
        self._is_single = single_readings(detected) if compares else lambda _: False

    def formed(
        self, assignment: FilterAssignment, outcome: FilterOutcome, among: frozenset[KeyValue] | None = None
    ) -> FormedFilter:
        """Forms the predicate of the filter's keys; if `among` is given, only of those among it."""
        if not outcome.data.is_filtering:
            return FormedFilter(assignment, outcome, None)
        within, is_too_large = self._bounds.form_of(outcome.data)
        if is_too_large:
            outcome = replace(outcome, data=replace(outcome.data, exceeds_threshold=True))
        tuples = NO_TUPLES if is_too_large else self._tuple_bounds(assignment)
        formed = self._form(assignment, outcome, within, tuples, among)
        if isinstance(formed, Reason):
            return FormedFilter(assignment, replace(outcome, reason=formed), None)
        is_later = assignment.reference_end in self._later
        if formed.form is FilterForm.EMPTY and (assignment.is_in_union or is_later):
            formed = self._never(assignment.filter.probe, is_later=is_later)
        return FormedFilter(assignment, outcome, formed)

    def _tuple_bounds(self, assignment: FilterAssignment) -> TupleBounds:
        is_on_several = len(assignment.filter.probe.columns) > 1
        return replace(self._bounds.tuples, are_compared=is_on_several and self._is_single(assignment))

    def _never(self, probe: Probe, *, is_later: bool) -> FormedPredicate:
        column_values = self._values_of(probe, is_later=is_later)[0]
        some = None if column_values is None else next(iter(column_values.values or ()), column_values.lower)
        return never_predicate(probe.columns[0], probe.type_names[0], some)

    def _form(
        self,
        assignment: FilterAssignment,
        outcome: FilterOutcome,
        within: FormBounds,
        tuples: TupleBounds,
        among: frozenset[KeyValue] | None,
    ) -> FormedPredicate | Reason:
        found = assignment.filter
        probe = found.probe
        facts = self._detected.facts_at(probe.table, probe.snapshot_id)
        is_later = assignment.reference_end in self._later
        column_values = self._values_of(probe, is_later=is_later)
        if len(column_values) > 1:
            partitions = (
                None
                if facts.restriction.is_any or is_later
                else self._detected.knowledge.partitions(probe.table, probe.snapshot_id, probe.columns)
            )
            formed = composite_predicate(probe, outcome.data.values, column_values, tuples, partitions)
        else:
            is_hashed = takes_lists_only(facts, probe.columns[0]) and not (
                column_values[0] and column_values[0].is_clustered
            )
            formed = form(found, outcome.data, column_values[0], is_hashed, within, among)
        if not isinstance(formed, Reason) and reaches_lowest_bucket(formed.condition, facts):
            return Reason.RANGES_ONLY
        return formed

    def _values_of(self, probe: Probe, *, is_later: bool) -> Sequence[ColumnValues | None]:
        """Returns the values in each column; None where they are unknown, or a principal must not learn them.

        They are unknown of a table that is read later.

        The keys of a predicate, which the principal can see, would show which of them hidden rows have.
        """
        facts = self._detected.facts_at(probe.table, probe.snapshot_id)
        if facts.restriction.is_any or is_later:
            return [None] * len(probe.columns)
        knowledge = self._detected.knowledge
        return [knowledge.values_of((probe.table, probe.snapshot_id, column)) for column in probe.columns]
