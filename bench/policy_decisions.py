"""Decisions of 1,000 grants and 200 row filters and masks.

The policies are those of 50 roles over patterns of 40 schemas; a principal has three roles. *A new table*:
the first decision on it since the policies were compiled, so that no cache helps. *A known table*: the same
decision again. Every decision goes through the policies of a gateway, with its lock and its counters.
"""

from __future__ import annotations

import time

from matplotlib.figure import Figure

from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, percentile, spread
from service.adapters.clock import SystemClock
from service.model.authentication.principals import Principal, PrincipalKind
from service.model.policies.actions import Action
from service.model.policies.decisions import Access
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.policy_changes import PolicyChange
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.live_policies import LivePolicies

ROLES, SCHEMAS, TABLES_PER_SCHEMA = 50, 40, 50
GRANTS, ROW_FILTERS, MASKS = 1_000, 100, 100
TARGET_MS = 0.2
NEW, KNOWN = "a new table", "a known table"


class _OnlyThese:
    """Implements `PolicyStore` for policies that nobody changes."""

    def __init__(self, policies: PolicySet) -> None:
        self._policies = policies

    def version(self) -> int:
        return self._policies.version

    def load(self) -> PolicySet:
        return self._policies

    def replace(self, policies: PolicySet, *, expected_version: int, by: str) -> PolicySet:
        raise NotImplementedError

    def changes(self, limit: int) -> list[PolicyChange]:  # noqa: ARG002
        return []


def measure(lake: Lake) -> Measurement:  # noqa: ARG001
    """Returns milliseconds by decision, for tables that were and were not decided before."""
    live = LivePolicies(_OnlyThese(policies()), SystemClock())
    live.refresh()
    roles = frozenset({"role1", "role2", "role3"})
    access = live.access_of(Principal("ada", PrincipalKind.KEY, roles))
    tables = [
        TableName("lake", f"schema{schema}", f"table{table}")
        for table in range(TABLES_PER_SCHEMA)
        for schema in range(SCHEMAS)
    ]
    samples = {name: [_decide_ms(access, table) for table in tables] for name in (NEW, KNOWN)}
    rows = [row for name, taken in samples.items() for row in _rows(name, taken)]
    return Measurement(rows, samples)


def policies() -> PolicySet:
    """Returns the policies: grants on whole schemas, on parts of them, and denials of single tables."""
    grants = tuple(
        Grant(
            f"role{number % ROLES}",
            Action.SELECT,
            TablePattern("lake", f"schema{number % SCHEMAS}", ("*", f"table{number % 7}*")[number % 2]),
            is_denial=number % 97 == 0,
        )
        for number in range(GRANTS)
    )
    row_filters = tuple(
        RowFilter(
            f"role{number % ROLES}", TablePattern("lake", f"schema{number % 4}*", "*"), f"region = {number}"
        )
        for number in range(ROW_FILTERS)
    )
    masks = tuple(
        ColumnMask(f"role{number % ROLES}", TablePattern("lake", "*", f"table{number}"), "card", "'*'")
        for number in range(MASKS)
    )
    return PolicySet(1, grants, row_filters, masks)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws both."""
    axes = figure.subplots()
    axes.boxplot(list(measurement.samples.values()), tick_labels=list(measurement.samples), showfliers=False)
    axes.set_ylabel("ms")
    axes.set_ylim(bottom=0)


def _decide_ms(access: Access, table: TableName) -> float:
    started = time.perf_counter()
    access.decide(Action.SELECT, table)
    return (time.perf_counter() - started) * 1000


def _rows(name: str, taken: list[float]) -> tuple[Row, Row]:
    late = percentile(taken, 99)
    target = f"< {TARGET_MS} ms"
    return spread(name, taken), Row(
        f"{name}: 99 of 100 within", late, "ms", None, None, target, late < TARGET_MS
    )
