"""Collects what it was told; of all else it says that another must collect it."""

from __future__ import annotations

from collections.abc import Callable

from service.errors import QueryCanceled
from service.model.filtering import DynamicFilter, DynamicFilteringData, Key
from service.model.query import Parameters


class FakeKeyCollector:
    def __init__(self, max_keys: int = 1_000) -> None:
        self._max_keys = max_keys
        self._told: dict[str, tuple[Key, ...]] = {}
        self.collected: list[str] = []

    def put(self, filtering_query: str, keys: tuple[Key, ...]) -> None:
        self._told[filtering_query] = keys

    def collect(
        self,
        wanted: DynamicFilter,
        parameters: Parameters,  # noqa: ARG002
        is_canceled: Callable[[], bool],
    ) -> DynamicFilteringData | None:
        keys = self._told.get(wanted.filtering_query)
        if keys is None:
            return None
        if is_canceled():
            raise QueryCanceled
        self.collected.append(wanted.filtering_query)
        if len(keys) > self._max_keys:
            return DynamicFilteringData.not_filtering(exceeds_threshold=True)
        values = {each for each in keys if None not in each}
        has_null = wanted.is_null_safe and len(values) < len(set(keys))
        return DynamicFilteringData(tuple(sorted(values)), is_filtering=True, has_null=has_null)
