"""An in-memory filter cache that can be taken down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from service.adapters.filters.sampled_keys import sampled_keys, stored_form
from service.errors.query_errors import FilterCollectionTimedOut, QueryCanceled, QueryTimedOut
from service.errors.unavailable import FilterCacheDown
from service.model.filters.dynamic_filter import Build, DynamicFilter
from service.model.filters.key_set import (
    CachedFilter,
    DynamicFilteringData,
    EarlierKeys,
    FilterSource,
    ObtainedKeys,
)
from service.model.operations.health import PartHealth, PartState
from service.ports.clock import Clock
from service.single_flight import SingleFlight
from tests.fakes.clock import FakeClock
from tests.fakes.kept_rows import FakeKeptRows

KEY_BYTES = 8


class FakeFilterCache:
    """Counts eight bytes for each value."""

    def __init__(self, clock: Clock | None = None, time_to_live: timedelta = timedelta(hours=24)) -> None:
        self.is_down = False
        self.stored: dict[str, tuple[CachedFilter, DynamicFilteringData]] = {}
        self._latest: dict[str, str] = {}
        self.superseded: list[str] = []
        self.kept_rows = FakeKeptRows()
        self._clock: Clock = clock or FakeClock()
        self._time_to_live = time_to_live
        self._calls: SingleFlight[str, ObtainedKeys] = SingleFlight(
            (QueryCanceled, QueryTimedOut, FilterCollectionTimedOut), FilterCollectionTimedOut
        )

    def obtain(
        self, wanted: DynamicFilter, collect: Callable[[str], DynamicFilteringData], within_s: float
    ) -> ObtainedKeys:
        keys, is_ours = self._calls.join(wanted.fingerprint, lambda: self._find(wanted, collect), within_s)
        source = keys.source if is_ours else FilterSource.CACHED
        return ObtainedKeys(keys.data, source, keys.byte_count, keys.note)

    def in_memory(self, fingerprint: str) -> ObtainedKeys | None:
        if fingerprint not in self.stored:
            return None
        shown, data = self.stored[fingerprint]
        if shown.expires_at <= self._clock.now():
            return None
        return ObtainedKeys(data, FilterSource.CACHED, shown.byte_count)

    def cached(self, wanted: DynamicFilter) -> ObtainedKeys:
        return self.in_memory(wanted.fingerprint) or ObtainedKeys.none(self._note)

    def earlier(self, wanted: DynamicFilter) -> EarlierKeys | None:
        latest = self._latest.get(wanted.series) if wanted.series and not self.is_down else None
        found = None if latest in (None, wanted.fingerprint) else self.in_memory(str(latest))
        if latest is None or found is None:
            return None
        shown = self.stored[latest][0]
        snapshots = Build(shown.tables, (), "", shown.snapshot_ids).snapshots
        return None if snapshots is None else EarlierKeys(latest, found.data, snapshots)

    def supersede(self, fingerprint: str) -> None:
        self.superseded.append(fingerprint)

    def forget(self, fingerprint: str | None) -> int:
        self._check()
        forgotten = [key for key in self.stored if fingerprint in (None, key)]
        for key in forgotten:
            del self.stored[key]
        self.kept_rows.forget(fingerprint)
        return len(forgotten)

    def entries(self, limit: int) -> Sequence[CachedFilter]:
        self._check()
        shown = [
            cached_filter
            for cached_filter, _ in self.stored.values()
            if cached_filter.expires_at > self._clock.now()
        ]
        return sorted(shown, key=lambda cached_filter: cached_filter.created_at, reverse=True)[:limit]

    def health(self) -> PartHealth:
        if self.is_down:
            return PartHealth("filterCache", PartState.DOWN, "The filter cache does not answer.")
        return PartHealth("filterCache", PartState.UP)

    def close(self) -> None:
        self.stored.clear()

    @property
    def _note(self) -> str:
        return FilterCacheDown().detail if self.is_down else ""

    def _find(self, wanted: DynamicFilter, collect: Callable[[str], DynamicFilteringData]) -> ObtainedKeys:
        found = self.in_memory(wanted.fingerprint)
        if found is not None:
            return found
        data = collect(self._note)
        byte_count = KEY_BYTES * len(data.values) * len(wanted.probe.columns)
        self.stored[wanted.fingerprint] = (self._shown(wanted, data, byte_count), data)
        self._latest[wanted.series] = wanted.fingerprint
        return ObtainedKeys(data, FilterSource.COLLECTED, byte_count, self._note)

    def _shown(self, wanted: DynamicFilter, data: DynamicFilteringData, byte_count: int) -> CachedFilter:
        now = self._clock.now()
        return CachedFilter(
            fingerprint=wanted.fingerprint,
            tables=wanted.build.tables,
            columns=wanted.build.columns,
            predicate=wanted.build.predicate,
            snapshot_ids=wanted.build.snapshot_ids,
            value_count=data.key_count,
            byte_count=byte_count,
            created_at=now,
            expires_at=now + self._time_to_live,
            exceeds_threshold=data.exceeds_threshold,
            form=stored_form(data),
            range_count=len(data.ranges),
            has_null=data.has_null,
            sample=sampled_keys(data),
        )

    def _check(self) -> None:
        if self.is_down:
            raise FilterCacheDown
