"""What became of no filter: a record of each candidate, by the mention of the table that it is on."""

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
    """One query's. Two mentions of a table are two scans, of which each has its reasons."""

    def __init__(self, facts_of: FactsOf, mention_at: Callable[[int], Mention | None]) -> None:
        self._facts_of = facts_of
        self._mention_at = mention_at
        self._refused: dict[tuple[object, ...], FilterRecord] = {}
        self._left: dict[int, FilterRecord] = {}
        self._mentions: set[int] = set()

    @property
    def records(self) -> tuple[FilterRecord, ...]:
        """Those of candidates."""
        return tuple(self._refused.values())

    def told(self, table: exp.Table) -> FilterRecord | bool:
        """Whether a mention of a table has a candidate, or else the record of one that was left."""
        mention = mention_of(table)
        return mention in self._mentions or self._left.get(mention, False)

    def note_filter(self, mention: int) -> None:
        """This mention has a candidate that became a filter."""
        self._mentions.add(mention)

    def refuse(
        self, candidate: Candidate, table: exp.Table, probe: Probe, reason: Reason, detail: str = ""
    ) -> None:
        """Why the candidate is no filter; `detail` says it more exactly, in words."""
        record = self._record(candidate, probe, reason, [candidate.build.column])
        self._refuse(mention_of(table), replace(record, detail=detail))

    def refuse_together(
        self, candidates: Sequence[Candidate], mention: int, probe: Probe, reason: Reason
    ) -> None:
        """Why the tuples of several candidates' keys are none."""
        columns = [each.build.column for each in candidates]
        self._refuse(mention, self._record(candidates[0], probe, reason, columns))

    def leave(
        self, candidate: Candidate, table: exp.Table, probe: Probe, reason: Reason, detail: str = ""
    ) -> None:
        """Why a pair of columns is no candidate, of which none is missed where the mention has another."""
        mention = mention_of(table)
        if mention not in self._left:
            record = self._record(candidate, probe, reason, [candidate.build.column])
            self._left[mention] = self._named(
                replace(record, join_type=JoinType.NONE, detail=detail), mention
            )

    def named(self, record: FilterRecord, table: exp.Table) -> FilterRecord:
        """The same, with the mention that it is on as people read it."""
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
