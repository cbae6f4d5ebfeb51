"""Aggregations over derived tables, common table expressions and views are brought up to date."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from uuid import uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from service.gateway import Gateway
from service.model.policies.actions import Action
from service.model.policies.decisions import Access
from service.model.policies.policies import DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from spark_session.engine.engine import SparkEngine
from tests.refresh.asker import Answer, Asker
from tests.refresh.tables import (
    DIMENSION,
    FACT,
    SCHEMA,
    dimension_rows,
    fact_rows,
    in_arrow,
    make_table,
)
from tests.refresh.test_full_runs import reason

RANDOM = Random(4)
Make = Callable[[str], None]


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


@pytest.fixture
def engine(gateway: Gateway) -> SparkEngine:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    return engine


@pytest.fixture
def make(engine: SparkEngine) -> Make:
    """Runs a command, as an administrator would in another Spark session."""

    def run(sql: str) -> None:
        assert engine.session is not None
        with engine.session.children.taken("lake", SCHEMA, str(uuid4())) as child:
            child.sql(sql)

    return run


def grow(table: Table) -> None:
    """Appends a few rows. Each condition of these tests takes at least one of them."""
    rows = fact_rows(RANDOM, 5)
    table.append(in_arrow(table, [rows[0] | {"small": 2, "k": 1}, *rows[1:]]))


def named(table: Table) -> str:
    return table.name()[-1]


def difference(asker: Asker, sql: str, answer: Answer) -> str:
    """Says how the answer is not that of a full run; empty if it is."""
    full = asker.run(sql)
    if full.columns != answer.columns or full.bag() != answer.bag():
        return f"{answer.columns} {answer.bag()}\nexpected: {full.columns} {full.bag()}"
    return "" if full.record.applied == answer.record.applied else f"{answer.record.applied}"


def is_brought_up_to_date(asker: Asker, sql: str, fact: Table) -> None:
    first = asker.ask(sql)
    assert first.has_state, reason(first)
    assert difference(asker, sql, first) == ""
    grow(fact)
    again = asker.ask(sql)
    assert again.is_refreshed, reason(again)
    assert difference(asker, sql, again) == ""


TEXTS = {
    "a derived table": (
        "SELECT x, sum(p) FROM (SELECT k AS x, price * 2 AS p FROM {fact} WHERE small > 0) AS f GROUP BY x"
    ),
    "a join in a CTE": (
        "WITH f AS (SELECT k, price, label FROM {fact} JOIN {dim} ON k = dk WHERE small > 0)"
        " SELECT label, sum(price) AS paid, count(*) FROM f GROUP BY label"
    ),
    "an aggregation in a CTE": (
        "WITH a AS (SELECT k, sum(price) AS s FROM {fact} GROUP BY k)"
        " SELECT k + 1 AS n, s FROM a WHERE s IS NOT NULL ORDER BY s DESC LIMIT 3"
    ),
    "an aggregation in a derived table": (
        "SELECT t, n / 2 AS half FROM (SELECT k, sum(amount) AS t, count(*) AS n FROM {fact} GROUP BY k"
        " HAVING count(*) > 1) g WHERE n > 1"
    ),
    "a chain with names of columns": (
        "WITH base AS (SELECT * FROM {fact} WHERE small > -3),"
        " priced AS (SELECT k, price AS p, name FROM base),"
        " groups(g, total, mean) AS (SELECT k, sum(p), avg(p) FROM priced WHERE name IS NOT NULL GROUP BY k)"
        " SELECT g, total, mean FROM groups WHERE total IS NOT NULL"
    ),
    "the name of two columns": (
        "SELECT f.k, d.k, count(*) AS n FROM {fact} f"
        " LEFT JOIN (SELECT dk AS k, label FROM {dim} WHERE year = 2000) d ON f.k = d.k GROUP BY f.k, d.k"
    ),
    "a CTE with the name of a table": (
        "WITH {fact} AS (SELECT small AS k, k AS small FROM {fact} WHERE k > 0)"
        " SELECT k, sum(small) FROM {fact} GROUP BY k"
    ),
    "a name that hides another": (
        "WITH f AS (WITH f AS (SELECT k AS v, small AS k FROM {fact})"
        " SELECT k, v + 1 AS small FROM f WHERE v > 0)"
        " SELECT k, max(small) AS v FROM f GROUP BY k"
    ),
    "an alias with the name of a column below": (
        "SELECT small AS k, sum(v) AS price FROM (SELECT small, k AS v FROM {fact}) f GROUP BY small"
        " HAVING sum(v) > 0 ORDER BY price, k"
    ),
    "an alias as a key": (
        "SELECT v AS small, count(*) AS n FROM (SELECT k AS v, id FROM {fact}) f GROUP BY small"
    ),
    "a field with the name of a column": (
        "WITH s AS (SELECT named_struct('a', k) AS s, id FROM {fact} WHERE small > 0)"
        " SELECT s.a, a, count(*) AS n FROM s CROSS JOIN (SELECT year AS a FROM {dim}) AS d GROUP BY a, s.a"
    ),
    "a column of a semi join": (
        "SELECT f.k, count(*) AS n FROM {fact} f LEFT SEMI JOIN (SELECT dk AS k FROM {dim}) d ON f.k = d.k"
        " WHERE small > 0 GROUP BY k"
    ),
    "quoted names": (
        "WITH `a.b` AS (SELECT k AS `k.v`, price AS `sum(x)` FROM {fact} WHERE small > 0)"
        " SELECT `k.v`, sum(`sum(x)`) AS `the ``sum``` FROM `A.B` GROUP BY `K.V`"
    ),
    "comments": (
        "WITH f AS ( -- the rows\nSELECT k, price FROM {fact} -- all of them\n),"
        " a AS (SELECT k, sum(price) AS s FROM f GROUP BY k /* groups */ -- end\n)"
        " SELECT s, k FROM a -- over\n;"
    ),
    "nothing": "WITH f AS (SELECT price FROM {fact} WHERE id < 0) SELECT sum(price), count(*) AS n FROM f",
    "no groups": (
        "SELECT k, s FROM (SELECT k, sum(price) AS s FROM (SELECT * FROM {fact} WHERE id < 0) GROUP BY k)"
    ),
}


@pytest.mark.parametrize("text", TEXTS)
def test_an_answer_is_brought_up_to_date(asker: Asker, fact: Table, dimension: Table, text: str) -> None:
    is_brought_up_to_date(asker, TEXTS[text].format(fact=named(fact), dim=named(dimension)), fact)


def test_only_added_files_are_read(asker: Asker, fact: Table) -> None:
    sql = f"WITH f AS (SELECT k, price FROM {named(fact)}) SELECT k, sum(price) FROM f GROUP BY k"
    assert asker.ask(sql).has_state
    grow(fact)
    again, full = asker.ask(sql), asker.run(sql)
    assert again.is_refreshed
    assert 0 < again.selected_bytes(named(fact)) < full.selected_bytes(named(fact))


REFUSED = {
    "WITH f AS (SELECT * FROM {fact}) SELECT count(*) FROM f a JOIN f b ON a.id = b.id": "CTE TABLES",
    "WITH f AS (SELECT * FROM {fact}), g AS (SELECT 1 AS a FROM {fact}) SELECT count(*) FROM f": "CTE TABLES",
    "WITH RECURSIVE f AS (SELECT k FROM {fact} UNION ALL SELECT k + 1 FROM f WHERE k < 0)"
    " SELECT count(*) FROM f": "NOT_ONE_SELECT",
    "WITH f AS (SELECT k, rand() AS r FROM {fact}) SELECT k, max(r) > 2 FROM f GROUP BY k": "",
    "WITH f AS (SELECT DISTINCT k, name FROM {fact}) SELECT k, count(*) FROM f GROUP BY k": "NOT_ONE_SELECT",
    "WITH f AS (SELECT k FROM {fact} ORDER BY id LIMIT 9) SELECT k, count(*) FROM f GROUP BY k": "SUBQUERY",
    "WITH f AS (SELECT k FROM {fact} UNION ALL SELECT small FROM {fact}) SELECT count(*) FROM f":
        "NOT_ONE_SELECT",
    "WITH f AS (SELECT k, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM {fact})"
    " SELECT count(*) FROM f WHERE n = 1": "NOT_ONE_SELECT",
    "WITH a AS (SELECT k, count(*) AS n FROM {fact} GROUP BY k) SELECT max(n) FROM a": "AGGREGATED_TWICE",
    "SELECT count(*) FROM (SELECT try_sum(small) AS s FROM {fact})": "AGGREGATED_TWICE",
    "SELECT count(*) FROM (SELECT dk FROM {dim}) d LEFT JOIN (SELECT * FROM {fact}) f ON f.k = d.dk"
    " WHERE f.k > 0 OR true": "STATE_KEPT",
    "SELECT count(*) FROM (SELECT id FROM {dim} RIGHT JOIN {fact} ON k = dk) f": "JOIN",
    "WITH a AS (SELECT k, count(*) AS n FROM {fact} GROUP BY k) SELECT label, n FROM a JOIN {dim} ON k = dk":
        "JOIN",
    "WITH a AS (SELECT k, count(*) AS n FROM {fact} GROUP BY k) SELECT n FROM a"
    " WHERE n > (SELECT count(*) FROM {dim})": "AGGREGATED_TWICE SUBQUERY",
    "SELECT n FROM (SELECT k, count(*) AS n FROM {fact} GROUP BY k)"
    " WHERE n IN (SELECT dk FROM {dim})": "SUBQUERY",
    "WITH f AS (SELECT k FROM {fact} VERSION AS OF 'main') SELECT count(*) AS n FROM f": "",
    "WITH a AS (SELECT k, stddev(small) AS n FROM {fact} GROUP BY k) SELECT n FROM a": "AGGREGATE",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_offered_says_why(asker: Asker, fact: Table, dimension: Table, text: str) -> None:
    sql = text.replace("{fact}", named(fact)).replace("{dim}", named(dimension))
    answer = asker.ask(sql)
    if REFUSED[text] == "STATE_KEPT":
        # The table on the preserved side may grow. The other one has to stay as it is.
        assert answer.has_state, reason(answer)
    else:
        assert not answer.has_state
        assert reason(answer) in REFUSED[text].split() or not REFUSED[text]


VIEWS = {
    "rows": (
        "SELECT k AS key, price AS paid, label FROM {fact} JOIN {dim} ON k = dk WHERE small > 0",
        "SELECT label, sum(paid) AS total, count(*) FROM {view} GROUP BY label",
    ),
    "groups": (
        "SELECT k, sum(price) AS total, count(*) AS n FROM {fact} GROUP BY k",
        "SELECT v.k, total / n AS mean FROM {view} AS v WHERE n > 1 ORDER BY 1",
    ),
    "with CTEs": (
        "WITH f AS (SELECT k, price FROM {fact} WHERE small > 0) SELECT k, price * 2 AS p FROM f",
        "WITH g AS (SELECT k, max(p) AS top FROM {view} GROUP BY k) SELECT top FROM g",
    ),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_views_are_brought_up_to_date(
    asker: Asker, make: Make, fact: Table, dimension: Table, kind: str
) -> None:
    view = f"view_{uuid4().hex[:8]}"
    text, sql = (part.format(fact=named(fact), dim=named(dimension), view=view) for part in VIEWS[kind])
    make(f"CREATE VIEW {view} AS {text}")
    is_brought_up_to_date(asker, sql, fact)


def test_a_view_of_a_view_is_brought_up_to_date(asker: Asker, make: Make, fact: Table) -> None:
    inner, outer = f"inner_{uuid4().hex[:8]}", f"outer_{uuid4().hex[:8]}"
    make(f"CREATE VIEW {inner} AS SELECT k AS small, small AS k FROM {named(fact)}")
    make(f"CREATE VIEW {outer} AS SELECT k, small + 1 AS small FROM {inner} WHERE k > 0")
    is_brought_up_to_date(asker, f"SELECT k, sum(small) AS k2 FROM {outer} GROUP BY k", fact)


def test_a_view_that_is_replaced_has_groups_of_its_own(asker: Asker, make: Make, fact: Table) -> None:
    view = f"view_{uuid4().hex[:8]}"
    sql = f"SELECT k, count(*) AS n FROM {view} GROUP BY k"
    make(f"CREATE VIEW {view} AS SELECT k FROM {named(fact)}")
    is_brought_up_to_date(asker, sql, fact)
    make(f"CREATE OR REPLACE VIEW {view} AS SELECT k FROM {named(fact)} WHERE small > 0")
    grow(fact)
    answer = asker.ask(sql)
    assert answer.kind is None
    assert difference(asker, sql, answer) == ""
    grow(fact)
    answer = asker.ask(sql)
    assert answer.is_refreshed
    assert difference(asker, sql, answer) == ""


def access(
    *tables: str, where: tuple[str, str] | None = None, definer: tuple[str, str] | None = None
) -> Access:
    """Lets the caller read these tables and views; one of them with a row filter or by the role `owner`."""
    patterns = [TablePattern.parse(f"lake.{SCHEMA}.{table}") for table in tables]
    grants = [Grant("r", Action.SELECT, pattern) for pattern in patterns]
    grants += [Grant("owner", Action.SELECT, TablePattern.parse(f"lake.{SCHEMA}.*"))]
    filters = () if where is None else (
        RowFilter("r", TablePattern.parse(f"lake.{SCHEMA}.{where[0]}"), where[1]),
    )  # fmt: skip
    definers = (
        () if definer is None else (DefinerView("owner", TableName("lake", SCHEMA, definer[0]), definer[1]),)
    )
    return RoleAccess(CompiledPolicies(PolicySet(1, tuple(grants), filters, (), definers)), frozenset({"r"}))


def test_policies_below_a_view_and_on_it_hold(
    gateway: Gateway, asker: Asker, engine: SparkEngine, make: Make, fact: Table
) -> None:
    view, table = f"view_{uuid4().hex[:8]}", named(fact)
    make(f"CREATE VIEW {view} AS SELECT k, small, price FROM {table} WHERE small IS NOT NULL")
    sql = f"SELECT k, count(*) AS n, sum(price) AS paid FROM {view} GROUP BY k"
    assert engine.session is not None
    with engine.session.children.taken("lake", SCHEMA, str(uuid4())) as child:
        name = TableName("lake", SCHEMA, view)
        definition = engine.session.table_guards.definition(child, name) or ""
    filtered = Asker(gateway, access(view, table, where=(table, "small > 0")))
    for caller in (asker, filtered):
        is_brought_up_to_date(caller, sql, fact)
    on_view = Asker(gateway, access(view, table, where=(view, "small > 1")))
    by_owner = Asker(gateway, access(view, definer=(view, definition)))
    answers = {tuple(sorted(map(str, caller.ask(sql).bag().elements()))) for caller in (asker, filtered)}
    for caller in (on_view, by_owner):
        for _ in range(2):
            answer = caller.ask(sql)
            assert reason(answer) == "VIEW"
            assert difference(caller, sql, answer) == ""
            grow(fact)
    answers.add(tuple(sorted(map(str, on_view.ask(sql).bag().elements()))))
    assert len(answers) == 3
    refused = Asker(gateway, access(view)).ask(sql)
    assert refused.record.error is not None
    assert refused.record.error.code == "TABLE_ACCESS_DENIED"
    refused = Asker(gateway, access(table)).ask(sql)
    assert refused.record.error is not None
    assert refused.record.error.code == "TABLE_ACCESS_DENIED"
