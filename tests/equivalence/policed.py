"""Random policies over the tables of `lakehouse`, and views that show by hand what the policies show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.restrictions import Restriction
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from tests.equivalence.lakehouse import DIMENSION, DIMENSIONS, FACT, FACTS, SCHEMA

ANALYST = "analyst"
EVERYTHING = TablePattern.parse("*.*.*")

PREDICATES = (
    "k < 7",
    "k IN (1, 3, 5, 7, 9, 11) OR k IS NULL",
    "name LIKE 'A%'",
    "name <> 'Bo'",
    "is_paid",
    "NOT is_paid OR day IS NULL",
    "day >= DATE '1970-01-01'",
    "coalesce(weight, 1.0) > 0.5",
    "at < TIMESTAMP_NTZ '1970-01-03 00:00:00'",
    "FALSE",
)
MASKS: Mapping[str, tuple[str, ...]] = {
    "k": ("NULL", "k % 5", "coalesce(k, 3)"),
    "name": ("NULL", "concat(left(name, 1), '*')", "upper(name)", "'Ada'"),
    "day": ("NULL", "make_date(year(day), 1, 1)"),
    "is_paid": ("NULL", "NOT is_paid"),
    "price": ("NULL", "CAST(round(price) AS DECIMAL(7, 2))"),
    "weight": ("NULL", "0.5D"),
    "at": ("NULL", "CAST(date_trunc('YEAR', at) AS TIMESTAMP_NTZ)"),
}
"""Each keeps its column's type, for facts and dimensions alike."""


@dataclass(frozen=True, slots=True)
class Policed:
    """One set of random policies for one role on the tables or views of a schema, and what they show."""

    policies: PolicySet
    restrictions: Mapping[str, Restriction]
    on_schema: str = SCHEMA

    @property
    def access(self) -> RoleAccess:
        """The access of the role."""
        return RoleAccess(CompiledPolicies(self.policies), frozenset({ANALYST}))

    def make_views(self, run: Callable[[str], object], schema: str) -> None:
        """Replaces the views of a schema by those of these policies; `run` runs a command at the catalog.

        They read what has these policies.
        """
        self.make_views_over(run, schema, self.on_schema)

    def make_views_over(self, run: Callable[[str], object], schema: str, read: str) -> None:
        """Does the same with views that read the tables or views of another schema."""
        for table, restriction in self.restrictions.items():
            masks = dict(restriction.masks)
            columns = ", ".join(
                f"CAST({masks[name]} AS {_spark_type(name, table)}) AS `{name}`"
                if name in masks
                else f"`{name}`"
                for name in _columns(table)
            )
            where = "" if restriction.row_filter is None else f" WHERE TRUE AND ({restriction.row_filter})"
            run(f"DROP VIEW IF EXISTS {schema}.{table}")
            run(f"CREATE VIEW {schema}.{table} AS SELECT {columns} FROM {read}.{table}{where}")


def random_policies(random: Random, role: str = ANALYST, schema: str = SCHEMA) -> Policed:
    """Draws row filters for about half of the tables, and masks of some of their columns."""
    row_filters: list[RowFilter] = []
    masks: list[ColumnMask] = []
    restrictions: dict[str, Restriction] = {}
    for table in (*FACTS, *DIMENSIONS):
        pattern = TablePattern.parse(f"lake.{schema}.{table}")
        predicates = random.sample(PREDICATES, random.choice((0, 0, 1, 1, 2)))
        masked = {
            column: random.choice(MASKS[column])
            for column in random.sample(sorted(MASKS), random.choice((0, 0, 0, 1, 2)))
            if column in _columns(table)
        }
        row_filters += [RowFilter(role, pattern, predicate) for predicate in predicates]
        masks += [ColumnMask(role, pattern, column, mask) for column, mask in masked.items()]
        restrictions[table] = Restriction(
            " AND ".join(f"({predicate})" for predicate in predicates) or None, tuple(sorted(masked.items()))
        )
    grants = (Grant(role, Action.SELECT, EVERYTHING),)
    return Policed(PolicySet(1, grants, tuple(row_filters), tuple(masks)), restrictions, schema)


def _columns(table: str) -> tuple[str, ...]:
    return tuple(DIMENSION if table in DIMENSIONS else FACT)


def _spark_type(column: str, table: str) -> str:
    kind = str((DIMENSION if table in DIMENSIONS else FACT)[column])
    return {"timestamp": "TIMESTAMP_NTZ", "timestamptz": "TIMESTAMP", "long": "BIGINT"}.get(kind, kind)
