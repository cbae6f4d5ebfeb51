"""Callers who see other rows or values have states of their own."""

from __future__ import annotations

from random import Random
from uuid import uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from service.gateway import Gateway
from service.model.policies.actions import Action
from service.model.policies.decisions import Access
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from tests.refresh.asker import Asker
from tests.refresh.tables import FACT, SCHEMA, fact_rows, in_arrow, make_table

RANDOM = Random(3)


@pytest.fixture
def fact(lake: SqlCatalog) -> Table:
    table = make_table(lake, f"fact_{uuid4().hex[:8]}", FACT)
    table.append(in_arrow(table, fact_rows(RANDOM, 60)))
    return table


def access(table: Table, *, where: str | None = None, mask: str | None = None) -> Access:
    pattern = TablePattern.parse(f"lake.{SCHEMA}.{table.name()[-1]}")
    filters = () if where is None else (RowFilter("r", pattern, where),)
    masks = () if mask is None else (ColumnMask("r", pattern, "price", mask),)
    policies = PolicySet(1, (Grant("r", Action.SELECT, pattern),), filters, masks, ())
    return RoleAccess(CompiledPolicies(policies), frozenset({"r"}))


def test_no_state_is_used_for_a_caller_who_sees_something_else(
    gateway: Gateway, asker: Asker, fact: Table
) -> None:
    sql = f"SELECT k, sum(price) AS paid, approx_count_distinct(price) AS n FROM {fact.name()[-1]} GROUP BY k"
    restricted = [
        Asker(gateway, access(fact, where="small > 0")),
        Asker(gateway, access(fact, where="small < 0")),
        Asker(gateway, access(fact, mask="CAST(1 AS DECIMAL(7,2))")),
    ]
    everybody = [asker, *restricted]
    for caller in everybody:
        first = caller.ask(sql)
        assert first.has_state, caller.outcomes()
        assert first.kind is None
        assert first.bag() == caller.run(sql).bag()
    fact.append(in_arrow(fact, fact_rows(RANDOM, 20)))
    answers = []
    for caller in everybody:
        again, full = caller.ask(sql), caller.run(sql)
        assert again.is_refreshed, caller.outcomes()
        assert (again.columns, again.bag()) == (full.columns, full.bag())
        assert again.record.applied == full.record.applied
        answers.append(tuple(sorted(map(str, again.bag().elements()))))
    assert len(set(answers)) == len(everybody)


def test_a_caller_without_the_grant_gets_no_state(
    gateway: Gateway, asker: Asker, fact: Table, lake: SqlCatalog
) -> None:
    sql = f"SELECT count(*) AS n, sum(price) AS paid FROM {fact.name()[-1]}"
    other = make_table(lake, f"fact_{uuid4().hex[:8]}", FACT)
    assert asker.ask(sql).has_state
    fact.append(in_arrow(fact, fact_rows(RANDOM, 3)))
    refused = Asker(gateway, access(other)).ask(sql)
    assert refused.record.error is not None
    assert refused.record.error.code == "TABLE_ACCESS_DENIED"
    assert not refused.has_state
