"""The policies that administrators define: grants, row filters and column masks, each of one role."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.model.policies.actions import Action
from service.model.policies.table_patterns import TablePattern

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


AnyPolicy = Grant | RowFilter | ColumnMask


@dataclass(frozen=True, slots=True)
class PolicySet:
    """All policies at one version. The version grows with each change."""

    version: int = 0
    grants: tuple[Grant, ...] = ()
    row_filters: tuple[RowFilter, ...] = ()
    column_masks: tuple[ColumnMask, ...] = ()

    @property
    def policies(self) -> tuple[AnyPolicy, ...]:
        """Grants and denials, row filters and column masks."""
        return (*self.grants, *self.row_filters, *self.column_masks)

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
