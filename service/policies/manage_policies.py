"""Reads, plans and makes changes of all policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from service.errors.policy_errors import PoliciesChanged, PoliciesInvalid
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.faults import Fault
from service.model.policies.actions import Action
from service.model.policies.checks import CheckedPolicy, PolicyProblem
from service.model.policies.decisions import Decision
from service.model.policies.policies import AnyPolicy, ColumnMask, DefinerView, PolicySet
from service.model.policies.policy_changes import PolicyChange, PolicyDifference, difference
from service.model.policies.table_patterns import TablePattern
from service.model.tables.dead_letter_names import sent_to
from service.model.tables.tables import TableListing, TableName
from service.policies.compiled_policies import CompiledPolicies
from service.policies.live_policies import LivePolicies
from service.policies.pinned_views import pinned_views
from service.ports.stores.policy_store import PolicyChecker, PolicyStore

MAX_WARNINGS = 100
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PolicyBounds:
    """How many policies there may be, how large their SQL may be, and how much a change checks.

    A check is that of one policy on one table, or the read of one view with a definer. Beyond `max_checks`, a
    policy is checked when it is used, and no view is added.
    """

    max_policies: int = 5_000
    max_expression_bytes: int = 4_096
    max_checks: int = 1_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """Policies that an administrator wants to be in force, and the place of each in their document.

    `places` are JSON pointers. A policy without a place has its fault reported without one.
    """

    policies: PolicySet
    places: Mapping[AnyPolicy, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A valid change, before or after it was made.

    `policies` are all policies after it. `warnings` say what may be a mistake, and which checks were left
    out.
    """

    policies: PolicySet
    difference: PolicyDifference
    warnings: tuple[str, ...] = ()


class PolicyService:
    """The administration of policies. Any thread may call any method. Each asks the store.

    Args:
        store: keeps the policies.
        checker: checks the SQL of new row filters and column masks, and reads views.
        tables: lists all tables.
        bounds: what one set of policies may have.
        live: the policies in force here. None: this gateway does not decide by policies.
    """

    def __init__(
        self,
        store: PolicyStore,
        checker: PolicyChecker,
        tables: Callable[[], TableListing],
        bounds: PolicyBounds = PolicyBounds(),
        live: LivePolicies | None = None,
    ) -> None:
        self._store = store
        self._checker = checker
        self._tables = tables
        self._bounds = bounds
        self.live = live

    def is_administered_by(self, roles: frozenset[str]) -> bool:
        """Whether policies let these roles read and change all policies."""
        # Where policies do not decide, they give no right to change them either.
        return self.live is not None and bool(roles) and self.live.current().administers_policies(roles)

    def current(self) -> PolicySet:
        """Returns all policies as the store has them.

        Raises:
            MetricsStoreDown, PoliciesDown: they cannot be read.
        """
        return self._store.load()

    def changes(self, limit: int) -> Sequence[PolicyChange]:
        """Returns the latest changes, the newest first.

        Raises:
            MetricsStoreDown, PoliciesDown: they cannot be read.
        """
        return self._store.changes(limit)

    def decide(self, roles: frozenset[str], action: Action, table: TableName) -> tuple[int, Decision]:
        """Returns the decision of the stored policies, and their version. It has no effect.

        Raises:
            MetricsStoreDown, PoliciesDown: they cannot be read.
        """
        policies = self._store.load()
        return policies.version, CompiledPolicies(policies).decide(roles, action, table)

    def plan(
        self, proposal: Proposal, expected_version: int | None, *, is_checked: bool = True
    ) -> PlannedChange:
        """Checks a change, and returns what it would do. Changes nothing.

        Only added policies are checked. `is_checked` False leaves out the checks of SQL on tables, and of
        views.

        Raises:
            PoliciesInvalid: a policy is not valid, or its SQL does not fit a table of its pattern.
            PoliciesChanged: the current version is not the expected one. None: any version is.
            CatalogDown: a row filter or mask cannot be checked, since a catalog does not answer.
            PartDown: the store or the engine does not answer.
        """
        asked = proposal.policies.in_order()
        self._check_form(asked, proposal.places)
        before = self._store.load()
        if expected_version not in (None, before.version):
            raise PoliciesChanged(before.version)
        pinned = pinned_views(
            asked,
            before,
            proposal.places,
            self._checker,
            is_checked=is_checked,
            max_checks=self._bounds.max_checks,
        )
        change = difference(before, pinned.policies)
        warnings = self._check_added(change.added, pinned.places, is_checked=is_checked)
        version = before.version + bool(change)
        return PlannedChange(
            replace(pinned.policies, version=version),
            change,
            (*pinned.warnings, *warnings)[:MAX_WARNINGS],
        )

    def replace(
        self, proposal: Proposal, expected_version: int | None, by: str, *, is_checked: bool = True
    ) -> PlannedChange:
        """Plans a change and makes it. It counts at this gateway at once, and elsewhere within seconds.

        Raises:
            PoliciesInvalid, PoliciesChanged, CatalogDown, PartDown: as for `plan`.
        """
        planned = self.plan(proposal, expected_version, is_checked=is_checked)
        if not planned.difference:
            return planned
        change = self._store if self.live is None else self.live
        # Another change since the plan has another version.
        version = planned.policies.version - 1
        stored = change.replace(planned.policies, expected_version=version, by=by)
        _log.info(
            "policies_changed",
            version=stored.version,
            by=by,
            added=len(planned.difference.added),
            removed=len(planned.difference.removed),
            is_checked=is_checked,
        )
        return replace(planned, policies=stored)

    def _check_form(self, policies: PolicySet, places: Mapping[AnyPolicy, str]) -> None:
        count = len(policies.policies)
        if count > self._bounds.max_policies:
            raise PoliciesInvalid(
                [Fault(f"There are {count} policies; {self._bounds.max_policies} are allowed.", "/roles")]
            )
        faults = [*self._oversized(policies, places), *_contradictions(policies.column_masks, places)]
        if faults:
            raise PoliciesInvalid(faults)

    def _oversized(self, policies: PolicySet, places: Mapping[AnyPolicy, str]) -> Iterator[Fault]:
        at_most = self._bounds.max_expression_bytes
        texts: list[tuple[AnyPolicy, str]] = [(each, each.predicate) for each in policies.row_filters]
        texts += [(mask, mask.expression) for mask in policies.column_masks]
        for policy, text in texts:
            if len(text.encode("utf-8", "surrogatepass")) > at_most:
                yield Fault(f"The SQL has more than {at_most} bytes.", places.get(policy))

    def _check_added(
        self, added: Sequence[AnyPolicy], places: Mapping[AnyPolicy, str], *, is_checked: bool
    ) -> list[str]:
        """Returns the warnings about added policies."""
        if not added:
            return []
        checked = [policy for policy in added if isinstance(policy, CheckedPolicy)] if is_checked else []
        try:
            listing = self._tables()
        except CatalogDown:
            if checked:
                raise
            return ["The tables could not be listed: whether the patterns match a table was not checked."]
        warnings = [] if is_checked else ["The SQL of row filters and masks was not checked on tables."]
        missing = [name for name in listing.missing if _may_be_in(name, checked)]
        if missing:
            raise CatalogDown(f"The catalog {missing[0]} does not answer, so its tables cannot be checked.")
        tables = _Tables(listing.tables)
        of_tables = (policy for policy in added if not isinstance(policy, DefinerView))
        for pattern in dict.fromkeys(policy.pattern for policy in of_tables):
            if not listing.missing and not any(tables.of(pattern)):
                warnings.append(f"No table matches {pattern} now.")
        return warnings + self._check_sql(checked, tables, places)

    def _check_sql(
        self, policies: Sequence[CheckedPolicy], tables: _Tables, places: Mapping[AnyPolicy, str]
    ) -> list[str]:
        of_tables: dict[TableName, list[CheckedPolicy]] = {}
        checks, left_out = 0, 0
        for policy in policies:
            for table in tables.to_check(policy.pattern):
                source = sent_to(table)
                if source is not None and policy.pattern.covers(source):
                    # Nobody with this policy reads these dead letters, which have other columns.
                    continue
                if checks >= self._bounds.max_checks:
                    left_out += 1
                    continue
                of_tables.setdefault(table, []).append(policy)
                checks += 1
        problems = [problem for table, found in of_tables.items() for problem in self._problems(table, found)]
        if problems:
            raise PoliciesInvalid([_fault(problem, places) for problem in problems])
        if not left_out:
            return []
        return [f"{left_out} checks of row filters and masks on tables were left out, after {checks}."]

    def _problems(self, table: TableName, policies: Sequence[CheckedPolicy]) -> Sequence[PolicyProblem]:
        try:
            return self._checker.check(table, policies)
        except TableNotFound:
            # It was dropped since the tables were listed, or there is no such view.
            return []


class _Tables:
    def __init__(self, tables: Iterable[TableName]) -> None:
        self._by_name = {table.in_lower_case(): table for table in tables}

    def of(self, pattern: TablePattern) -> Iterator[TableName]:
        """Returns the tables that the pattern covers."""
        if "*" not in str(pattern):
            exact = self._by_name.get(TableName(pattern.catalog, pattern.schema, pattern.table))
            return iter(() if exact is None else (exact,))
        return (table for table in self._by_name.values() if pattern.covers(table))

    def to_check(self, pattern: TablePattern) -> Iterator[TableName]:
        """Returns the tables that the pattern covers, or the name that it is: a view is not listed."""
        found = tuple(self.of(pattern))
        if found or "*" in str(pattern):
            return iter(found)
        return iter((TableName(pattern.catalog, pattern.schema, pattern.table),))


def _may_be_in(catalog: str, policies: Iterable[AnyPolicy]) -> bool:
    return any(
        TablePattern(policy.pattern.catalog, "*", "*").covers(TableName(catalog, "", ""))
        for policy in policies
    )


def _contradictions(masks: Sequence[ColumnMask], places: Mapping[AnyPolicy, str]) -> Iterator[Fault]:
    first: dict[tuple[str, TablePattern, str], ColumnMask] = {}
    for mask in masks:
        if first.setdefault((mask.role, mask.pattern, mask.column.lower()), mask) != mask:
            other = f"The role {mask.role} has another mask for {mask.column} in {mask.pattern}"
            detail = f"{other}: leave one of them."
            yield Fault(detail, places.get(mask))


def _fault(problem: PolicyProblem, places: Mapping[AnyPolicy, str]) -> Fault:
    where = "" if problem.table is None else f"{problem.table}: "
    return Fault(f"{where}{problem.detail}", places.get(problem.policy))
