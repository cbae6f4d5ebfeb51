"""A filter that is written into the text."""

from __future__ import annotations

from dataclasses import dataclass

from service.pruning.detection import FilterAssignment
from service.pruning.predicates.predicate import FormedPredicate


@dataclass(frozen=True, slots=True)
class AppliedFilter:
    """A filter with its predicate, and how many keys there are."""

    assignment: FilterAssignment
    formed: FormedPredicate
    key_count: int

    @property
    def end(self) -> int:
        """Where in the text the name of the filtered table ends."""
        return self.assignment.reference_end
