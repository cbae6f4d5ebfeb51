"""Collects the key sets of tables that were committed to, before a query asks for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

import structlog
from cachetools import LRUCache

from service.errors.gateway_error import GatewayError
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.filter_record import FilterOutcome, Reason
from service.model.filters.key_set import FilterSource
from service.model.operations.usage import PoolUse
from service.model.policies.decisions import Access
from service.model.query.history import FrequentQuery
from service.model.query.prefetch import PrefetchOutcome
from service.model.query.query import QueryRequest
from service.model.tables.tables import TableName
from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock
from service.query.filtering.prefetched_sets import PendingSets, PrefetchedSets, built_from
from service.query.prefetch.frequent_sets import FrequentSets
from service.query.prefetch.rights import PrefetchRights
from service.query.prefetch.watched_tables import WatchedTables

log = structlog.get_logger(__name__)

BUSY_PAUSE_S = 0.1
RETRY_AFTER_MS = 3_600_000
"""A set that failed, or took most of a round, is not tried again for so long."""
REMEMBERED = 4_096
_UNDECIDED = {PrefetchOutcome.ELSEWHERE, PrefetchOutcome.INTERRUPTED, PrefetchOutcome.LATE}
"""With these the set may still be collected: by the next round, or by another replica, which may die."""
SHORTEST_REST_MS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchBounds:
    """How many sets of a table are collected after a commit, how long that takes, and how often it looks."""

    sets_per_table: int
    round_s: float
    interval_s: float


@dataclass(frozen=True, slots=True)
class PrefetchParts:
    """The parts that the prefetch stands on.

    `collectors` is the use of the threads that collect keys. `is_taking`: the gateway takes queries and has
    an engine. `check` raises what is wrong with a request.
    """

    sets: PrefetchedSets
    frequent: FrequentSets
    tables: WatchedTables
    rights: PrefetchRights
    collectors: Callable[[], PoolUse]
    is_taking: Callable[[], bool]
    check: Callable[[QueryRequest], None]
    clock: Clock


@dataclass(slots=True)
class _Round:
    """One look's sets: how many may still be collected of each table, and which were looked at.

    The next round looks `again` at these tables, though nothing is committed to them. `is_interrupted`: a
    call of a query has waited for a thread since the last collection began.
    """

    ends_at_ms: float
    left: dict[TableName, int]
    looked_at: set[str] = field(default_factory=set)
    again: set[TableName] = field(default_factory=set)
    is_interrupted: bool = False

    def needing(self, tables: Set[TableName]) -> frozenset[TableName]:
        """Returns those of the tables, in lower case, that sets may still be collected of."""
        return frozenset(table for table in tables if self.left.get(table, 0) > 0)

    def look_at(self, wanted: DynamicFilter, tables: Set[TableName]) -> None:
        """Notes that the set is one of those of these tables."""
        self.looked_at.add(wanted.fingerprint)
        for table in tables:
            self.left[table] -= 1


class KeyPrefetch:
    """Looks for commits, and collects one set at a time while no collection of a query waits.

    Whatever fails, queries collect their keys as they would without it.
    """

    def __init__(
        self, parts: PrefetchParts, bounds: PrefetchBounds, pause: Callable[[float], object] = time.sleep
    ) -> None:
        self._parts = parts
        self._bounds = bounds
        self._pause = pause
        self._failed: LRUCache[str, int] = LRUCache(REMEMBERED)
        self._outcomes = dict.fromkeys(PrefetchOutcome, 0)
        self._watched: frozenset[TableName] = frozenset()
        self._lock = threading.Lock()
        self._committed: set[TableName] = set()
        self._all_due_ms: float = 0
        self._rests_until_ms: float = 0
        self._is_due = False
        self._worker = PeriodicWorker("key-prefetch", self.look, lambda: self._pause_s(), waits_first=True)

    @property
    def outcomes(self) -> Mapping[PrefetchOutcome, int]:
        """How often each outcome was seen since the start."""
        return dict(self._outcomes)

    def start(self) -> None:
        """Begins to look; call it once."""
        self._worker.start()

    def close(self) -> None:
        """Ends soon: a collection that runs is canceled."""
        self._worker.close()

    def committed(self, table: TableName) -> None:
        """Looks soon at the table, which this gateway has committed to. Any thread may call it."""
        name = table.in_lower_case()
        if name in self._watched:
            with self._lock:
                self._committed.add(name)
            self._worker.wake()

    def look(self) -> None:
        """Collects the sets of tables with a new snapshot, and returns when that is done.

        Within `interval_s` of a look at all tables, it looks at those that this gateway has committed to.
        """
        parts, now_ms = self._parts, self._parts.clock.elapsed_ms()
        # At most half of the time is spent on tables that are committed to all the time.
        self._is_due = now_ms < self._rests_until_ms
        if self._is_due or not parts.is_taking():
            return
        texts = parts.frequent.texts()
        self._watched = frozenset(table.in_lower_case() for table in texts)
        changed = parts.tables.changed(texts, self._among(now_ms))
        if not changed:
            return
        left = {table.in_lower_case(): self._bounds.sets_per_table for table in changed}
        current = _Round(now_ms + 1000 * self._bounds.round_s, left)
        self._collect({table: texts[table] for table in changed}, current)
        parts.tables.forget(current.again)
        ended_ms = parts.clock.elapsed_ms()
        self._rests_until_ms = ended_ms + max(SHORTEST_REST_MS, ended_ms - now_ms)
        log.info(
            "keys_prefetched",
            tables=len(changed),
            sets=len(current.looked_at),
            again=len(current.again),
            took_ms=ended_ms - now_ms,
        )

    def _among(self, now_ms: float) -> Set[TableName] | None:
        """Returns the tables to look at; None: all."""
        with self._lock:
            committed, self._committed = self._committed, set()
        if now_ms < self._all_due_ms:
            return committed
        self._all_due_ms = now_ms + 1000 * self._bounds.interval_s
        return None

    def _pause_s(self) -> float:
        now_ms = self._parts.clock.elapsed_ms()
        rest_s = max(0.0, self._rests_until_ms - now_ms) / 1000
        if self._is_due:
            return rest_s
        due_s = (self._all_due_ms - now_ms) / 1000
        return max(rest_s, due_s if due_s > 0 else self._bounds.interval_s)

    def _collect(self, texts: Mapping[TableName, Sequence[FrequentQuery]], current: _Round) -> None:
        of_text: dict[FrequentQuery, set[TableName]] = {}
        for table, asked in texts.items():
            for text in asked:
                of_text.setdefault(text, set()).add(table.in_lower_case())
        requests_of = self._parts.rights.now()
        for text, tables in of_text.items():
            for request, access in requests_of(text):
                needing = current.needing(tables)
                if not self._has_room_for(needing, current):
                    break
                try:
                    self._collect_of(request, access, needing, current)
                except Exception:  # the outermost edge of one text: the others are collected all the same
                    log.exception("prefetch_crashed")
                    self._outcomes[PrefetchOutcome.FAILED] += 1

    def _collect_of(
        self, request: QueryRequest, access: Access | None, tables: frozenset[TableName], current: _Round
    ) -> None:
        if access is None:
            self._outcomes[PrefetchOutcome.NOT_ALLOWED] += 1
            return
        try:
            self._parts.check(request)
        except GatewayError:
            # Such as a text with parameters, whose values no record has.
            return
        pending = self._parts.sets.pending(request, access, tables, lambda: self._is_interrupted(current))
        if isinstance(pending, Reason):
            return
        for wanted in pending.filters:
            of_tables = current.needing(built_from(wanted) & tables)
            if not of_tables or wanted.fingerprint in current.looked_at or self._has_failed(wanted):
                continue
            if not self._has_room_for(of_tables, current):
                return
            current.look_at(wanted, of_tables)
            outcome = self._collect_one(wanted, pending, current)
            self._outcomes[outcome] += 1
            if outcome in _UNDECIDED and not self._has_failed(wanted):
                current.again |= of_tables

    def _collect_one(self, wanted: DynamicFilter, pending: PendingSets, current: _Round) -> PrefetchOutcome:
        began_ms = self._parts.clock.elapsed_ms()
        within_s = max(0.0, current.ends_at_ms - began_ms) / 1000
        current.is_interrupted = False
        found = self._parts.sets.collect(wanted, pending, within_s)
        ended_ms = self._parts.clock.elapsed_ms()
        outcome = self._outcome(found, current)
        took_most = ended_ms - began_ms >= 500 * self._bounds.round_s
        if outcome is PrefetchOutcome.FAILED or (outcome in _UNDECIDED and took_most):
            self._failed[_name_of(wanted)] = ended_ms
        return outcome

    def _outcome(self, found: FilterOutcome, current: _Round) -> PrefetchOutcome:
        if found.source is not FilterSource.NONE:
            return PrefetchOutcome(found.source.value)
        if self._parts.clock.elapsed_ms() >= current.ends_at_ms:
            return PrefetchOutcome.LATE
        if self._is_interrupted(current):
            return PrefetchOutcome.INTERRUPTED
        is_elsewhere = found.reason is Reason.COLLECT_TIMED_OUT
        return PrefetchOutcome.ELSEWHERE if is_elsewhere else PrefetchOutcome.FAILED

    def _has_failed(self, wanted: DynamicFilter) -> bool:
        failed_ms = self._failed.get(_name_of(wanted))
        return failed_ms is not None and self._parts.clock.elapsed_ms() - failed_ms < RETRY_AFTER_MS

    def _has_room_for(self, tables: Set[TableName], current: _Round) -> bool:
        """Returns False at once without tables; if the round ends before, the next one looks at them."""
        has_room = bool(tables) and self._has_room(current)
        if not has_room:
            current.again |= tables
        return has_room

    def _has_room(self, current: _Round) -> bool:
        """Waits for a thread that no query's collection needs; returns False if the round ends before."""
        while not self._is_over(current):
            use = self._parts.collectors()
            if use.waiting == 0 and use.busy < use.size:
                return True
            self._pause(BUSY_PAUSE_S)
        return False

    def _is_interrupted(self, current: _Round) -> bool:
        use = self._parts.collectors()
        # With a free thread, a call waits for a moment only.
        if use.waiting > 0 and use.busy >= use.size:
            current.is_interrupted = True
        return current.is_interrupted or self._is_over(current)

    def _is_over(self, current: _Round) -> bool:
        is_late = self._parts.clock.elapsed_ms() >= current.ends_at_ms
        return is_late or self._worker.is_closing or not self._parts.is_taking()


def _name_of(wanted: DynamicFilter) -> str:
    return wanted.series or wanted.fingerprint
