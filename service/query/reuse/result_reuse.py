"""Answers queries with the results of earlier equal ones, and keeps results for later ones."""

from __future__ import annotations

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
from service.model.query.reuse import ReuseChoice, ReuseOutcome
from service.ports.engine.query_engine import EngineResult
from service.query.registry.query_handle import QueryHandle
from service.query.reuse.equal_queries import EqualQueries, Follower, HandOver, KeptResult
from service.query.reuse.kept_results import Run, reusable_result
from service.query.reuse.live_states import LiveStates
from service.query.reuse.reuse_answers import ReuseAnswers
from service.query.reuse.reuse_lookup import ReuseBounds, ReuseLookup, ReusePorts, lease_name, shared_by
from service.query.reuse.reuse_steps import Found, Ticket
from service.query.reuse.shared_leads import SharedLeads
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
        self._answers = ReuseAnswers(ports, self._equal)
        self._shared = SharedLeads(ports.leases, ports.clock, bounds.max_wait_ms)

    def start(self) -> None:
        """Starts to look after the queries that wait for those of other replicas."""
        self._shared.start()

    def close(self) -> None:
        """Stops that."""
        self._shared.close()

    def poll(self) -> None:
        """Looks after them once."""
        self._shared.poll()

    @property
    def outcomes(self) -> Mapping[ReuseOutcome, int]:
        """How many queries got an earlier result, and why the others that wanted one got none."""
        return self._answers.outcomes

    @property
    def use(self) -> CacheUse:
        """The results that are kept."""
        return self._ports.index.use

    def forget(self) -> int:
        """Forgets all results that are kept, and returns how many of this replica's there were.

        Raises:
            FilterCacheDown: those of other replicas cannot be forgotten now.
        """
        return self._ports.index.clear()

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
            if self._answers.is_answered(query, found):
                return
            if found.shared is not None:
                if self._equal.join(found.shared, Follower(query, hand_over, found.key)):
                    return
                self._watch_end(query)
                if self._waits_for_replica(query, found.shared, found, hand_over):
                    return
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
        if ticket is None:
            # Queries elsewhere with the same text wait in vain.
            self._shared.let_go(query.query_id)
        return ticket

    def keep(self, ticket: Ticket, query: QueryHandle, result: EngineResult, manifest: Manifest) -> None:
        """See `Reuse`."""
        if manifest.is_truncated or manifest.byte_count > self._bounds.max_result_bytes:
            return
        if not self._has_read(ticket, query, result):
            return
        run = Run(query.query_id, result, manifest, query.pruned.cached_tables)
        kept = reusable_result(run, ticket.states.at, ticket.states.facts)
        if not self._ports.results.keep_for(query.query_id, ticket.key):
            return
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
            shared = shared_by(found.key, query.request)
            self._equal.lead(shared, query)
            self._watch_end(query)
            # It runs in any case, but nobody has to run beside it.
            self._shared.lead(lease_name(shared), query)
        if choice is ReuseChoice.USE:
            if ticket is not None and self._answers.is_answered(query, found):
                return replace(ticket, is_answered=True)
            is_gone = found.outcome is ReuseOutcome.HIT
            self._answers.count(ReuseOutcome.RESULT_GONE if is_gone else found.outcome)
        return ticket

    def _waits_for_replica(
        self, query: QueryHandle, shared: tuple[object, ...], found: Found, hand_over: HandOver
    ) -> bool:
        """Whether the query waits, since another replica runs the same, or its text."""
        name = lease_name(shared)
        if not self._shared.lead(name, query):
            return self._shared.wait(name, query, partial(self._go_on, query, name, found, hand_over))
        if found.text not in (None, shared):
            # Another replica may not know yet that the two are equal.
            self._shared.lead(lease_name(found.text), query)
        return False

    def _go_on(self, query: QueryHandle, name: str, found: Found, hand_over: HandOver) -> None:
        """Answers a query that has waited for another replica, or has it run."""
        if query.record.state.is_final:
            return
        key = found.key
        if key is not None:
            outcome, kept = self._lookup.kept(key, query.request)
            if self._answers.is_answered(query, replace(found, outcome=outcome, result=kept)):
                return
        self._shared.lead(name, query)
        try:
            hand_over(query)
        except ShuttingDown:
            log.debug("query_not_placed", query_id=str(query.query_id))

    def _watch_end(self, query: QueryHandle) -> None:
        # By id, so that the query and its future do not refer to each other.
        query.finished.add_done_callback(partial(self._end, query.query_id))

    def _end(self, query_id: UUID, _: Future[None]) -> None:
        """Gives the followers of a query that has ended its result, or has them run."""
        self._shared.let_go(query_id)
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
