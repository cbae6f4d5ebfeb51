"""A query runs in full after changes that added files do not show."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from random import Random
from uuid import uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import IntegerType, LongType

from service.model.query.refresh import StateFunction
from service.model.query.reuse import ReuseChoice
from service.model.query.rewrites import RewriteKind
from tests.refresh.asker import Answer, Asker
from tests.refresh.tables import DIMENSION, FACT, SCHEMA, dimension_rows, fact_rows, in_arrow, make_table

RANDOM = Random(2)
SQL = "SELECT k, sum(price) AS paid, count(*) AS n, avg(amount) FROM {fact} WHERE small > -2 GROUP BY k"


@pytest.fixture
def fact(lake: SqlCatalog) -> Table:
    table = make_table(lake, f"fact_{uuid4().hex[:8]}", FACT, "k")
    table.append(in_arrow(table, fact_rows(RANDOM, 60)))
    return table


@pytest.fixture
def dimension(lake: SqlCatalog) -> Table:
    table = make_table(lake, f"dim_{uuid4().hex[:8]}", DIMENSION)
    table.append(in_arrow(table, dimension_rows(RANDOM)))
    return table


def more(table: Table, **values: object) -> None:
    """Appends a few rows; with values, some of a column."""
    rows = [row | values for row in fact_rows(RANDOM, 4)]
    table.append(in_arrow(table, rows))


def reason(answer: Answer) -> str:
    """Why the query ran in full; empty if it did not say so."""
    found = [rewrite.detail for rewrite in answer.record.rewrites if rewrite.kind is RewriteKind.REFRESH]
    return found[0].removeprefix("ran in full: ") if found else ""


def is_right(asker: Asker, sql: str, answer: Answer) -> bool:
    full = asker.run(sql)
    return (full.columns, full.bag()) == (answer.columns, answer.bag())


def _overwrite(table: Table) -> None:
    table.overwrite(in_arrow(table, fact_rows(RANDOM, 20)))


def _delete(table: Table) -> None:
    table.delete("id < 300000")


def _evolve(table: Table) -> None:
    with table.update_schema() as update:
        update.add_column("added", IntegerType())


def _widen(table: Table) -> None:
    # The same number has another hash as a long one.
    with table.update_schema() as update:
        update.update_column("small", LongType())


COMMITS = {"overwrite": _overwrite, "delete": _delete, "new column": _evolve, "wider column": _widen}


@pytest.mark.parametrize("commit", COMMITS.values(), ids=COMMITS.keys())
def test_after_such_a_commit_the_groups_are_made_again(
    asker: Asker, lake: SqlCatalog, fact: Table, commit: Callable[[Table], None]
) -> None:
    sql = SQL.format(fact=fact.name()[-1]).replace("count(*) AS n", "approx_count_distinct(small, 0.01) AS n")
    assert asker.ask(sql).has_state
    commit(fact)
    more(lake.load_table(fact.name()))
    answer = asker.ask(sql)
    assert answer.kind is None
    assert is_right(asker, sql, answer)
    more(lake.load_table(fact.name()))
    answer = asker.ask(sql)
    assert answer.is_refreshed, reason(answer)
    assert is_right(asker, sql, answer)


def test_a_change_of_another_table_makes_the_groups_again(
    asker: Asker, fact: Table, dimension: Table
) -> None:
    tables = f"{fact.name()[-1]} JOIN {dimension.name()[-1]} ON k = dk"
    sql = f"SELECT label, count(*), max(rate) FROM {tables} GROUP BY 1"
    assert asker.ask(sql).has_state
    dimension.overwrite(in_arrow(dimension, dimension_rows(RANDOM)))
    more(fact)
    answer = asker.ask(sql)
    assert answer.kind is None
    assert is_right(asker, sql, answer)


def test_a_commit_without_rows_reads_nothing(asker: Asker, fact: Table) -> None:
    sql = SQL.format(fact=fact.name()[-1])
    assert asker.ask(sql).has_state
    fact.transaction().set_properties({"a": "b"}).commit_transaction()
    answer = asker.ask(sql)
    assert answer.is_refreshed
    assert answer.selected_bytes() == 0
    assert is_right(asker, sql, answer)


def test_a_caller_may_decline(asker: Asker, fact: Table) -> None:
    sql = SQL.format(fact=fact.name()[-1])
    assert asker.ask(sql).has_state
    more(fact)
    assert not asker.run(sql).has_state
    assert not asker.ask(sql, reuse=ReuseChoice.REFRESH).has_state


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT weight, count(*) FROM {} GROUP BY weight", "FLOATING_POINT"),
        ("SELECT approx_count_distinct(id, 0.005) FROM {}", "STATE_TOO_LARGE"),
        ("SELECT k, try_sum(k), try_avg(1) FROM {} GROUP BY k", "AGGREGATE"),
        ("SELECT k, collect_set(k) FROM {} GROUP BY k", "AGGREGATE"),
        ("SELECT count(DISTINCT id) FROM {}", "DISTINCT"),
        ("SELECT id, price FROM {}", "NOT_AGGREGATED"),
        ("SELECT k, price, count(*) FROM {} GROUP BY k, price + 0, price", "STATE_KEPT"),
        ("SELECT count(*) FROM {} WHERE id IN (SELECT 1)", "NOT_ONE_SELECT SUBQUERY"),
        ("SELECT count(*) AS n FROM {} a JOIN {} b ON a.id = b.id", "JOIN TABLES"),
        ("SELECT sum(id) OVER () FROM {}", "WINDOW NOT_ONE_SELECT"),
        ("SELECT max(lasting) FROM (SELECT id AS lasting FROM {})", "STATE_KEPT"),
        ("SELECT max(lasting) FROM (SELECT id AS lasting FROM {} LIMIT 3)", "SUBQUERY"),
    ],
)
def test_what_is_not_offered_says_why(asker: Asker, fact: Table, text: str, expected: str) -> None:
    sql = text.replace("{}", fact.name()[-1])
    answer = asker.ask(sql)
    if expected == "STATE_KEPT":
        assert answer.has_state
        return
    assert reason(answer) in expected.split()
    more(fact)
    assert asker.ask(sql).kind is None


def test_no_caller_may_call_what_makes_states(asker: Asker, fact: Table) -> None:
    table = fact.name()[-1]
    assert asker.ask(f"SELECT k, approx_count_distinct(id) FROM {table} GROUP BY k").has_state
    read, merge, estimate = StateFunction
    for name in (read, f"`{merge}`", f"IDENTIFIER('{estimate}')"):
        refused = asker.ask(f"SELECT {name}(name) AS n FROM {table}")
        assert refused.record.error is not None
        assert refused.record.error.code == "SQL_INVALID"
        assert "There is no function" in refused.record.error.detail


def test_an_error_of_a_full_run_stays_an_error(asker: Asker, fact: Table) -> None:
    sql = f"SELECT sum(big) FROM {fact.name()[-1]}"
    assert asker.ask(sql).has_state
    more(fact, big=2**62)
    failed = asker.ask(sql)
    assert failed.record.error is not None
    plain = asker.run(sql)
    assert plain.record.error is not None
    assert (failed.record.error.code, failed.record.error.detail) == (
        plain.record.error.code,
        plain.record.error.detail,
    )


def test_a_sum_that_overflows_in_one_order_only_is_left_to_the_engine(asker: Asker, fact: Table) -> None:
    sql = f"SELECT k, sum(wide) AS total FROM {fact.name()[-1]} GROUP BY k"
    assert asker.ask(sql).has_state
    more(fact, wide=Decimal(10) ** 27 * 6, k=1)
    more(fact, wide=Decimal(10) ** 27 * -6, k=1)
    assert reason(asker.ask(sql)) in {"MAY_OVERFLOW", "ENGINE_FAILED", ""}


def test_one_percent_more_files_are_five_percent_of_the_bytes(asker: Asker, lake: SqlCatalog) -> None:
    table = make_table(lake, f"fact_{uuid4().hex[:8]}", FACT)
    for _ in range(100):
        table.append(in_arrow(table, fact_rows(RANDOM, 20)))
    sql = SQL.format(fact=table.name()[-1])
    assert asker.ask(sql).has_state
    table.append(in_arrow(table, fact_rows(RANDOM, 20)))
    answer, full = asker.ask(sql), asker.run(sql)
    assert answer.is_refreshed, reason(answer)
    assert answer.bag() == full.bag()
    assert 0 < answer.selected_bytes() <= full.selected_bytes() * 0.05
    [scan] = answer.record.scans
    assert scan.table == f"lake.{SCHEMA}.{table.name()[-1]}"
    assert scan.metrics.data_files.selected == 1


def test_many_small_parts_become_one(asker: Asker, fact: Table) -> None:
    sketches = "approx_count_distinct(id) AS n, hex(bitmap_construct_agg(k))"
    sql = SQL.format(fact=fact.name()[-1]).replace("count(*) AS n", sketches)
    assert asker.ask(sql).has_state
    for _ in range(18):
        more(fact)
        answer = asker.ask(sql)
        assert answer.is_refreshed
    assert is_right(asker, sql, answer)
