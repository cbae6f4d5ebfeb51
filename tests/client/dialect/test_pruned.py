"""Tests that the gateway can prune what the dialect writes: its own rules look at the texts."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from service.pruning.name_resolution.is_supported_syntax import is_supported_syntax
from service.pruning.sql_text.is_replaceable import is_replaceable
from service.pruning.sql_text.parse import parse
from sluice_client.sqlalchemy import SluiceDialect

DATES = sa.table(
    "date_dim", sa.column("d_date_sk"), sa.column("d_year"), sa.column("d_moy"), schema="lake.tpcds"
)
SALES = sa.table(
    "store_sales",
    sa.column("ss_sold_date_sk"),
    sa.column("ss_net_paid"),
    sa.column("Mixed Name"),
    schema="lake.tpcds",
)
JOINED = SALES.join(DATES, DATES.c.d_date_sk == SALES.c.ss_sold_date_sk)
IN_2000 = sa.select(DATES.c.d_date_sk).where(DATES.c.d_year == 2000)

QUERIES: dict[str, Any] = {
    "join": sa.select(DATES.c.d_moy, sa.func.sum(SALES.c.ss_net_paid))
    .select_from(JOINED)
    .where(DATES.c.d_year.in_([2000, 2001]), SALES.c["Mixed Name"].is_not(None))
    .group_by(DATES.c.d_moy)
    .order_by(sa.func.sum(SALES.c.ss_net_paid).desc().nulls_last())
    .limit(10)
    .offset(5),
    "null-safe join": sa.select(SALES.c.ss_net_paid).join(
        DATES, DATES.c.d_date_sk.is_not_distinct_from(SALES.c.ss_sold_date_sk)
    ),
    "in a query": sa.select(SALES.c.ss_net_paid).where(SALES.c.ss_sold_date_sk.in_(IN_2000)),
    "exists": sa.select(SALES.c.ss_net_paid).where(
        IN_2000.where(DATES.c.d_date_sk == SALES.c.ss_sold_date_sk).exists()
    ),
    "CTE": sa.select(SALES.c.ss_net_paid).join(
        days := IN_2000.cte("days"), days.c.d_date_sk == SALES.c.ss_sold_date_sk
    ),
    "derived table": sa.select(SALES.c.ss_net_paid).join(
        derived := IN_2000.subquery(), derived.c.d_date_sk == SALES.c.ss_sold_date_sk
    ),
    "alias": sa.select(SALES.c.ss_net_paid).join(
        alias := DATES.alias("d"), alias.c.d_date_sk == SALES.c.ss_sold_date_sk
    ),
    "union": sa.union_all(sa.select(SALES.c.ss_net_paid).select_from(JOINED), sa.select(DATES.c.d_year)),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_a_query_is_one_that_can_be_pruned(query: Any) -> None:
    text = str(query.compile(dialect=SluiceDialect(), compile_kwargs={"render_postcompile": True}))
    parsed = parse(text)
    assert parsed is not None
    assert is_supported_syntax(parsed.tree), text
    assert is_replaceable(parsed.tree), text
    tables = {reference.parts for reference in parsed.references}
    assert ("lake", "tpcds", "store_sales") in tables
    assert ("lake", "tpcds", "date_dim") in tables
