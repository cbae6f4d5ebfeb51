"""The policies that administrators define, each of one role: grants, row filters, masks, and view rights."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.model.policies.actions import Action
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName

MAX_ROLE_CHARACTERS = 255


@dataclass(frozen=True, slots=True)
class Grant:
    """A role may do `action` to the tables of a pattern; or, with `is_denial`, it may not."""

    role: str
    action: Action
    pattern: TablePattern
    is_denial: bool = False


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A role sees only the rows of matching tables for which the SQL `predicate` is true."""

    role: str
    pattern: TablePattern
    predicate: str


@dataclass(frozen=True, slots=True)
class ColumnMask:
    """A role sees the value of a SQL `expression` instead of the values of a column."""

    role: str
    pattern: TablePattern
    column: str
    expression: str


@dataclass(frozen=True, slots=True)
class DefinerView:
    """A view that reads what is below it with the rights of a role, and not with those of whoever reads it.

    `definition` is the digest of the view's text and of all views below it. A view that changed since may
    not be read. Empty: the view as it is when the policy is defined; no stored policy has that.
    """

    role: str
    view: TableName
    definition: str = ""

    @property
    def pattern(self) -> TablePattern:
        """The view's name, which covers nothing else."""
        return TablePattern.parse(str(self.view))


AnyPolicy = Grant | RowFilter | ColumnMask | DefinerView


@dataclass(frozen=True, slots=True)
class PolicySet:
    """All policies at one version. The version grows with each change."""

    version: int = 0
    grants: tuple[Grant, ...] = ()
    row_filters: tuple[RowFilter, ...] = ()
    column_masks: tuple[ColumnMask, ...] = ()
    definer_views: tuple[DefinerView, ...] = ()

    @property
    def policies(self) -> tuple[AnyPolicy, ...]:
        """Grants and denials, row filters, column masks, and views with definer's rights."""
        return (*self.grants, *self.row_filters, *self.column_masks, *self.definer_views)

    def in_order(self) -> PolicySet:
        """Returns the same policies in their one order, each once.

        Equal sets of policies are then equal values, whatever order they were written in.

        >>> one, other = (Grant(role, Action.SELECT, TablePattern.parse("a.b.c")) for role in ("x", "y"))
        >>> PolicySet(grants=(other, one, one)).in_order() == PolicySet(grants=(one, other))
        True
        """
        return replace(
            self,
            grants=tuple(sorted(set(self.grants), key=_grant_order)),
            row_filters=tuple(sorted(set(self.row_filters), key=_filter_order)),
            column_masks=tuple(sorted(set(self.column_masks), key=_mask_order)),
            definer_views=tuple(sorted(set(self.definer_views), key=_view_order)),
        )


def is_role_name(name: object) -> bool:
    r"""Whether a role may have this name: printable, without spaces at its ends, and bounded.

    >>> [is_role_name(each) for each in ("analyst", "realm:data team", "a\nb", " a", "", 7)]
    [True, True, False, False, False, False]
    """
    return (
        isinstance(name, str)
        and 0 < len(name) <= MAX_ROLE_CHARACTERS
        and name.isprintable()
        and name == name.strip()
    )


_ACTIONS = tuple(Action)


def _grant_order(grant: Grant) -> tuple[str, str, bool, int]:
    return grant.role, str(grant.pattern), grant.is_denial, _ACTIONS.index(grant.action)


def _filter_order(row_filter: RowFilter) -> tuple[str, str, str]:
    return row_filter.role, str(row_filter.pattern), row_filter.predicate


def _mask_order(mask: ColumnMask) -> tuple[str, str, str, str]:
    return mask.role, str(mask.pattern), mask.column, mask.expression


def _view_order(view: DefinerView) -> tuple[str, str, str]:
    return view.role, str(view.view), view.definition
