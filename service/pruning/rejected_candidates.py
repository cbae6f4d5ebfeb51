"""The rejected candidates of a query, by table reference, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from service.model.filters.dynamic_filter import Build, JoinType, Probe
from service.model.filters.filter_record import FilterRecord, Reason
from service.model.filters.joins import Candidate
from service.model.filters.key_set import FilterForm, FilterSource
from service.model.tables.sql import ReferenceLabel
from service.pruning.join_graph.unfiltered_references import FactsOf, reference_of


class RejectedCandidates:
    """The rejected candidates of one query.

    Two references to a table are two scans, each with reasons of its own.
    """

    def __init__(self, facts_of: FactsOf, label_at: Callable[[int], ReferenceLabel | None]) -> None:
        self._facts_of = facts_of
        self._label_at = label_at
        self._rejected: dict[tuple[object, ...], FilterRecord] = {}
        self._left: dict[int, FilterRecord] = {}
        self._references: set[int] = set()

    @property
    def records(self) -> tuple[FilterRecord, ...]:
        """The records of rejected candidates."""
        return tuple(self._rejected.values())

    def reported(self, table: exp.Table) -> FilterRecord | bool:
        """Returns True if a table reference has a candidate, else what `leave` recorded for it, or False."""
        table_reference = reference_of(table)
        return table_reference in self._references or self._left.get(table_reference, False)

    def note_filter(self, table_reference: int) -> None:
        """Notes that this table reference has a filter."""
        self._references.add(table_reference)

    def reject(
        self, candidate: Candidate, table: exp.Table, probe: Probe, reason: Reason, detail: str = ""
    ) -> None:
        """Records why the candidate is rejected; `detail` says it more exactly, in words."""
        record = self._record(candidate, probe, reason, [candidate.build.column])
        self._reject(reference_of(table), replace(record, detail=detail))

    def reject_together(
        self, candidates: Sequence[Candidate], table_reference: int, probe: Probe, reason: Reason
    ) -> None:
        """Records why the tuples of several candidates' keys are not a filter."""
        columns = [candidate.build.column for candidate in candidates]
        self._reject(table_reference, self._record(candidates[0], probe, reason, columns))

    def leave(
        self, candidate: Candidate, table: exp.Table, probe: Probe, reason: Reason, detail: str = ""
    ) -> None:
        """Records why a pair of columns is not a candidate, for a table reference that has no candidate."""
        table_reference = reference_of(table)
        if table_reference not in self._left:
            record = self._record(candidate, probe, reason, [candidate.build.column])
            self._left[table_reference] = self._named(
                replace(record, join_type=JoinType.NONE, detail=detail), table_reference
            )

    def named(self, record: FilterRecord, table: exp.Table) -> FilterRecord:
        """Returns the record with the number and the alias of its table reference."""
        return self._named(record, reference_of(table))

    def _reject(self, table_reference: int, record: FilterRecord) -> None:
        self._references.add(table_reference)
        key = (table_reference, record.probe.columns, record.build, record.reason)
        self._rejected[key] = self._named(record, table_reference)

    def _named(self, record: FilterRecord, table_reference: int) -> FilterRecord:
        found = self._label_at(table_reference + 1)
        if found is None:
            return record
        return replace(record, probe=replace(record.probe, alias=found.alias, table_reference=found.number))

    def _record(
        self, candidate: Candidate, probe: Probe, reason: Reason, columns: Sequence[str]
    ) -> FilterRecord:
        relation = candidate.build_graph.relations[candidate.build.relation]
        facts = self._facts_of(relation) if isinstance(relation, exp.Table) else None
        build = Build((facts.name,) if facts else (), tuple(columns), "", ())
        return FilterRecord("", candidate.join_type, probe, build, FilterSource.NONE, FilterForm.NONE, reason)
