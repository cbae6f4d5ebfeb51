"""Looks up whether an earlier result is the one that a query would have now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

import structlog

from service.errors.gateway_error import GatewayError
from service.model.query.query import QueryRequest
from service.model.query.reuse import Reusability, ReusableResult, ReuseChoice, ReuseOutcome
from service.model.query.statement_text import is_command, query_text
from service.ports.clock import Clock
from service.ports.engine.query_engine import Statement
from service.ports.stores.query_store import Journal
from service.ports.stores.result_store import ResultStore
from service.ports.stores.reusable_results import FactReader, NoRunLeases, ResultIndex, RunLeases, ViewStates
from service.ports.tables.catalogs import Catalogs
from service.ports.telemetry.lineage import Lineage, NoLineage
from service.query.registry.query_handle import QueryHandle
from service.query.registry.readable_results import ReadableResults
from service.query.reuse.kept_results import outcome_of
from service.query.reuse.known_texts import KnownTexts
from service.query.reuse.live_states import LiveStates
from service.query.reuse.result_key import TextKey, policy_fingerprint, result_key
from service.query.reuse.reuse_steps import Found
from service.query.reuse.table_states import has_these_columns
from service.session_values.session_settings import reads_as_without
from service.tracing import step

log = structlog.get_logger(__name__)

_NOT_LEARNED = (ReuseOutcome.UNKNOWN_TEXT, ReuseOutcome.DEFINITION_CHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReuseBounds:
    """Which queries reuse results, and which results are kept.

    `default` is the choice of queries that make none. `settings` is a text that is the same for two gateways
    only if their engines give the same rows for a text. A query waits at most `max_wait_ms` for an equal one
    that another replica runs. `own_settings` are the engine's, as far as sessions may have others.
    """

    default: ReuseChoice = ReuseChoice.NEVER
    max_age_ms: int = 600_000
    max_result_bytes: int = 64 << 20
    settings: str = ""
    max_wait_ms: int = 30_000
    own_settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReusePorts:
    """The external parts that the reuse of results needs."""

    facts: FactReader
    views: ViewStates
    catalogs: Catalogs
    index: ResultIndex
    results: ResultStore
    readable: ReadableResults
    """Which of the results may still be read."""
    journal: Journal
    clock: Clock
    lineage: Lineage = field(default_factory=NoLineage)
    leases: RunLeases = field(default_factory=NoRunLeases)


class ReuseLookup:
    """Knows texts, asks for the states of their tables, and finds what is kept. Any thread may call it."""

    def __init__(self, ports: ReusePorts, bounds: ReuseBounds) -> None:
        self._ports = ports
        self._bounds = bounds
        self._texts = KnownTexts(ports.clock)

    def choice(self, request: QueryRequest) -> ReuseChoice:
        """Returns what the request, or else the operator, wants."""
        # Who asks for a verification asks for a run.
        if request.pruning.is_verified or not _is_query(request.sql):
            return ReuseChoice.NEVER
        session = request.session
        if session is not None and not reads_as_without(session.values, self._bounds.own_settings):
            return ReuseChoice.NEVER
        return request.reuse or self._bounds.default

    def live_states(self) -> LiveStates:
        """Returns the states of tables from now on."""
        return LiveStates(self._ports.catalogs, self._ports.views, self._ports.clock)

    def looked_up(self, query: QueryHandle) -> tuple[Found, LiveStates]:
        """Looks up, after the engine has said what the text reads if that is not known."""
        live = self.live_states()
        found = self.found(query, live)
        if found.outcome in _NOT_LEARNED and self._learn(query):
            live = self.live_states()
            found = self.found(query, live)
        return found, live

    def found(self, query: QueryHandle, live: LiveStates) -> Found:
        """Returns what is kept for the query, without asking the engine what its text reads."""
        request = query.request
        text = TextKey.of(request)
        undecided = (text, request.row_limit, request.byte_limit)
        facts = self._texts.facts(text)
        if facts is None:
            return Found(ReuseOutcome.UNKNOWN_TEXT, shared=undecided, text=undecided)
        try:
            policies = policy_fingerprint(facts, query.access)
        except GatewayError:
            # The engine refuses it, with the usual error.
            return Found(ReuseOutcome.NOT_ALLOWED)
        reusability = self._texts.reusability(text, policies)
        if reusability is None:
            return Found(ReuseOutcome.UNKNOWN_TEXT, shared=undecided, text=undecided)
        if reusability is not Reusability.REUSABLE:
            return Found(ReuseOutcome.NOT_REUSABLE)
        states = live.of(facts)
        if states is None:
            return Found(ReuseOutcome.TABLES_UNKNOWN)
        if states.views != facts.views or not has_these_columns(facts.reads, states.facts):
            self._texts.forget(text)
            return Found(ReuseOutcome.DEFINITION_CHANGED, shared=undecided, text=undecided)
        key = result_key(text, self._bounds.settings, policies, states.tables, states.views)
        outcome, answer = self.kept(key, request)
        return Found(outcome, key, shared_by(key, request), answer, facts, states, undecided)

    def kept(self, key: str, request: QueryRequest) -> tuple[ReuseOutcome, ReusableResult | None]:
        """Returns the result that is kept under this key, if it answers the request, or why not."""
        kept = self._ports.index.find(key)
        outcome = outcome_of(kept, request, self._ports.clock.now(), self._bounds.max_age_ms)
        return outcome, kept if outcome is ReuseOutcome.HIT else None

    def _learn(self, query: QueryHandle) -> bool:
        """Asks the engine about the text; returns whether it answered."""
        with step("sluice.query.analyze"):
            try:
                facts = self._ports.facts.facts_of(_statement(query))
                self._texts.learn(TextKey.of(query.request), facts, query.request, query.access)
            except GatewayError as failure:
                # The run fails in the same way, or shows that it does not.
                log.debug("text_not_analyzed", code=failure.code)
                return False
        return True


def shared_by(key: str, request: QueryRequest) -> tuple[object, ...]:
    """Returns what queries have in common that wait for one another."""
    return (key, request.row_limit, request.byte_limit)


def lease_name(shared: tuple[object, ...]) -> str:
    """Returns the same text in all replicas for what queries have in common.

    >>> lease_name(("key", 1, 2)) == lease_name(("key", 1, 2)) != lease_name(("key", 1, 3))
    True
    """
    return sha256(repr(shared).encode()).hexdigest()


def _statement(query: QueryHandle) -> Statement:
    request = query.request
    return Statement(
        query_id=query.query_id,
        sql=request.sql,
        parameters=request.parameters,
        catalog=request.catalog,
        schema=request.schema,
        row_limit=request.row_limit,
        byte_limit=request.byte_limit,
        is_canceled=query.is_canceled,
        access=query.access,
        caller=query.caller,
    )


def _is_query(sql: str) -> bool:
    return not is_command(sql) and query_text(sql).explain is None
