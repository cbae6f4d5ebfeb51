"""The filters that were found in a query's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.pruning.detection import Detection
from service.pruning.name_resolution.is_readable_again import is_readable_again
from service.query.filtering.detection.probe_knowledge import ProbeKnowledge


@dataclass(frozen=True, slots=True)
class Detected:
    """The filters of a query, and the facts that they were found by.

    `parsed` is the query's text with `expanded_views` expanded: each maps to the tables and views that it
    reads. `names` are keyed by where each name ends in that text. `knowledge` is what is known of their
    files.
    """

    parsed: ParsedQuery
    names: Mapping[int, TableAt]
    facts: Mapping[TableAt, TableFacts]
    detection: Detection
    parse_ms: int
    detect_ms: int
    knowledge: ProbeKnowledge
    expanded_views: Mapping[TableName, tuple[TableName, ...]] = field(default_factory=dict)

    def builds_of(self, found: DynamicFilter) -> list[TableFacts]:
        """Returns the facts of the tables that the filter's keys come from."""
        tables = zip(found.build.tables, found.build.snapshot_ids, strict=True)
        return [self.facts_at(name, snapshot_id) for name, snapshot_id in tables]

    def facts_at(self, name: TableName, snapshot_id: int | None) -> TableFacts:
        """Returns the facts of a table that a filter or a relation is made from."""
        return next(
            fact
            for fact in self.facts.values()
            if (fact.name, fact.snapshot_id) == (name, snapshot_id) and is_readable_again(fact)
        )
