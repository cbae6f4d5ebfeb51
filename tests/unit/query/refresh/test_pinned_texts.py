from __future__ import annotations

import pytest

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.tables.tables import TableName
from service.ports.bounded_calls import no_answer
from service.query.refresh.pinned_texts import added_sql, pinned_sql

SALES, DAYS = TableName("lake", "shop", "sales"), TableName("lake", "shop", "days")


def pinned(sql: str, **snapshots: int) -> str | None:
    names = {TableName("lake", "shop", name): snapshot_id for name, snapshot_id in snapshots.items()}
    return pinned_sql(no_answer, sql, frozenset({"lake"}), ("lake", "shop"), names)


def test_each_table_is_read_at_its_snapshot() -> None:
    sql = "SELECT sum(a) FROM Sales AS f, lake.shop.days d WHERE f.d = d.d"
    expected = (
        "SELECT sum(a) FROM Sales VERSION AS OF 7 AS f, lake.shop.days VERSION AS OF 8 d WHERE f.d = d.d"
    )
    assert pinned(sql, sales=7, days=8) == expected
    assert pinned(sql, sales=7) is None
    assert pinned("SELECT FROM") is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(a) FROM sales",
        "SELECT sum(a) FROM sales VERSION AS OF 8, days VERSION AS OF 8",
        "SELECT sum(a), 8 FROM sales VERSION AS OF 8",
        "SELECT sum(a) FROM sales VERSION AS OF 88",
        "SELECT sum(a), ' VERSION AS OF 8' FROM sales VERSION AS OF 8",
    ],
)
def test_a_snapshot_that_is_not_named_once_is_not_replaced(sql: str) -> None:
    with pytest.raises(NotRefreshable) as failure:
        added_sql(sql, 5, 8)
    assert failure.value.reason is RefreshOutcome.TABLES
