"""Each role at each statement that names columns, for each table: Spark's answer, or that it may not know."""

from __future__ import annotations

import pytest

from tests.integration.metadata.conftest import Asking, access
from tests.unit.policies.by_hand import ByHand

pytestmark = pytest.mark.integration

ORDERS, ITEMS, PAY, VIEW = "lake.shop.orders", "lake.shop.items", "lake.hr.pay", "mem.shop.some"
MISSING = "lake.shop.nope"
TABLES = {
    ORDERS: ["id", "card", "day", "at"],
    ITEMS: ["id", "name"],
    PAY: ["id", "amount"],
    VIEW: ["id", "card"],
    MISSING: [],
}
BY_HAND = ByHand(
    {
        "nobody": (),
        "describe": (("lake.*.*", "describe"),),
        "select": ((ORDERS, "select"),),
        "insert": ((ORDERS, "insert"),),
        "filtered": (("lake.shop.*", "select"), (ORDERS, "rows:id < 5")),
        "masked": (("lake.shop.*", "select"), (ORDERS, "mask:card=NULL")),
        "viewer": ((VIEW, "select"), (VIEW, "mask:card='x'")),
        "payer": ((PAY, "select"), (PAY, "rows:id = 1"), (PAY, "mask:amount=NULL")),
        "excepted": (("*.*.*", "select"), (ORDERS, "!describe"), (ORDERS, "!select")),
        "owner": (("*.*.*", "admin"),),
    }
)
OF_A_TABLE = ("SHOW COLUMNS IN {table}", "DESCRIBE {table}", "DESCRIBE TABLE EXTENDED {table}")
OF_A_COLUMN = ("DESCRIBE {table} {column}", "DESCRIBE EXTENDED {table} {column}")
STATEMENTS = (*OF_A_TABLE, *OF_A_COLUMN)
STATISTICS = ("min", "max", "num_nulls", "distinct_count", "avg_col_len", "max_col_len", "histogram")
DENIED = "TABLE_ACCESS_DENIED"


def test_there_are_hundreds_of_cells() -> None:
    assert len(BY_HAND.rules) * len(TABLES) * len(STATEMENTS) >= 200


def knows(role: str, table: str) -> bool:
    return BY_HAND.cell(frozenset({role}), "describe", table) != "refused"


def sees_all(role: str, table: str) -> bool:
    return BY_HAND.cell(frozenset({role}), "select", table) == "allowed"


@pytest.mark.parametrize("role", BY_HAND.rules)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_each_role_gets_the_columns_that_it_may_know(asking: Asking, statement: str, role: str) -> None:
    who = access(*BY_HAND.rules[role])
    wrong = []
    for table, columns in TABLES.items():
        sql = statement.format(table=table, column=columns[-1] if columns else "id")
        asked = columns[-1:] if statement in OF_A_COLUMN else columns
        told = asking.error(sql, who)
        if not knows(role, table):
            is_right = told.startswith(DENIED)
        elif table == MISSING:
            is_right = told.startswith("TABLE_NOT_FOUND")
        elif table == VIEW and statement in OF_A_COLUMN:
            # As Spark does: it describes columns of tables alone.
            is_right = told == asking.error(sql, access(*BY_HAND.rules["owner"]))
        else:
            is_right = told == "" and names_in(statement, asking.rows(sql, who)) == asked
        if not is_right:
            wrong.append((table, told))
    assert wrong == []


@pytest.mark.parametrize("role", BY_HAND.rules)
@pytest.mark.parametrize("table", [ORDERS, ITEMS, PAY])
def test_a_column_that_is_not_seen_as_a_whole_says_nothing_of_its_values(
    asking: Asking, table: str, role: str
) -> None:
    if not knows(role, table) or sees_all(role, table):
        pytest.skip("it is refused, or sees all of it")
    for column in TABLES[table]:
        described = dict(asking.rows(f"DESCRIBE EXTENDED {table} {column}", access(*BY_HAND.rules[role])))
        assert {described.get(name, "NULL") for name in STATISTICS} == {"NULL"}


def names_in(statement: str, rows: list[tuple[object, ...]]) -> list[object]:
    """Returns the names of columns in an answer; after the columns, a description has other things."""
    if statement.startswith("SHOW"):
        return [row[0] for row in rows]
    if statement in OF_A_COLUMN:
        return [value for name, value in rows if name == "col_name"]
    names = [row[0] for row in rows]
    end = next((at for at, name in enumerate(names) if not name or str(name).startswith("#")), len(names))
    return names[:end]
