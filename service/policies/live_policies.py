"""The policies in force at this gateway: kept in memory, and renewed from the store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import structlog

from service.errors.policy_errors import PoliciesDown
from service.errors.unavailable import MetricsStoreDown
from service.model.authentication.principals import Principal, PrincipalKind
from service.model.operations.health import PartHealth, PartState
from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Decision, Definer, Refused, SchemaSight
from service.model.policies.policies import PolicySet
from service.model.policies.signs import Outcome, PolicySigns
from service.model.tables.tables import TableName
from service.periodic_worker import PeriodicWorker
from service.policies.anonymous_access import ANONYMOUS_ACCESS
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.policies.decided_access import DecidedAccess
from service.ports.clock import Clock
from service.ports.stores.policy_store import PolicyStore

PART = "policies"
CLOSED_WITHIN_S = 5.0
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PolicyTimes:
    """How often the store is asked for its version, and how long known policies count without an answer."""

    poll_s: float = 2.0
    max_age_s: float = 300.0


@dataclass(frozen=True, slots=True)
class _Known:
    compiled: CompiledPolicies
    confirmed_ms: int


class LivePolicies:
    """Decides by the latest known policies. Any thread may call any method.

    A change that is made here counts at once. One that another replica made counts within `poll_s`. If the
    store cannot be read, the known policies count for `max_age_s`; after that every decision is an error,
    because a right that was taken away must not stay for long.
    """

    def __init__(self, store: PolicyStore, clock: Clock, times: PolicyTimes = PolicyTimes()) -> None:
        self._store = store
        self._clock = clock
        self._times = times
        self._began_ms = clock.elapsed_ms()
        self._known: _Known | None = None
        # One reader or writer at a time, so that an earlier answer never replaces a later one.
        self._asking = threading.Lock()
        self._is_failing = False
        self._counting = threading.Lock()
        self._decisions = dict.fromkeys(Outcome, 0)
        self._worker = PeriodicWorker("policies", self.refresh, times.poll_s, waits_first=True)

    def start(self) -> None:
        """Reads the policies, and begins to renew them. If the store is down, they are read later."""
        self.refresh()
        self._worker.start()

    def decide(self, roles: frozenset[str], action: Action, table: TableName) -> Decision:
        """Returns whether a principal with these roles may do it, and which rows and columns it sees.

        Raises:
            PoliciesDown: the policies are not known, or the store has not confirmed them for too long.
        """
        try:
            decided = self.current().decide(roles, action, table)
        except PoliciesDown:
            self._count(Outcome.UNKNOWN)
            raise
        self._count(_outcome(decided))
        return decided

    def access_of(self, principal: Principal) -> Access:
        """See `Policies`: its decisions are of one version, counted, and noted."""
        return DecidedAccess(self._access(principal), partial(self._access, principal), principal)

    def _access(self, principal: Principal) -> CountedAccess:
        if principal.kind is PrincipalKind.ANONYMOUS:
            return CountedAccess(ANONYMOUS_ACCESS, self._count)
        return CountedAccess(RoleAccess(self.current(), principal.roles), self._count)

    def current(self) -> CompiledPolicies:
        """Returns the policies that are in force.

        Use one value for all decisions of a request, so that they are of one version.

        Raises:
            PoliciesDown: as for `decide`.
        """
        known = self._known
        if known is None:
            raise PoliciesDown(
                "The policies have not been read yet. Send the request again in a few seconds."
            )
        if self._age_s(known) > self._times.max_age_s:
            raise PoliciesDown
        return known.compiled

    def refresh(self) -> None:
        """Asks the store for its version, and reads the policies if it is another one."""
        with self._asking:
            asked_ms = self._clock.elapsed_ms()
            try:
                self._confirm(asked_ms)
            except (MetricsStoreDown, PoliciesDown) as down:
                if not self._is_failing:
                    _log.warning("policies_not_confirmed", reason=down.detail)
                self._is_failing = True
                return
            if self._is_failing:
                _log.info("policies_confirmed")
            self._is_failing = False

    def replace(self, policies: PolicySet, *, expected_version: int, by: str) -> PolicySet:
        """Replaces all policies in the store, and uses the new ones at once. See `PolicyStore.replace`."""
        with self._asking:
            asked_ms = self._clock.elapsed_ms()
            stored = self._store.replace(policies, expected_version=expected_version, by=by)
            self._take(stored, asked_ms)
            return stored

    def health(self) -> PartHealth:
        """Reports whether decisions can be made. Returns at once."""
        known = self._known
        if known is None:
            return PartHealth(PART, PartState.STARTING, "The policies are not read yet.", is_required=True)
        if self._age_s(known) > self._times.max_age_s:
            detail = "The metrics store has not confirmed the policies for too long."
            return PartHealth(PART, PartState.DOWN, detail, is_required=True)
        return PartHealth(PART, PartState.UP, is_required=True)

    def signs(self) -> PolicySigns:
        """Returns the state for metrics. Returns at once."""
        known = self._known
        with self._counting:
            decisions = dict(self._decisions)
        if known is None:
            return PolicySigns(0, (self._clock.elapsed_ms() - self._began_ms) / 1000, decisions)
        return PolicySigns(known.compiled.version, self._age_s(known), decisions)

    def close(self) -> None:
        """Ends the thread."""
        self._worker.close(CLOSED_WITHIN_S)

    def _confirm(self, asked_ms: int) -> None:
        known, version = self._known, self._store.version()
        if known is not None and known.compiled.version == version:
            self._known = _Known(known.compiled, asked_ms)
        else:
            # Also if the version is lower, as after the restore of a backup.
            self._take(self._store.load(), asked_ms)

    def _take(self, policies: PolicySet, asked_ms: int) -> None:
        known = self._known
        if known is None or known.compiled.version != policies.version:
            _log.info("policies_read", version=policies.version, policies=len(policies.policies))
            self._known = _Known(CompiledPolicies(policies), asked_ms)
        else:
            self._known = _Known(known.compiled, asked_ms)

    def _age_s(self, known: _Known) -> float:
        return (self._clock.elapsed_ms() - known.confirmed_ms) / 1000

    def _count(self, outcome: Outcome) -> None:
        with self._counting:
            self._decisions[outcome] += 1


@dataclass(frozen=True, slots=True)
class CountedAccess:
    """Implements `Access`, and counts the outcomes of decisions."""

    access: Access
    count: Callable[[Outcome], None]

    def decide(self, action: Action, table: TableName) -> Decision:
        """See `Access`."""
        decided = self.access.decide(action, table)
        self.count(_outcome(decided))
        return decided

    def administers_all(self) -> bool:
        """See `Access`."""
        is_admin = self.access.administers_all()
        self.count(Outcome.ALLOWED if is_admin else Outcome.NOT_GRANTED)
        return is_admin

    def definer_of(self, view: TableName) -> Definer | None:
        """See `Access`."""
        definer = self.access.definer_of(view)
        return None if definer is None else replace(definer, access=CountedAccess(definer.access, self.count))

    def sight_of(self, catalog: str, schema: str) -> SchemaSight:
        """See `Access`."""
        return self.access.sight_of(catalog, schema)

    def knows_catalog(self, catalog: str) -> bool:
        """See `Access`."""
        return self.access.knows_catalog(catalog)


def _outcome(decision: Decision) -> Outcome:
    if isinstance(decision, Refused):
        return Outcome.DENIED if decision.is_denied else Outcome.NOT_GRANTED
    return Outcome.RESTRICTED if decision.restriction.is_any else Outcome.ALLOWED
