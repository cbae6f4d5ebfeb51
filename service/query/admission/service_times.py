"""How long queries run, as measured."""

from __future__ import annotations

from service.model.operations.resource_groups import QueryClass

NEWEST_COUNTS = 0.2
"""The weight of the newest query in the mean."""
FIRST_GUESS_MS = {QueryClass.SHORT: 100, QueryClass.LONG: 2_000}
"""Only for turns: what a running query is expected to take before any was measured."""


class ServiceTimes:
    """The mean time that queries of a class run; newer ones count more."""

    def __init__(self) -> None:
        self._means_ms: dict[QueryClass, float] = {}

    def note(self, query_class: QueryClass, ran_ms: int) -> None:
        """Counts a query that has ended."""
        mean = self._means_ms.get(query_class, float(ran_ms))
        self._means_ms[query_class] = mean + NEWEST_COUNTS * (ran_ms - mean)

    def mean_ms(self, query_class: QueryClass) -> float | None:
        """Returns the mean; None if no query of this class has ended yet."""
        return self._means_ms.get(query_class)

    def expected_ms(self, query_class: QueryClass) -> float:
        """Returns the mean, or a guess; never 0, so that each turn counts."""
        return max(1.0, self._means_ms.get(query_class, FIRST_GUESS_MS[query_class]))
