"""Notes what policies allowed a request, so that it can be asked later whether they still do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from service.model.authentication.principals import Principal
from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Allowed, Decision, Definer, SchemaSight
from service.model.tables.restrictions import Restriction
from service.model.tables.tables import TableName

MAX_NOTED = 10_000
"""More decisions than this are not compared one by one: then any change of policies counts."""


@dataclass(slots=True)
class Notes:
    """The rights of one principal that a request has used.

    `below` has the same for the definer of each view, or None if the view has none.
    """

    allowed: dict[tuple[Action, TableName], Restriction] = field(default_factory=dict)
    seen: dict[tuple[str, str], SchemaSight | bool] = field(default_factory=dict)
    below: dict[TableName, tuple[str, Notes] | None] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether there may be more than is noted."""
        return max(len(self.allowed), len(self.seen), len(self.below)) >= MAX_NOTED

    def hold_for(self, access: Access) -> bool:
        """Whether this access allows all of it, with the same rows and values."""
        return (
            not self.is_full
            and all(_allows(access, *asked, seen) for asked, seen in tuple(self.allowed.items()))
            and all(_sees(access, *asked, seen) for asked, seen in tuple(self.seen.items()))
            and all(_has_definer(access, view, noted) for view, noted in tuple(self.below.items()))
        )


@dataclass(frozen=True, slots=True)
class DecidedAccess:
    """Implements `Access`: decides as `access` does, and notes what that allows.

    `renewed` returns what the principal may do by the policies of the moment; it raises PoliciesDown.
    """

    access: Access
    renewed: Callable[[], Access]
    principal: Principal
    notes: Notes = field(default_factory=Notes, compare=False)

    def is_as_before(self) -> bool:
        """Whether policies still allow everything that was allowed, with the same rows and values.

        Raises:
            PoliciesDown: they are not known now.
        """
        now = self.renewed()
        return now == self.access or self.notes.hold_for(now)

    def decide(self, action: Action, table: TableName) -> Decision:
        """See `Access`."""
        decided = self.access.decide(action, table)
        if isinstance(decided, Allowed) and not self.notes.is_full:
            self.notes.allowed[action, table.in_lower_case()] = decided.restriction
        return decided

    def administers_all(self) -> bool:
        """See `Access`."""
        is_admin = self.access.administers_all()
        if is_admin:
            self._see("", "", is_admin)
        return is_admin

    def definer_of(self, view: TableName) -> Definer | None:
        """See `Access`."""
        found, key = self.access.definer_of(view), view.in_lower_case()
        if found is None:
            if not self.notes.is_full:
                self.notes.below[key] = None
            return None
        noted = self.notes.below.get(key) or (found.definition, Notes())
        if not self.notes.is_full:
            self.notes.below[key] = noted
        return replace(found, access=DecidedAccess(found.access, self.renewed, self.principal, noted[1]))

    def sight_of(self, catalog: str, schema: str) -> SchemaSight:
        """See `Access`."""
        sight = self.access.sight_of(catalog, schema)
        if sight is not SchemaSight.HIDDEN:
            self._see(catalog, schema, sight)
        return sight

    def knows_catalog(self, catalog: str) -> bool:
        """See `Access`."""
        is_known = self.access.knows_catalog(catalog)
        if is_known:
            self._see(catalog, "", is_known)
        return is_known

    def _see(self, catalog: str, schema: str, seen: SchemaSight | bool) -> None:
        if not self.notes.is_full:
            self.notes.seen[catalog, schema] = seen


def _allows(access: Access, action: Action, table: TableName, restriction: Restriction) -> bool:
    decided = access.decide(action, table)
    return isinstance(decided, Allowed) and decided.restriction == restriction


def _sees(access: Access, catalog: str, schema: str, seen: SchemaSight | bool) -> bool:
    if isinstance(seen, SchemaSight):
        return access.sight_of(catalog, schema) is seen
    return access.knows_catalog(catalog) if catalog else access.administers_all()


def _has_definer(access: Access, view: TableName, noted: tuple[str, Notes] | None) -> bool:
    found = access.definer_of(view)
    if found is None or noted is None:
        return found is None and noted is None
    definition, notes = noted
    return found.definition == definition and notes.hold_for(found.access)
