"""The limits of pruning for one query."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.model.filters.key_set import DynamicFilteringData
from service.model.filters.keys import size_in_arrow
from service.model.query.query import PruningRequest
from service.pruning.predicates.composite_predicate import NO_TUPLES, TupleBounds
from service.pruning.predicates.form import FormBounds
from service.query.filtering.rewrite import RewriteBounds


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningBounds:
    """The operator's bounds, or those of one query. `max_filter_bytes` None: as many as are collected.

    `takes_late`: a filter that comes after the query has begun may leave out files of scans that have not.
    """

    is_enabled: bool
    min_table_bytes: int
    form: FormBounds
    rewrites: RewriteBounds
    max_filter_bytes: int | None = None
    tuples: TupleBounds = NO_TUPLES
    takes_late: bool = False

    def within(self, asked: PruningRequest) -> PruningBounds:
        """Applies a caller's options; `asked` never exceeds the operator's bounds."""
        return PruningBounds(
            is_enabled=self.is_enabled and asked.is_enabled,
            min_table_bytes=self.min_table_bytes if asked.min_table_bytes is None else asked.min_table_bytes,
            form=_form(self.form, asked),
            rewrites=replace(
                self.rewrites,
                kinds=frozenset(filter(asked.allows, self.rewrites.kinds)),
                is_verified=asked.is_verified,
            ),
            max_filter_bytes=asked.max_filter_bytes,
            tuples=_tuples(self.tuples, asked),
            takes_late=self.takes_late,
        )

    def form_of(self, data: DynamicFilteringData) -> tuple[FormBounds, bool]:
        """Returns the bounds of a predicate of these keys, and whether they exceed the caller's limit.

        If they do, the predicate has no lists.
        """
        if self.max_filter_bytes is None or size_in_arrow(data.values) <= self.max_filter_bytes:
            return self.form, False
        return replace(self.form, max_in_list=0, max_listed=0), True


def _form(bounds: FormBounds, asked: PruningRequest) -> FormBounds:
    max_in_list = bounds.max_in_list if asked.max_in_list is None else asked.max_in_list
    return FormBounds(
        max_in_list=max_in_list,
        max_ranges=bounds.max_ranges if asked.max_ranges is None else asked.max_ranges,
        # If only lists can prune, a caller who wants short lists gets no longer ones.
        max_listed=bounds.max_listed if asked.max_in_list is None else min(max_in_list, bounds.max_listed),
    )


def _tuples(bounds: TupleBounds, asked: PruningRequest) -> TupleBounds:
    """Never allows more than a caller wants of one column."""
    return TupleBounds(
        max_parts=bounds.max_parts if asked.max_ranges is None else min(asked.max_ranges, bounds.max_parts),
        max_values=bounds.max_values
        if asked.max_in_list is None
        else min(asked.max_in_list, bounds.max_values),
        are_compared=bounds.are_compared,
    )
