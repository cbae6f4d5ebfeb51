"""Decides what a principal sees of each table and view in a query's plan.

A table below a view is decided for the principal that reads the view, or for the definer of the nearest view
around it that has one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from service.errors.policy_errors import TableAccessDenied
from service.errors.statement_errors import QueryTooLarge
from service.errors.table_errors import ViewChanged
from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Allowed
from service.model.policies.read_plan import Parts, Path, ReadPlan, ReadTable, ReadView, lower, name_of
from service.model.tables.restrictions import UNRESTRICTED, Restriction
from service.model.tables.tables import TableName

HISTORY = frozenset({"SNAPSHOTS", "HISTORY", "REFS", "METADATA_LOG_ENTRIES"})
"""Metadata that says when a table was written, and nothing about its rows."""
_NOT_FOR_DEFINER = "its definer may not read all that it reads"

Definition = Callable[[ReadView], str | None]
"""Returns the digest of a view of the plan; None: it is not known."""


@dataclass(frozen=True, slots=True)
class GuardedPlace:
    """A table or view at one place of a plan, and its restriction there.

    With `is_apart`, it is a view with a definer: the query must not see what the view's conditions leave out.
    """

    table: TableName
    path: Path
    restriction: Restriction
    is_apart: bool = False

    def reported(self) -> Mapping[str, Any]:
        """Returns what `TableGuards.java` reads."""
        return {
            "name": lower(self.table.parts),
            "path": self.path,
            "rowFilter": self.restriction.row_filter,
            "masks": dict(self.restriction.masks),
            "isApart": self.is_apart,
        }


def has_policies(name: TableName, access: Access) -> bool:
    """Whether more than a grant decides about a view: it has a definer, a row filter or masks."""
    decision = access.decide(Action.SELECT, name)
    is_restricted = isinstance(decision, Allowed) and decision.restriction.is_any
    return is_restricted or access.definer_of(name) is not None


def written_views(plan: ReadPlan, own_names: Collection[str]) -> Iterator[Parts]:
    """Yields the names in the text that are not its tables. `own_names` are views of the gateway's own."""
    tables = {lower(table.parts) for table in plan.tables if not table.path}
    for parts in plan.written:
        is_own = len(parts) == 1 and (parts[0] in own_names or parts[0].lower() in own_names)
        if not is_own and lower(parts) not in tables:
            yield parts


def has_full_names(plan: ReadPlan) -> bool:
    """Whether the plan shows all that the text names by its full name."""
    known = {lower(view.parts) for view in plan.views if not view.path}
    return all(lower(parts) in known for parts in written_views(plan, ()))


def allow_unread(plan: ReadPlan, access: Access, own_names: Collection[str]) -> None:
    """Checks what the text names and the plan does not show by this name.

    Raises:
        TableAccessDenied: the principal may not read it, or does not see all of it.
    """
    known = {lower(view.parts) for view in plan.views if not view.path}
    for parts in written_views(plan, own_names):
        name = name_of(parts)
        if lower(parts) not in known and _seen(name, Action.SELECT, access).is_any:
            raise TableAccessDenied(
                name, Action.SELECT, "policies restrict it, and this query may not read it"
            )


def allow_view_depth(plan: ReadPlan, max_depth: int) -> None:
    """Checks that views are not nested too deeply: each level is a decision about all that is below it.

    Raises:
        QueryTooLarge: they are.
    """
    deepest = max(plan.views, key=lambda view: len(view.path), default=None)
    if deepest is not None and len(deepest.path) >= max_depth:
        raise QueryTooLarge(
            f"The query reads a view {len(deepest.path)} views deep within others. At most {max_depth} levels"
            " are read under policies (max_view_depth)."
        )


def guarded_places(plan: ReadPlan, access: Access, definition: Definition) -> Iterator[GuardedPlace]:
    """Yields the places with a restriction.

    Raises:
        TableAccessDenied: the principal, or the definer of a view, may not read something.
        ViewChanged: a view is no longer what its definer's rights were given to.
    """
    for view in plan.views:
        restriction = _Decided(view.path, access).view(view.name)
        definer = access.definer_of(view.name)
        if definer is not None and definition(view) != definer.definition:
            raise ViewChanged(view.name)
        if restriction.is_any or definer is not None:
            yield GuardedPlace(view.name, view.path, restriction, is_apart=definer is not None)
    for table in plan.tables:
        restriction = _Decided(table.path, access).table(table)
        if restriction.is_any:
            yield GuardedPlace(table.name, table.path, restriction)


def applied_policies(places: Iterable[GuardedPlace]) -> tuple[str, ...]:
    """Returns the names of the policies at these places, each once."""
    names: list[str] = []
    for place in places:
        if place.is_apart:
            names.append(f"definer of {place.table}")
        names += place.restriction.named(str(place.table))
    return tuple(dict.fromkeys(names))


def allow_table(table: ReadTable, access: Access) -> Restriction:
    """Returns what the principal does not see of a table.

    Raises:
        TableAccessDenied: it may not read the table, or reads metadata that shows what it does not see.
    """
    if table.metadata in HISTORY:
        _seen(table.name, Action.DESCRIBE, access)
        return UNRESTRICTED
    restriction = _seen(table.name, Action.SELECT, access)
    if restriction.is_any and table.metadata is not None:
        raise TableAccessDenied(
            table.name, Action.SELECT, "policies restrict it, and its metadata would show more"
        )
    if restriction.is_any and table.hidden_columns:
        raise TableAccessDenied(
            table.name, Action.SELECT, f"policies restrict it, and {table.hidden_columns[0]} would show more"
        )
    return restriction


class _Decided:
    """The decisions at one place of a plan."""

    def __init__(self, path: Path, access: Access) -> None:
        self._access = access
        self._definer: TableName | None = None
        for parts in reversed(path):
            definer = access.definer_of(name_of(parts))
            if definer is not None:
                self._access, self._definer = definer.access, name_of(parts)
                return

    def view(self, view: TableName) -> Restriction:
        return self._of_definer(lambda: _seen(view, Action.SELECT, self._access))

    def table(self, table: ReadTable) -> Restriction:
        return self._of_definer(lambda: allow_table(table, self._access))

    def _of_definer(self, decide: Callable[[], Restriction]) -> Restriction:
        try:
            return decide()
        except TableAccessDenied:
            if self._definer is None:
                raise
            # Who reads the view does not have to know what is below it.
            raise TableAccessDenied(self._definer, Action.SELECT, _NOT_FOR_DEFINER) from None


def _seen(table: TableName, action: Action, access: Access) -> Restriction:
    decision = access.decide(action, table)
    if not isinstance(decision, Allowed):
        raise TableAccessDenied(table, action)
    return decision.restriction
