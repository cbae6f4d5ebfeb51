"""Decides by a set of policies, fast enough for every table of every query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from service.bounded_lru import BoundedLru
from service.model.policies.actions import Action
from service.model.policies.decisions import Allowed, Decision, Definer, Refused, SchemaSight
from service.model.policies.policies import DefinerView, PolicySet
from service.model.policies.table_patterns import TablePattern
from service.model.tables.dead_letter_names import sent_to
from service.model.tables.restrictions import Restriction
from service.model.tables.tables import TableName
from service.policies.policy_index import P, PolicyIndex
from service.policies.schema_sight import knows_catalog, sight_of

_DECISIONS_CACHED = 10_000
_CACHED_BYTES = 16 << 20
_EVERY_TABLE = TablePattern.parse("*.*.*")


class CompiledPolicies:
    """The decisions of one set of policies. Thread-safe.

    Nothing is allowed by default, and a denial beats each grant. With several granting roles, a principal
    sees the rows that one of them sees, and a column is masked only if all of them mask it. Dead letters are
    read by those who see every row and column of the table that the records were sent to.
    """

    def __init__(self, policies: PolicySet) -> None:
        self.version = policies.version
        self._grants = _by_role(policies.grants)
        self._granted = _granted(policies)
        self._admin_grants = [grant for grant in policies.grants if grant.action is Action.ADMIN]
        self._row_filters = _by_role(policies.row_filters)
        self._column_masks = _by_role(policies.column_masks)
        self._definers = _definers(policies.definer_views)
        self._decided = BoundedLru[tuple[frozenset[str], Action, TableName], Decision](
            max_entries=_DECISIONS_CACHED, max_bytes=_CACHED_BYTES
        )

    def decide(self, roles: frozenset[str], action: Action, table: TableName) -> Decision:
        """Returns whether a principal with these roles may do it, and which rows and columns it sees."""
        key = roles, action, table.in_lower_case()
        decided = self._decided.get(key)
        if decided is None:
            decided = self._decide(*key)
            self._decided.put(key, decided, _size(decided))
        return decided

    def definer_of(self, view: TableName) -> Definer | None:
        """Returns with whose rights a view reads what is below it. None: with those of whoever reads it."""
        found = self._definers.get(view.in_lower_case())
        return None if found is None else Definer(RoleAccess(self, found[0]), found[1])

    def definer_roles(self, view: TableName) -> frozenset[str]:
        """Returns the roles whose rights a view has; none if it has those of whoever reads it."""
        return self._definers.get(view.in_lower_case(), (frozenset[str](), ""))[0]

    def administers_policies(self, roles: frozenset[str]) -> bool:
        """Whether a principal with these roles may read and change all policies.

        One role must have `admin` on `*.*.*`. A denial of `admin` for any table takes the right away: who
        may change policies could remove the denial.
        """
        grants = [grant for grant in self._admin_grants if grant.role in roles]
        return any(grant.pattern == _EVERY_TABLE and not grant.is_denial for grant in grants) and not any(
            grant.is_denial for grant in grants
        )

    def sight_of(self, roles: frozenset[str], catalog: str, schema: str) -> SchemaSight:
        """Returns what a principal with these roles may know of a schema."""
        return sight_of(self._patterns(roles), catalog, schema, partial(self._describes, roles))

    def knows_catalog(self, roles: frozenset[str], catalog: str) -> bool:
        """Whether a principal with these roles may know that the catalog exists."""
        return knows_catalog(self._patterns(roles), catalog, partial(self._describes, roles))

    def _patterns(self, roles: frozenset[str]) -> Iterator[TablePattern]:
        return (pattern for role in sorted(roles) for pattern in self._granted.get(role, ()))

    def _describes(self, roles: frozenset[str], table: TableName) -> bool:
        return isinstance(self._by_patterns(roles, Action.DESCRIBE, table.in_lower_case()), Allowed)

    def _decide(self, roles: frozenset[str], action: Action, table: TableName) -> Decision:
        decided = self._by_patterns(roles, action, table)
        source = sent_to(table)
        if source is None or action is not Action.SELECT or isinstance(decided, Refused):
            return decided
        # Dead letters are whole records, which no row filter or mask of their table reaches.
        of_source = self._decide(roles, action, source)
        if isinstance(of_source, Allowed) and not of_source.restriction.is_any:
            return decided
        is_denied = isinstance(of_source, Refused) and of_source.is_denied
        return Refused(action, table, is_denied=is_denied, shows=source)

    def _by_patterns(self, roles: frozenset[str], action: Action, table: TableName) -> Decision:
        # In one order, so that the same roles always have the same fingerprint.
        covering = {role: tuple(_covering(self._grants, role, table)) for role in sorted(roles)}
        denied = {grant.action for grants in covering.values() for grant in grants if grant.is_denial}
        if denied & {action, Action.ADMIN}:
            return Refused(action, table, is_denied=True)
        # A grant that is denied does not give what it includes, either.
        granted_by = action.granted_by - denied
        granting = [
            role
            for role, grants in covering.items()
            if any(grant.action in granted_by and not grant.is_denial for grant in grants)
        ]
        if not granting:
            return Refused(action, table)
        return Allowed(Restriction(self._row_filter(granting, table), self._masks(granting, table)))

    def _row_filter(self, roles: Sequence[str], table: TableName) -> str | None:
        found: list[str] = []
        for role in roles:
            predicates = [row_filter.predicate for row_filter in _covering(self._row_filters, role, table)]
            if not predicates:
                return None
            found.append(" AND ".join(f"({predicate})" for predicate in dict.fromkeys(predicates)))
        return " OR ".join(f"({predicate})" for predicate in dict.fromkeys(found))

    def _masks(self, roles: Sequence[str], table: TableName) -> tuple[tuple[str, str], ...]:
        of_roles = [self._masks_of(role, table) for role in roles]
        masked = frozenset.intersection(*(frozenset(masks) for masks in of_roles))
        # If the roles have different masks, the first role by name decides.
        return tuple((column, of_roles[0][column]) for column in sorted(masked))

    def _masks_of(self, role: str, table: TableName) -> Mapping[str, str]:
        """Returns the role's masks by column. If a column has several, the most specific pattern counts."""
        found = sorted(
            _covering(self._column_masks, role, table),
            key=lambda mask: (mask.pattern.literal_length, str(mask.pattern), mask.expression),
        )
        return {mask.column.lower(): mask.expression for mask in found}


@dataclass(frozen=True, slots=True)
class RoleAccess:
    """Implements `Access` for a principal with these roles."""

    policies: CompiledPolicies
    roles: frozenset[str]

    def decide(self, action: Action, table: TableName) -> Decision:
        """See `Access`."""
        return self.policies.decide(self.roles, action, table)

    def administers_all(self) -> bool:
        """See `Access`."""
        return self.policies.administers_policies(self.roles)

    def definer_of(self, view: TableName) -> Definer | None:
        """See `Access`."""
        return self.policies.definer_of(view)

    def sight_of(self, catalog: str, schema: str) -> SchemaSight:
        """See `Access`."""
        return self.policies.sight_of(self.roles, catalog, schema)

    def knows_catalog(self, catalog: str) -> bool:
        """See `Access`."""
        return self.policies.knows_catalog(self.roles, catalog)


def _definers(views: Sequence[DefinerView]) -> Mapping[TableName, tuple[frozenset[str], str]]:
    """Returns the roles of each view, and the definition that has their rights."""
    found: dict[TableName, tuple[frozenset[str], str]] = {}
    for each in views:
        name = each.view.in_lower_case()
        roles, definition = found.get(name, (frozenset[str](), each.definition))
        # If the roles differ in it, which a store should not have, no view has it.
        found[name] = roles | {each.role}, definition if definition == each.definition else ""
    return found


def _granted(policies: PolicySet) -> Mapping[str, tuple[TablePattern, ...]]:
    """Returns the patterns of each role's grants, each pattern once."""
    found: defaultdict[str, dict[TablePattern, None]] = defaultdict(dict)
    for grant in policies.grants:
        if not grant.is_denial:
            found[grant.role][grant.pattern] = None
    return {role: tuple(patterns) for role, patterns in found.items()}


def _by_role(policies: Sequence[P]) -> Mapping[str, PolicyIndex[P]]:
    found: defaultdict[str, list[P]] = defaultdict(list)
    for policy in policies:
        found[policy.role].append(policy)
    return {role: PolicyIndex(of_role) for role, of_role in found.items()}


def _covering(policies: Mapping[str, PolicyIndex[P]], role: str, table: TableName) -> Iterator[P]:
    index = policies.get(role)
    return iter(()) if index is None else index.covering(table)


def _size(decision: Decision) -> int:
    """Returns about how many bytes a cached decision takes."""
    if not isinstance(decision, Allowed):
        return 500
    restriction = decision.restriction
    return 500 + sum(map(len, (restriction.row_filter or "", *dict(restriction.masks).values())))
