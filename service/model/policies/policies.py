"""The policies that administrators define: grants, row filters and column masks, each of one role."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.policies.actions import Action
from service.model.policies.table_patterns import TablePattern


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
class PolicySet:
    """All policies at one version. The version grows with each change."""

    version: int = 0
    grants: tuple[Grant, ...] = ()
    row_filters: tuple[RowFilter, ...] = ()
    column_masks: tuple[ColumnMask, ...] = ()
