"""Answers aggregations from their kept states, brought up to date; makes the states, too."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import structlog

from service.bounded_lru import BoundedLru
from service.errors.gateway_error import GatewayError
from service.errors.query_errors import NotAdmitted
from service.model.operations.usage import CacheUse
from service.model.query.progress import Phase
from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.query.reuse import ReuseChoice, Reused, ReuseKind
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.ports.clock import Clock
from service.ports.engine.query_engine import Engine, EngineResult
from service.query.filtering.pruned_query import PrunedQuery, skipped_scan
from service.query.refresh.asked import Asked, check_states, new_state
from service.query.refresh.kept_states import KeptState, KeptStates
from service.query.refresh.merged_answers import MergedAnswers
from service.query.refresh.reads import as_read
from service.query.refresh.refresh_plans import RefreshPlans
from service.query.refresh.state_reader import ReadState, StateReader
from service.query.registry.query_handle import QueryHandle
from service.query.registry.run_outcome import RunOutcome
from service.query.reuse.result_key import TextKey, policy_fingerprint, result_key
from service.query.reuse.reuse_steps import Ticket
from service.tracing import step

log = structlog.get_logger(__name__)

MAX_REFUSED = 4096
REFUSED_FOR_MS = 60_000
"""A query whose state could not be made or merged runs in full for this long, without another try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshParts:
    """The parts of a refresh."""

    plans: RefreshPlans
    states: KeptStates
    reader: StateReader
    answers: MergedAnswers
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshBounds:
    """Which queries are refreshed. `settings` is the same text only for engines that read a text alike."""

    min_table_bytes: int
    settings: str = ""


class Refresher:
    """Implements `Refresh`. Any thread may call any method."""

    def __init__(self, parts: RefreshParts, bounds: RefreshBounds) -> None:
        self._parts = parts
        self._bounds = bounds
        self._refused: BoundedLru[str, tuple[RefreshOutcome, int]] = BoundedLru(MAX_REFUSED, 1 << 20)
        self._lock = threading.Lock()
        self._outcomes: Counter[RefreshOutcome] = Counter()

    @property
    def outcomes(self) -> Mapping[RefreshOutcome, int]:
        """How queries were answered that may be refreshed, and why the others ran in full."""
        return {outcome: self._outcomes[outcome] for outcome in RefreshOutcome}

    @property
    def use(self) -> CacheUse:
        """The states that are kept."""
        return self._parts.states.use

    def forget(self) -> int:
        """Forgets all states that are kept, and returns how many there were."""
        return self._parts.states.clear()

    def answer(
        self, query: QueryHandle, ticket: Ticket, engine: Engine
    ) -> RunOutcome | RefreshOutcome | None:
        """See `Refresh`."""
        request = query.request
        if request.reuse is ReuseChoice.REFRESH or not request.pruning.allows(RewriteKind.REFRESH):
            return None
        with step("sluice.query.refresh") as span:
            query.progress.enter(Phase.RUNNING)
            found, outcome = self._tried(query, ticket, engine)
            span.note({"sluice.outcome": outcome.value})
        with self._lock:
            self._outcomes[outcome] += 1
        return found or outcome

    def _tried(
        self, query: QueryHandle, ticket: Ticket, engine: Engine
    ) -> tuple[RunOutcome | None, RefreshOutcome]:
        key = ""
        try:
            key = self._key(query, ticket)
            asked = self._asked(key, query, ticket, engine)
            return self._answered(asked)
        except NotRefreshable as refused:
            outcome = refused.reason
        except NotAdmitted:
            raise
        except GatewayError as failure:
            if query.is_canceled():
                raise
            log.info("not_refreshed", code=failure.code, detail=failure.detail)
            outcome = RefreshOutcome.ENGINE_FAILED
        if key and outcome is not RefreshOutcome.SMALL_TABLE:
            self._refused.put(key, (outcome, self._parts.clock.elapsed_ms()), 200)
        # The pruned text was that of a state, which was given up.
        query.prune(PrunedQuery(query.text.sql))
        query.progress.enter(Phase.PLANNING)
        return None, outcome

    def _key(self, query: QueryHandle, ticket: Ticket) -> str:
        policies = policy_fingerprint(ticket.facts, query.access)
        # A replaced view has states of its own.
        views = ticket.states.views
        return result_key(TextKey.of(query.request), self._bounds.settings, policies, {}, views)

    def _asked(self, key: str, query: QueryHandle, ticket: Ticket, engine: Engine) -> Asked:
        refused = self._refused.get(key, self._is_recent)
        if refused is not None:
            raise NotRefreshable(refused[0])
        tables = ticket.states.facts
        refreshing = self._parts.plans.of(key, query, ticket.facts, tables)
        asked = Asked(query, key, refreshing, tables, ticket.states.at, engine)
        if asked.fact.total_bytes < self._bounds.min_table_bytes:
            raise NotRefreshable(RefreshOutcome.SMALL_TABLE)
        return asked

    def _is_recent(self, refused: tuple[RefreshOutcome, int]) -> bool:
        return self._parts.clock.elapsed_ms() - refused[1] < REFUSED_FOR_MS

    def _answered(self, asked: Asked) -> tuple[RunOutcome, RefreshOutcome]:
        kept = self._parts.states.find(asked.key)
        why = RefreshOutcome.STATE_KEPT
        if kept is not None:
            try:
                check_states(kept, asked)
            except NotRefreshable as stale:
                kept, why = None, stale.reason
        read = None
        if kept is None:
            read = self._read(asked, None)
            state = new_state(asked, read.result)
        elif kept.snapshot_id == asked.fact.snapshot_id:
            state = replace(kept, taken_at=asked.taken_at)
        else:
            read = self._read(asked, kept.snapshot_id)
            state = replace(
                kept,
                taken_at=asked.taken_at,
                snapshot_id=asked.snapshot_id,
                parts=(*kept.parts, *((read.result.rows,) if read.result.rows.num_rows else ())),
            )
        plan = asked.refreshing.plan
        state = self._parts.answers.renewed(asked.query, plan, state, asked.engine)
        answer = self._parts.answers.answer(asked.query, plan, state, asked.engine)
        self._parts.states.put(asked.key, state)
        return self._outcome(asked, kept, read, answer), RefreshOutcome.REFRESHED if kept else why

    def _read(self, asked: Asked, since: int | None) -> ReadState:
        return self._parts.reader.read(asked.query, asked.refreshing, asked.tables, asked.engine, since)

    def _outcome(
        self, asked: Asked, kept: KeptState | None, read: ReadState | None, answer: EngineResult
    ) -> RunOutcome:
        pruned = PrunedQuery(asked.query.text.sql) if read is None else read.pruned
        detail = "ran in full, and its groups are kept"
        reused = None
        if kept is not None:
            detail = f"groups as of snapshot {kept.snapshot_id}, and files added until {asked.snapshot_id}"
            age_ms = max(0, round((self._parts.clock.now() - kept.taken_at).total_seconds() * 1000))
            reused = Reused(kept.query_id, age_ms, ReuseKind.REFRESHED)
        record = RewriteRecord(RewriteKind.REFRESH, str(asked.refreshing.fact), detail)
        # Its plan has read what it should: the result can be kept as that of these states.
        pruned = replace(pruned, rewrites=(*pruned.rewrites, record), facts=())
        result = replace(answer, plan_text=str, applied=kept.applied if kept else None)
        if read is not None:
            result = _with_scans(answer, read)
        scanned = {scan.table.lower() for scan in result.scans}
        others = (facts for name, facts in asked.tables.items() if str(name).lower() not in scanned)
        result = replace(
            result,
            scans=(*result.scans, *map(skipped_scan, others)),
            reads=lambda: as_read(asked.tables),
            lineage=lambda: None,
            reused=reused,
        )
        return RunOutcome(pruned, result)


def _with_scans(answer: EngineResult, read: ReadState) -> EngineResult:
    """Returns the answer with what the reading of its state says of tables."""
    result = read.result
    return replace(
        answer,
        planning_ms=answer.planning_ms + result.planning_ms,
        running_ms=answer.running_ms + result.running_ms,
        scans=(*result.scans, *result.with_totals(read.pruned.skipped)),
        plan_text=result.plan_text,
        applied=result.applied,
    )
