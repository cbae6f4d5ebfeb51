"""Answers queries with the results of earlier equal ones, and keeps results for later ones."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from uuid import UUID

import structlog

from service.errors.query_errors import QueryCanceled, QueryTimedOut, ReplicaLost
from service.errors.unavailable import EngineLost, EngineNotReady, ShuttingDown
from service.model.operations.usage import CacheUse
from service.model.query.lineage import ResultLineage
from service.model.query.query import QueryRecord, QueryRequest, QueryState
from service.model.query.results import Manifest
from service.model.query.reuse import ReusableResult, ReuseChoice, Reused, ReuseOutcome
from service.ports.engine.query_engine import EngineResult
from service.query.registry.query_handle import QueryHandle
from service.query.registry.recorded import record
from service.query.reuse.equal_queries import EqualQueries, Follower, HandOver, KeptResult
from service.query.reuse.kept_results import Run, age_ms, reusable_result
from service.query.reuse.live_states import LiveStates
from service.query.reuse.reuse_lookup import ReuseBounds, ReuseLookup, ReusePorts, shared_by
from service.query.reuse.reuse_steps import Found, Ticket
from service.query.reuse.table_states import has_read
from service.tracing import step

log = structlog.get_logger(__name__)

_OWN_ENDS = frozenset(
    kind.code
    for kind in (EngineLost, EngineNotReady, QueryCanceled, QueryTimedOut, ReplicaLost, ShuttingDown)
)
"""Ends of one query that say nothing about those that ask for the same."""


class ResultReuse:
    """Implements `Reuse`. Any thread may call any method.

    A result belongs to a key, which has the text, its values, the states of all tables and views, and what
    policies show of them. It is kept only if its plan has read these states, or nothing changed while it ran.
    """

    def __init__(self, ports: ReusePorts, bounds: ReuseBounds) -> None:
        self._ports = ports
        self._bounds = bounds
        self._lookup = ReuseLookup(ports, bounds)
        self._equal = EqualQueries()
        self._lock = threading.Lock()
        self._outcomes: Counter[ReuseOutcome] = Counter()

    @property
    def outcomes(self) -> Mapping[ReuseOutcome, int]:
        """How many queries got an earlier result, and why the others that wanted one got none."""
        return {outcome: self._outcomes[outcome] for outcome in ReuseOutcome}

    @property
    def use(self) -> CacheUse:
        """The results that are kept."""
        return self._ports.index.use

    def may_block(self, request: QueryRequest) -> bool:
        """See `Reuse`."""
        return self._lookup.choice(request) is ReuseChoice.USE

    def find(self, query: QueryHandle) -> Found | None:
        """See `Reuse`."""
        if self._lookup.choice(query.request) is not ReuseChoice.USE:
            return None
        with step("sluice.query.reuse") as span:
            found = self._lookup.found(query, self._lookup.live_states())
            span.note({"sluice.outcome": found.outcome.value})
            return found

    def place(self, query: QueryHandle, found: Found | None, hand_over: HandOver) -> None:
        """See `Reuse`."""
        if found is not None:
            if self._is_answered(query, found):
                return
            if found.shared is not None:
                if self._equal.join(found.shared, Follower(query, hand_over, found.key)):
                    return
                self._watch_end(query)
        hand_over(query)

    def begin(self, query: QueryHandle) -> Ticket | None:
        """See `Reuse`."""
        choice = self._lookup.choice(query.request)
        if choice is ReuseChoice.NEVER:
            return None
        with step("sluice.query.reuse") as span:
            found, live = self._lookup.looked_up(query)
            ticket = self._ticket(query, found, choice)
            span.note({"sluice.outcome": found.outcome.value})
        self._place_undecided(query, live)
        return ticket

    def keep(self, ticket: Ticket, query: QueryHandle, result: EngineResult, manifest: Manifest) -> None:
        """See `Reuse`."""
        if manifest.is_truncated or manifest.byte_count > self._bounds.max_result_bytes:
            return
        if not self._has_read(ticket, query, result):
            return
        run = Run(query.query_id, result, manifest, query.pruned.cached_tables)
        kept = reusable_result(run, ticket.states.at, ticket.states.facts)
        self._ports.index.put(ticket.key, kept)
        self._equal.keep(query.query_id, KeptResult(ticket.key, kept))

    def _has_read(self, ticket: Ticket, query: QueryHandle, result: EngineResult) -> bool:
        """Whether the result is that of the ticket's states: its plan says so, or nothing has changed."""
        reads, rewritten = result.reads(), query.pruned
        if reads is not None:
            facts = rewritten.facts if rewritten.rewritten_sql is not None else None
            views = ticket.facts.views
            has_views = not views or self._ports.views.states_of(views) == views
            if has_views and has_read(reads, ticket.states.facts, facts):
                return True
        return ticket.states.is_same(self._lookup.live_states().of(ticket.facts))

    def complete(self, ticket: Ticket, query: QueryHandle, lineage: ResultLineage | None) -> None:
        """See `Reuse`."""
        if lineage is None:
            return
        kept = self._ports.index.find(ticket.key)
        if kept is not None and kept.query_id == query.query_id:
            self._ports.index.put(ticket.key, replace(kept, lineage=lineage.origins))

    def _ticket(self, query: QueryHandle, found: Found, choice: ReuseChoice) -> Ticket | None:
        ticket = None
        if found.key is not None and found.facts is not None and found.states is not None:
            ticket = Ticket(found.key, found.facts, found.states)
            self._equal.lead(shared_by(found.key, query.request), query)
            self._watch_end(query)
        if choice is ReuseChoice.USE:
            if ticket is not None and self._is_answered(query, found):
                return replace(ticket, is_answered=True)
            is_gone = found.outcome is ReuseOutcome.HIT
            self._count(ReuseOutcome.RESULT_GONE if is_gone else found.outcome)
        return ticket

    def _is_answered(self, query: QueryHandle, found: Found) -> bool:
        """Answers the query if its result can still be read; returns whether the query has ended."""
        kept, key = found.result, found.key
        if kept is None or key is None:
            return False
        if not self._ports.results.share(kept.query_id, query.query_id):
            self._ports.index.drop(key)
            return False
        # Those that wait for this query get the same.
        self._equal.keep(query.query_id, KeptResult(key, kept))
        now_ms = self._ports.clock.elapsed_ms()
        is_begun = query.start(now_ms)
        reused = Reused(kept.query_id, age_ms(kept, self._ports.clock.now()))
        if not is_begun or not query.succeed_reused(reused, kept, now_ms):
            # Its caller has canceled it, or its time is over.
            self._ports.results.drop(query.query_id)
            return True
        self._count(ReuseOutcome.HIT)
        record(query, self._ports.journal, lineage=self._lineage(kept))
        return True

    def _lineage(self, kept: ReusableResult) -> ResultLineage | None:
        if not self._ports.lineage.is_followed:
            return None
        return ResultLineage(kept.manifest.columns, kept.lineage, kept.cached_tables)

    def _count(self, outcome: ReuseOutcome) -> None:
        with self._lock:
            self._outcomes[outcome] += 1

    def _watch_end(self, query: QueryHandle) -> None:
        # By id, so that the query and its future do not refer to each other.
        query.finished.add_done_callback(partial(self._end, query.query_id))

    def _end(self, query_id: UUID, _: Future[None]) -> None:
        """Gives the followers of a query that has ended its result, or has them run."""
        flight = self._equal.end(query_id)
        if flight is None:
            return
        live = self._lookup.live_states()
        for follower in flight.followers:
            if flight.kept is not None and flight.kept.key == follower.key:
                kept = flight.kept
                self._place_again(follower, Found(ReuseOutcome.HIT, kept.key, result=kept.result))
            elif flight.kept is not None or _is_own_end(flight.leader.record):
                self._place_again(follower, self._lookup.found(follower.query, live))
            else:
                # Its result is not for others. To wait for one another would only make them late.
                self._place_again(follower, None)

    def _place_undecided(self, query: QueryHandle, live: LiveStates) -> None:
        for follower in self._equal.take_undecided(query.query_id):
            self._place_again(follower, self._lookup.found(follower.query, live))

    def _place_again(self, follower: Follower, found: Found | None) -> None:
        if follower.query.record.state.is_final:
            return
        try:
            self.place(follower.query, found, follower.hand_over)
        except ShuttingDown:
            log.debug("query_not_placed", query_id=str(follower.query.query_id))


def _is_own_end(ended: QueryRecord) -> bool:
    is_failed = ended.state in (QueryState.FAILED, QueryState.CANCELED)
    return is_failed and ended.error is not None and ended.error.code in _OWN_ENDS
