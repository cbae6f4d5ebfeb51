"""Problems of row filters and column masks on tables."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.policies.policies import ColumnMask, RowFilter
from service.model.tables.tables import TableName

CheckedPolicy = RowFilter | ColumnMask
"""A policy that has SQL, which has to fit the tables of its pattern."""


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """What is wrong with a policy's SQL. `table` is None if it is wrong for every table."""

    policy: CheckedPolicy
    detail: str
    table: TableName | None = None
