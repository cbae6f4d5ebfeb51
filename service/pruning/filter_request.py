"""A request for a filter on one table reference."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from service.model.filters.dynamic_filter import Probe
from service.model.filters.joins import Candidate
from service.pruning.build_side.build_query import BuildQuery
from service.pruning.build_side.converted_query import converted_query
from service.pruning.candidates.key_plan import KeyPlan
from service.pruning.join_graph.filter_pushdown import Reading
from service.pruning.join_graph.unfiltered_references import reference_of


@dataclass(frozen=True, slots=True)
class FilterRequest:
    """A request for a filter: a table reference, the candidate, and the plan for its keys.

    With a `reading`, other places read the same table reference, and may need other rows of it.
    """

    candidate: Candidate
    table: exp.Table
    probe: Probe
    plan: KeyPlan
    reading: Reading | None = None

    @property
    def end(self) -> int | None:
        """Where the table's name ends in the text; None when that is not known."""
        end: int | None = self.table.this.meta.get("end")
        return end

    @property
    def group_key(self) -> tuple[object, ...]:
        """A value that requests of several readers share exactly if one filter can serve them."""
        read = None if self.reading is None else self.reading.of
        is_null_safe = self.candidate.is_null_safe
        return (
            *(reference_of(self.table), read, self.probe.columns),
            *(self.plan.type_name, self.plan.span, is_null_safe),
        )

    @property
    def is_converted(self) -> bool:
        """Whether the keys are converted to the type of the filtered column."""
        return self.plan.cast_to is not None or self.plan.expression is not None

    def converted(self, query: BuildQuery) -> BuildQuery:
        """Returns the query for the build side's keys as one for keys of the filtered column's type."""
        return converted_query(query, self.plan.expression, self.plan.cast_to, self.candidate.is_null_safe)
