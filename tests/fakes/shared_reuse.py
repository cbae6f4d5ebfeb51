"""Entries and leases that replicas share, in memory. Only time that a test advances passes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

from service.adapters.reuse.local_index import LocalResultIndex
from service.model.operations.usage import CacheUse
from service.model.query.reuse import ReusableResult
from service.ports.clock import Clock
from tests.fakes.clock import FakeClock

LEASE_MS = 4_000


@dataclass
class SharedReuse:
    """Entries and leases, each with the time until which it lives; while `is_down`, nobody reaches them."""

    clock: Clock = field(default_factory=FakeClock)
    time_to_live: timedelta = timedelta(minutes=10)
    max_entries: int = 1_000
    entries: dict[str, tuple[ReusableResult, int]] = field(default_factory=dict)
    leases: dict[str, tuple[str, int]] = field(default_factory=dict)
    is_down: bool = False

    def index(self, local: LocalResultIndex | None = None) -> FakeSharedIndex:
        return FakeSharedIndex(self, local or LocalResultIndex(1_000, 1 << 30))


class FakeSharedIndex:
    def __init__(self, shared: SharedReuse, local: LocalResultIndex) -> None:
        self._shared = shared
        self._local = local

    def find(self, key: str) -> ReusableResult | None:
        return self._found(key) or self._local.find(key)

    def put(self, key: str, result: ReusableResult) -> None:
        self._local.put(key, result)
        if self._shared.is_down:
            return
        shared = self._shared
        until_ms = shared.clock.elapsed_ms() + shared.time_to_live // timedelta(milliseconds=1)
        hint = replace(result, manifest=replace(result.manifest, chunks=()))
        shared.entries.pop(key, None)
        shared.entries[key] = (hint, until_ms)
        while len(shared.entries) > shared.max_entries:
            del shared.entries[min(shared.entries, key=lambda kept: shared.entries[kept][0].taken_at)]

    def drop(self, key: str, query_id: UUID) -> None:
        self._local.drop(key, query_id)
        found = self._found(key)
        if found is not None and found.query_id == query_id:
            del self._shared.entries[key]

    def clear(self) -> int:
        if not self._shared.is_down:
            self._shared.entries.clear()
        return self._local.clear()

    @property
    def use(self) -> CacheUse:
        return self._local.use

    def _found(self, key: str) -> ReusableResult | None:
        found = None if self._shared.is_down else self._shared.entries.get(key)
        return found[0] if found is not None and self._shared.clock.elapsed_ms() < found[1] else None


class FakeRunLeases:
    def __init__(self, shared: SharedReuse) -> None:
        self._shared = shared

    def claim(self, name: str, holder: str) -> bool:
        if self._shared.is_down:
            return True
        if self._holder(name) is not None:
            return False
        self._shared.leases[name] = (holder, self._shared.clock.elapsed_ms() + LEASE_MS)
        return True

    def renew(self, held: Mapping[str, str]) -> None:
        for name, holder in held.items():
            if not self._shared.is_down and self._holder(name) == holder:
                self._shared.leases[name] = (holder, self._shared.clock.elapsed_ms() + LEASE_MS)

    def release(self, name: str, holder: str) -> None:
        if not self._shared.is_down and self._holder(name) == holder:
            del self._shared.leases[name]

    def held(self, names: Collection[str]) -> Collection[str]:
        return () if self._shared.is_down else {name for name in names if self._holder(name) is not None}

    def _holder(self, name: str) -> str | None:
        holder, until_ms = self._shared.leases.get(name, (None, 0))
        return holder if self._shared.clock.elapsed_ms() < until_ms else None
