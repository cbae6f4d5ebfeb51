"""Turns policies into rows, and rows into policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from service.adapters.postgres.shared.storable import storable
from service.model.policies.actions import Action
from service.model.policies.policies import AnyPolicy, ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName


class Kind(StrEnum):
    """The kind of a stored policy."""

    GRANT = "grant"
    DENIAL = "denial"
    ROW_FILTER = "row_filter"
    COLUMN_MASK = "column_mask"
    DEFINER_VIEW = "definer_view"


def row_of(policy: AnyPolicy) -> dict[str, str]:
    """Returns the columns that the policy has.

    >>> row_of(Grant("analyst", Action.SELECT, TablePattern.parse("lake.sales.*")))
    {'kind': 'grant', 'role': 'analyst', 'table_pattern': 'lake.sales.*', 'action': 'select'}
    """
    match policy:
        case Grant():
            kind = Kind.DENIAL if policy.is_denial else Kind.GRANT
            own = {"action": policy.action.value}
        case RowFilter():
            kind, own = Kind.ROW_FILTER, {"expression": policy.predicate}
        case ColumnMask():
            kind = Kind.COLUMN_MASK
            own = {"column_name": policy.column, "expression": policy.expression}
        case DefinerView():
            kind, own = Kind.DEFINER_VIEW, {"expression": policy.definition}
    # The name of a view keeps its case: catalogs tell them apart.
    tables = str(policy.view if isinstance(policy, DefinerView) else policy.pattern)
    row = {"kind": kind.value, "role": policy.role, "table_pattern": tables} | own
    return {name: storable(value) for name, value in row.items()}


def policy_of(row: Mapping[str, Any]) -> AnyPolicy:
    """Returns the policy of a row. The inverse of `row_of`.

    Raises:
        ValueError: this version does not know its kind, its action, or the form of its pattern.
        KeyError: a column is missing.
    """
    role, pattern = row["role"], TablePattern.parse(row["table_pattern"])
    match Kind(row["kind"]):
        case Kind.GRANT:
            return Grant(role, Action(row["action"]), pattern)
        case Kind.DENIAL:
            return Grant(role, Action(row["action"]), pattern, is_denial=True)
        case Kind.ROW_FILTER:
            return RowFilter(role, pattern, row["expression"])
        case Kind.DEFINER_VIEW:
            return DefinerView(role, TableName.of(row["table_pattern"]), row["expression"])
        case Kind.COLUMN_MASK:
            return ColumnMask(role, pattern, row["column_name"], row["expression"])


def policy_set(version: int, policies: Iterable[AnyPolicy]) -> PolicySet:
    """Returns the policies as one set, in their one order."""
    found = tuple(policies)
    return PolicySet(
        version,
        tuple(policy for policy in found if isinstance(policy, Grant)),
        tuple(policy for policy in found if isinstance(policy, RowFilter)),
        tuple(policy for policy in found if isinstance(policy, ColumnMask)),
        tuple(policy for policy in found if isinstance(policy, DefinerView)),
    ).in_order()
