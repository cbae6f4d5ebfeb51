"""The rewrites of texts whose filters, keys and rows in memory are those of an earlier query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.bounded_lru import BoundedLru
from service.model.filters.filter_record import FilterOutcome
from service.query.filtering.detection.detected import Detected
from service.query.filtering.detection.read_text import MAX_CACHED_TEXTS, tree_bytes
from service.query.filtering.passes.cached_relations import Cached
from service.query.filtering.pruned_query import PrunedQuery
from service.query.filtering.pruning_bounds import PruningBounds


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RewriteInput:
    """All that a pruned query is made from, besides its times."""

    sql: str
    detected: Detected
    outcomes: Mapping[str, FilterOutcome]
    cached: Cached
    bounds: PruningBounds
    takes_late: bool

    def is_same(self, other: RewriteInput) -> bool:
        """Whether both make the same pruned query.

        The same detection is the same object for as long as the tables stay as they are, and so are keys in
        memory. Equal keys that were read again count as others: there may be millions to compare.
        """
        mine, theirs = self.detected, other.detected
        return (
            mine.detection is theirs.detection
            and _are_same(self.outcomes, other.outcomes)
            and self.bounds == other.bounds
            and self.takes_late == other.takes_late
            and list(self.cached) == list(other.cached)
            and mine.names == theirs.names
            and mine.facts == theirs.facts
            and mine.expanded_views == theirs.expanded_views
        )

    @property
    def byte_count(self) -> int:
        """About the memory that it takes, with the query that is made from it."""
        return 2 * tree_bytes(self.sql) + sum(outcome.byte_count for outcome in self.outcomes.values())

    @property
    def is_final(self) -> bool:
        """Whether a later query with the same input has the same filters.

        It might have others once more is known of the tables' files, or once late keys have come. Filters of
        several columns depend on what `detected.knowledge` does not note.
        """
        assignments = self.detected.detection.assignments
        return (
            not self.detected.knowledge.pending
            and all(len(assignment.filter.probe.columns) == 1 for assignment in assignments)
            and all(outcome.later is None for outcome in self.outcomes.values())
        )


class KnownRewrites:
    """Keeps pruned queries by their texts. Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self._known: BoundedLru[str, tuple[RewriteInput, PrunedQuery]] = BoundedLru(
            MAX_CACHED_TEXTS, max_bytes
        )

    def get(self, asked: RewriteInput) -> PrunedQuery | None:
        """Returns the query that was made from the same input, with the times of that one."""
        # Not compared within the lock of the cache, which all queries share.
        found = self._known.get(asked.sql)
        return found[1] if found is not None and found[0].is_same(asked) else None

    def keep(self, asked: RewriteInput, pruned: PrunedQuery) -> None:
        """Keeps the query that was made from this input, if the next one would be the same."""
        if asked.is_final:
            self._known.put(asked.sql, (asked, pruned), asked.byte_count)


def _are_same(some: Mapping[str, FilterOutcome], others: Mapping[str, FilterOutcome]) -> bool:
    return some.keys() == others.keys() and all(_is_same(some[name], others[name]) for name in some)


def _is_same(one: FilterOutcome, other: FilterOutcome) -> bool:
    has_values = bool(one.data.values or other.data.values)
    return (one.data is other.data or not has_values) and one == other
