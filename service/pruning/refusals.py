"""The rejected candidates of a query, by table reference, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from service.model.filters.filtering import (
    Build,
    FilterForm,
    FilterRecord,
    FilterSource,
    JoinType,
    Probe,
    Reason,
)
from service.model.filters.joins import Candidate
from service.model.tables.sql import Mention
from service.pruning.join_graph.left_out import FactsOf, mention_of


class Refusals:
    """The rejected candidates of one query.

    Two references to a table are two scans, each with reasons of its own.
    """

    def __init__(self, facts_of: FactsOf, mention_at: Callable[[int], Mention | None]) -> None:
        self._facts_of = facts_of
        self._mention_at = mention_at
        self._refused: dict[tuple[object, ...], FilterRecord] = {}
        self._left: dict[int, FilterRecord] = {}
        self._mentions: set[int] = set()

    @property
    def records(self) -> tuple[FilterRecord, ...]:
        """The records of rejected candidates."""
        return tuple(self._refused.values())

    def told(self, table: exp.Table) -> FilterRecord | bool:
        """Returns True if a table reference has a candidate, else what `leave` recorded for it, or False."""
        mention = mention_of(table)
        return mention in self._mentions or self._left.get(mention, False)

    def note_filter(self, mention: int) -> None:
        """Notes that this table reference has a filter."""
        self._mentions.add(mention)

    def refuse(
        self, candidate: Candidate, table: exp.Table, probe: Probe, reason: Reason, detail: str = ""
    ) -> None:
        """Records why the candidate is rejected; `detail` says it more exactly, in words."""
        record = self._record(candidate, probe, reason, [candidate.build.column])
        self._refuse(mention_of(table), replace(record, detail=detail))

    def refuse_together(
        self, candidates: Sequence[Candidate], mention: int, probe: Probe, reason: Reason
    ) -> None:
        """Records why the tuples of several candidates' keys are not a filter."""
        columns = [each.build.column for each in candidates]
        self._refuse(mention, self._record(candidates[0], probe, reason, columns))

    def leave(
        self, candidate: Candidate, table: exp.Table, probe: Probe, reason: Reason, detail: str = ""
    ) -> None:
        """Records why a pair of columns is not a candidate, for a table reference that has no candidate."""
        mention = mention_of(table)
        if mention not in self._left:
            record = self._record(candidate, probe, reason, [candidate.build.column])
            self._left[mention] = self._named(
                replace(record, join_type=JoinType.NONE, detail=detail), mention
            )

    def named(self, record: FilterRecord, table: exp.Table) -> FilterRecord:
        """Returns the record with the number and the alias of its table reference."""
        return self._named(record, mention_of(table))

    def _refuse(self, mention: int, record: FilterRecord) -> None:
        self._mentions.add(mention)
        key = (mention, record.probe.columns, record.build, record.reason)
        self._refused[key] = self._named(record, mention)

    def _named(self, record: FilterRecord, mention: int) -> FilterRecord:
        found = self._mention_at(mention + 1)
        if found is None:
            return record
        return replace(record, probe=replace(record.probe, alias=found.alias, mention=found.number))

    def _record(
        self, candidate: Candidate, probe: Probe, reason: Reason, columns: Sequence[str]
    ) -> FilterRecord:
        relation = candidate.build_graph.relations[candidate.build.relation]
        facts = self._facts_of(relation) if isinstance(relation, exp.Table) else None
        build = Build((facts.name,) if facts else (), tuple(columns), "", ())
        return FilterRecord("", candidate.join_type, probe, build, FilterSource.NONE, FilterForm.NONE, reason)
