"""Views under policies: the rights of who reads them, those of their definer, and policies of their own."""

from __future__ import annotations

import gc
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

import pytest

from service.errors.gateway_error import GatewayError
from service.errors.policy_errors import TableAccessDenied
from service.errors.query_errors import QueryFailed
from service.errors.statement_errors import QueryTooLarge, StatementNotAllowed
from service.errors.table_errors import ViewChanged
from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.query.query import Parameter, Parameters
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.engine import SparkEngine
from spark_session.engine.metadata.explained import HIDDEN_PLAN
from spark_session.engine.run_statement import HIDDEN_VALUES
from spark_session.settings.settings import SparkSettings
from tests.contract.test_views import command
from tests.integration.engine.test_hidden_rows import FAILING, PREDICATES, RUNS
from tests.integration.engines import jars

pytestmark = pytest.mark.integration

LAKE = {
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog",
    "spark.sql.catalog.lake.warehouse": "memory:warehouse",
    "spark.sql.catalog.lake.cache-enabled": "false",
}
NO_PROPERTIES: Mapping[str, str] = {}
VIEWS: Mapping[str, str] = {
    "plain": "SELECT id, region, card FROM orders",
    "outer_plain": "SELECT id, region, card FROM plain WHERE id < 9",
    "at_first": "SELECT id, region, card FROM lake.shop.orders VERSION AS OF 'first'",
    "shadow": "WITH plain AS (SELECT id FROM orders) SELECT id FROM plain",
    "with_parts": (
        "WITH c AS (SELECT * FROM plain) SELECT a.id, a.region, (SELECT max(id) FROM c) AS newest FROM c a"
        " WHERE a.id IN (SELECT id FROM outer_plain)"
    ),
    "some_orders": "SELECT id, region, amount, card FROM orders WHERE amount <> 5",
    "late_orders": "SELECT id, region, amount, card FROM orders WHERE coalesce(amount, 0) + 0 <> 5",
    "paid": "SELECT o.id, o.region, s.pay FROM some_orders o JOIN lake.hr.salaries s ON o.id = s.id",
    "mine": "SELECT id, current_user() AS who FROM orders WHERE region = 'A'",
    "computed": "SELECT id FROM IDENTIFIER('lake.shop.' || 'plain')",
    "computed_short": "SELECT id FROM IDENTIFIER('pl' || 'ain')",
}
ROWS = "(1, 'A', 3, 'c1'), (2, 'B', 4, 'c2'), (3, 'A', 5, 'c3'), (4, 'B', 5, 'c4'), (5, 'A', 6, 'c5')"
"""Id, region, amount and card."""


def view(name: str) -> TableName:
    return TableName.of(name) if "." in name else TableName("lake", "shop", name)


def select(role: str, *tables: str) -> tuple[Grant, ...]:
    return tuple(Grant(role, Action.SELECT, TablePattern.parse(f"lake.{table}")) for table in tables)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkEngine]:
    folder = tmp_path_factory.mktemp("engine")
    engine = SparkEngine(SparkSettings("local[2]", jars(), folder, LAKE, ("lake",), "lake", "1g"))
    engine.start()
    for schema in ("shop", "hr"):
        command(engine, f"CREATE NAMESPACE lake.{schema}", schema=None)
    command(engine, "CREATE TABLE orders (id INT, region STRING, amount INT, card STRING)")
    command(engine, f"INSERT INTO orders VALUES {ROWS}")
    command(engine, "ALTER TABLE lake.shop.orders CREATE TAG first")
    command(engine, "CREATE TABLE lake.hr.salaries (id INT, pay INT)", schema=None)
    command(engine, "INSERT INTO lake.hr.salaries VALUES (1, 100), (2, 200), (3, 300)", schema=None)
    for name, text in VIEWS.items():
        command(engine, f"CREATE VIEW {name} AS {text}")
    yield engine
    engine.close()
    del engine
    gc.collect()


@dataclass(frozen=True)
class House:
    """An engine, and what the role `analyst` may do there."""

    engine: SparkEngine
    policies: PolicySet

    def with_definers(self, **definers: str) -> House:
        """Gives views the rights of roles, as they are now."""
        found = [
            DefinerView(role, view(name), self.definition(name))
            for name, roles in definers.items()
            for role in roles.split()
        ]
        return replace(self, policies=replace(self.policies, definer_views=tuple(found)))

    def definition(self, name: str) -> str:
        assert self.engine.session is not None
        with self.engine.session.children.taken("lake", "hr", "administrator") as child:
            found = self.engine.session.table_guards.definition(child, view(name))
        assert found is not None
        return found

    def run(
        self,
        sql: str,
        roles: str = "analyst",
        *,
        schema: str = "shop",
        parameters: Parameters = (),
        properties: Mapping[str, str] = NO_PROPERTIES,
    ) -> EngineResult:
        statement = Statement(
            uuid4(),
            sql,
            parameters,
            "lake",
            schema,
            100,
            10**6,
            is_canceled=lambda: False,
            access=RoleAccess(CompiledPolicies(self.policies), frozenset(roles.split())),
            caller="ada",
            properties=properties,
        )
        return self.engine.run(statement)

    def rows(self, sql: str, roles: str = "analyst") -> list[tuple[object, ...]]:
        return sorted((tuple(row.values()) for row in self.run(sql, roles).rows.to_pylist()), key=repr)


@pytest.fixture
def house(engine: SparkEngine) -> Callable[..., House]:
    def made(
        *grants: Grant, filters: tuple[RowFilter, ...] = (), masks: tuple[ColumnMask, ...] = ()
    ) -> House:
        return House(engine, PolicySet(1, grants, filters, masks))

    return made


WAYS = (
    "SELECT id FROM {view}",
    "SELECT id FROM shop.{view}",
    "SELECT v.id FROM lake.shop.{view} AS v",
    "SELECT lake.shop.{view}.id FROM lake.shop.{view}",
    "SELECT {view}.id FROM lake.shop.{view}",
    "FROM {view} SELECT id",
    "SELECT id FROM (TABLE {view})",
    "FROM {view} |> SELECT id",
    "WITH c AS (SELECT * FROM {view}) SELECT id FROM c",
    "WITH {view} AS (SELECT * FROM lake.shop.{view}) SELECT id FROM {view}",
    "SELECT a.id FROM {view} a JOIN shop.{view} b ON a.id = b.id",
    "WITH c AS (SELECT * FROM {view}) SELECT a.id FROM c a JOIN c b ON a.id = b.id",
    "SELECT id FROM (SELECT id FROM {view} UNION SELECT id FROM {view})",
    "SELECT x.id FROM (VALUES (1), (2), (3), (4), (5)) AS x(id) WHERE x.id IN (SELECT id FROM {view})",
    "SELECT x.id FROM (VALUES (1), (2), (3), (4), (5)) AS x(id)"
    " WHERE EXISTS (SELECT 1 FROM {view} v WHERE v.id = x.id)",
    "SELECT x.id FROM (VALUES (1), (2), (3), (4), (5)) AS x(id)"
    " WHERE (SELECT max(v.id) FROM {view} v WHERE v.id = x.id) IS NOT NULL",
    "SELECT x.id FROM (VALUES (1), (2), (3), (4), (5)) AS x(id),"
    " LATERAL (SELECT 1 FROM {view} v WHERE v.id = x.id)",
    "WITH RECURSIVE r (id, n) AS (SELECT id, 0 FROM {view} UNION ALL SELECT id, n + 1 FROM r WHERE n < 1)"
    " SELECT id FROM r WHERE n = 1",
    "SELECT id FROM (SELECT {view}.* FROM {view})",
    "SELECT id FROM {view} NATURAL JOIN (SELECT id FROM {view})",
    "SELECT a.id FROM {view} a LEFT SEMI JOIN {view} b USING (id)",
    "SELECT id FROM {view} INTERSECT SELECT id FROM {view} ORDER BY (SELECT max(id) FROM {view})",
    "SELECT max(id) OVER (PARTITION BY id) AS id FROM {view} LATERAL VIEW explode(array(1)) e AS x",
    "SELECT /*+ BROADCAST({view}) */ id FROM {view} TABLESAMPLE (100 PERCENT)",
)
"""Each gives the ids of the view."""
ORDERS = ("shop.orders",)


def of_ids(*ids: int) -> list[tuple[object, ...]]:
    return [(each,) for each in ids]


def refused(asked: House, sql: str, table: str, roles: str = "analyst") -> str:
    with pytest.raises(TableAccessDenied) as caught:
        asked.run(sql, roles)
    assert caught.value.table == f"lake.{table}"
    return caught.value.detail


@pytest.mark.parametrize("sql", WAYS)
def test_a_caller_needs_a_grant_on_the_view_and_on_each_table_below(
    house: Callable[..., House], sql: str
) -> None:
    both = house(*select("analyst", "shop.plain", "shop.orders"))
    assert both.rows(sql.format(view="plain")) == of_ids(1, 2, 3, 4, 5)
    refused(house(*select("analyst", "shop.orders")), sql.format(view="plain"), "shop.plain")
    refused(house(*select("analyst", "shop.plain")), sql.format(view="plain"), "shop.orders")


def test_each_view_below_a_view_needs_a_grant(house: Callable[..., House]) -> None:
    for name in ("outer_plain", "with_parts"):
        sql = f"SELECT id FROM {name}"
        views = ("shop.with_parts", "shop.outer_plain", "shop.plain", "shop.orders")
        assert house(*select("analyst", *views)).rows(sql) == of_ids(1, 2, 3, 4, 5)
        refused(
            house(*select("analyst", *(each for each in views if each != "shop.plain"))), sql, "shop.plain"
        )
        refused(house(*select("analyst", *views[:-1])), sql, "shop.orders")
    refused(house(*select("analyst", *views[:1], *views[2:])), sql, "shop.outer_plain")


def test_a_version_of_a_table_below_a_view_is_decided_as_the_table(house: Callable[..., House]) -> None:
    granted = select("analyst", "shop.at_first", "shop.orders")
    rows = RowFilter("analyst", TablePattern.parse("lake.shop.orders"), "region = 'A'")
    assert house(*granted).rows("SELECT id FROM at_first") == of_ids(1, 2, 3, 4, 5)
    assert house(*granted, filters=(rows,)).rows("SELECT id FROM at_first") == of_ids(1, 3, 5)
    refused(house(*granted[:1]), "SELECT id FROM at_first", "shop.orders")


def test_a_common_table_expression_with_the_name_of_a_view_is_not_the_view(
    house: Callable[..., House],
) -> None:
    asked = house(*select("analyst", "shop.orders", "shop.shadow"))
    assert asked.rows("WITH plain AS (SELECT id FROM orders) SELECT id FROM plain") == of_ids(1, 2, 3, 4, 5)
    assert asked.rows("SELECT id FROM shadow") == of_ids(1, 2, 3, 4, 5)
    refused(asked, "WITH plain AS (SELECT id FROM plain) SELECT id FROM plain", "shop.plain")


def test_a_view_whose_name_is_computed_is_found(house: Callable[..., House]) -> None:
    asked = house(*select("analyst", "shop.computed", "shop.computed_short", "shop.orders"))
    refused(asked, "SELECT id FROM computed", "shop.plain")
    with pytest.raises(StatementNotAllowed):
        asked.run("SELECT id FROM computed_short")


@pytest.mark.parametrize("sql", WAYS)
def test_a_view_reads_with_the_rights_of_its_definer(house: Callable[..., House], sql: str) -> None:
    asked = house(*select("analyst", "shop.some_orders"), *select("owner", "shop.orders"))
    refused(asked, sql.format(view="some_orders"), "shop.orders")
    owned = asked.with_definers(some_orders="owner")
    assert owned.rows(sql.format(view="some_orders")) == of_ids(1, 2, 5)
    refused(owned, sql.format(view="some_orders"), "shop.some_orders", roles="owner")


def test_the_rights_of_a_definer_end_at_its_view(house: Callable[..., House]) -> None:
    owned = house(*select("analyst", "shop.some_orders", "shop.outer_plain", "shop.plain"))
    owned = replace(
        owned, policies=replace(owned.policies, grants=(*owned.policies.grants, *select("owner", *ORDERS)))
    )
    owned = owned.with_definers(some_orders="owner")
    for sql in (
        "SELECT id FROM orders",
        "SELECT o.id FROM some_orders o JOIN orders USING (id)",
        "SELECT id FROM some_orders WHERE id IN (SELECT id FROM orders)",
        "SELECT id FROM some_orders UNION ALL SELECT id FROM outer_plain",
        "WITH some_orders AS (SELECT * FROM orders) SELECT id FROM some_orders",
        "SELECT id FROM (SELECT * FROM orders) AS some_orders",
    ):
        refused(owned, sql, "shop.orders")


def test_row_filters_and_masks_below_are_those_of_the_definer(house: Callable[..., House]) -> None:
    table = TablePattern.parse("lake.shop.orders")
    asked = house(
        *select("analyst", "shop.some_orders", "shop.orders"),
        *select("owner", "shop.orders"),
        filters=(RowFilter("owner", table, "region = 'A'"), RowFilter("analyst", table, "id > 1")),
        masks=(ColumnMask("owner", table, "card", "'hidden'"), ColumnMask("analyst", table, "region", "'?'")),
    ).with_definers(some_orders="owner")
    assert asked.run("SELECT id FROM some_orders").applied == (
        "definer of lake.shop.some_orders",
        "row filter of lake.shop.orders",
        "mask of lake.shop.orders.card",
    )
    expected = [(1, "A", "hidden"), (5, "A", "hidden")]
    assert asked.rows("SELECT id, region, card FROM some_orders") == expected
    assert asked.rows(
        "SELECT o.id, v.card AS a, o.card, o.region, v.region AS b FROM some_orders v"
        " RIGHT JOIN orders o ON o.id = v.id"
    ) == [
        (2, None, "c2", "?", None),
        (3, None, "c3", "?", None),
        (4, None, "c4", "?", None),
        (5, "hidden", "c5", "?", "A"),
    ]


TIMES = (1, 2, 20)


def cost(asked: House, sql: str, times: int = 1) -> tuple[int, int]:
    """Returns how many queries were analyzed again, and how many views were looked at in catalogs."""
    assert asked.engine.session is not None
    guards = asked.engine.session.table_guards
    before = guards.analyses.count, guards.definitions.reads.count
    for _ in range(times):
        asked.run(sql)
    return guards.analyses.count - before[0], guards.definitions.reads.count - before[1]


@pytest.mark.parametrize("name", ["some_orders", "lake.shop.some_orders"], ids=["short", "full"])
def test_a_definers_view_is_looked_at_once_for_a_query_however_often_it_is_used(
    house: Callable[..., House], name: str
) -> None:
    granted = (*select("analyst", "shop.some_orders"), *select("owner", "shop.orders"))
    asked = house(*granted).with_definers(some_orders="owner")
    costs = {cost(asked, " UNION ALL ".join([f"SELECT id FROM {name}"] * times)) for times in TIMES}
    # Two looks at the view: it must be the same before and after the analysis that is decided on.
    assert costs == {(1 if "." in name else 2, 2)}


def test_a_hundred_queries_cost_a_hundred_times_one(house: Callable[..., House]) -> None:
    granted = (
        *select("analyst", "shop.paid"),
        *select("owner", "shop.orders", "shop.some_orders", "hr.salaries"),
    )
    asked = house(*granted).with_definers(paid="owner")
    sql = "SELECT id FROM lake.shop.paid"
    analyses, reads = cost(asked, sql)
    assert (analyses, reads) == (1, 4)
    assert cost(asked, sql, 100) == (100, 400)


def test_a_query_without_a_definers_view_is_not_analyzed_again(house: Callable[..., House]) -> None:
    asked = house(*select("analyst", "shop.plain", "shop.orders"))
    assert cost(asked, "SELECT id FROM plain", 3) == (0, 0)


def test_views_within_views_are_read_to_a_bound(house: Callable[..., House]) -> None:
    asked = house(*select("analyst", "*.*"), *select("owner", "*.*"))
    for depth in range(1, 22):
        below = "orders" if depth == 1 else f"deep{depth - 1}"
        command(asked.engine, f"CREATE OR REPLACE VIEW deep{depth} AS SELECT id FROM {below}")
    owned = asked.with_definers(deep20="owner", deep21="owner")
    assert owned.rows("SELECT count(id) AS n FROM deep20") == [(5,)]
    for sql in ("SELECT id FROM deep21", "SELECT 1 WHERE EXISTS (SELECT 1 FROM lake.shop.deep21)"):
        with pytest.raises(QueryTooLarge, match="max_view_depth"):
            owned.run(sql)
    with pytest.raises(QueryTooLarge):
        asked.run("SELECT id FROM lake.shop.deep21")
    # Who may not read the view does not learn how deep it is.
    refused(house(*select("analyst", "shop.deep20")), "SELECT id FROM deep21", "shop.deep21")


def test_a_view_of_several_roles_reads_as_one_with_all_of_them(house: Callable[..., House]) -> None:
    table = TablePattern.parse("lake.shop.orders")
    asked = house(
        *select("analyst", "shop.some_orders"),
        *select("a", "shop.orders"),
        *select("b", "shop.orders"),
        filters=(RowFilter("a", table, "region = 'A'"), RowFilter("b", table, "id = 2")),
    )
    assert asked.with_definers(some_orders="a").rows("SELECT id FROM some_orders") == of_ids(1, 5)
    assert asked.with_definers(some_orders="a b").rows("SELECT id FROM some_orders") == of_ids(1, 2, 5)


def test_a_definers_view_over_another_view_reads_it_with_the_definers_rights(
    house: Callable[..., House],
) -> None:
    def asked(*owners: str) -> House:
        granted = (*select("analyst", "shop.outer_plain"), *select("owner", *owners))
        return house(*granted).with_definers(outer_plain="owner")

    sql = "SELECT id FROM outer_plain"
    assert asked("shop.plain", "shop.orders").rows(sql) == of_ids(1, 2, 3, 4, 5)
    for owners in (["shop.plain"], ["shop.orders"]):
        assert "orders" not in refused(asked(*owners), sql, "shop.outer_plain")


def test_below_two_definers_the_nearer_one_counts(house: Callable[..., House]) -> None:
    def asked(*payers: str) -> House:
        granted = (
            *select("analyst", "shop.paid"),
            *select("owner", "shop.orders"),
            *select("payer", *payers),
        )
        return house(*granted).with_definers(some_orders="owner", paid="payer")

    sql = "SELECT id, pay FROM paid"
    assert asked("shop.some_orders", "hr.salaries").rows(sql) == [(1, 100), (2, 200)]
    # The outer definer needs a grant on the inner view, and none on what is below it.
    for payers in (["hr.salaries"], ["shop.some_orders"], ["shop.orders", "hr.salaries"]):
        assert "hr" not in refused(asked(*payers), sql, "shop.paid")
    without = asked("shop.some_orders", "hr.salaries")
    inner_denied = Grant("owner", Action.SELECT, TablePattern.parse("lake.shop.orders"), is_denial=True)
    denied = replace(
        without, policies=replace(without.policies, grants=(*without.policies.grants, inner_denied))
    )
    refused(denied, sql, "shop.some_orders")


def test_a_definer_who_lost_its_rights_reads_nothing(house: Callable[..., House]) -> None:
    granted = (*select("analyst", "shop.some_orders"), *select("owner", "shop.orders"))
    denial = Grant("owner", Action.SELECT, TablePattern.parse("lake.shop.*"), is_denial=True)
    for grants in (granted[:1], (*granted, denial)):
        detail = refused(
            house(*grants).with_definers(some_orders="owner"),
            "SELECT id FROM some_orders",
            "shop.some_orders",
        )
        assert "lake.shop.orders" not in detail


def test_the_caller_stays_the_caller_below_a_definers_view(house: Callable[..., House]) -> None:
    owned = house(*select("analyst", "shop.mine"), *select("owner", "shop.orders")).with_definers(
        mine="owner"
    )
    assert owned.rows("SELECT id, who FROM mine") == [(1, "ada"), (3, "ada"), (5, "ada")]


@pytest.mark.parametrize(
    ("change", "undo"),
    [
        ("REPLACE VIEW moving AS SELECT id, card FROM orders", "REPLACE VIEW moving AS SELECT id FROM below"),
        (
            "REPLACE VIEW below AS SELECT id FROM lake.hr.salaries",
            "REPLACE VIEW below AS SELECT id FROM orders",
        ),
        (
            "REPLACE VIEW below AS SELECT id FROM orders WHERE id > 0",
            "REPLACE VIEW below AS SELECT id FROM orders",
        ),
        (
            "REPLACE VIEW below (id COMMENT 'x') AS SELECT id + 0 FROM orders",
            "REPLACE VIEW below AS SELECT id FROM orders",
        ),
    ],
)
def test_a_view_that_changed_is_refused_until_its_definition_is_imported(
    house: Callable[..., House], change: str, undo: str
) -> None:
    asked = house(*select("analyst", "shop.moving"), *select("owner", "*.*"))
    command(asked.engine, "CREATE OR REPLACE VIEW below AS SELECT id FROM orders")
    command(asked.engine, "CREATE OR REPLACE VIEW moving AS SELECT id FROM below")
    owned = asked.with_definers(moving="owner")
    sql = "SELECT count(id) AS n FROM moving"
    assert owned.rows(sql) == [(5,)]
    command(asked.engine, f"CREATE OR {change}")
    with pytest.raises(ViewChanged, match=r"lake\.shop\.moving"):
        owned.run(sql)
    with pytest.raises(ViewChanged):
        owned.run("SELECT 1 WHERE EXISTS (SELECT 1 FROM lake.shop.moving)")
    assert owned.with_definers(moving="owner").rows(sql)[0] in {(5,), (3,)}
    command(asked.engine, f"CREATE OR {undo}")
    assert owned.rows(sql) == [(5,)]


def test_a_view_that_changes_during_queries_never_shows_another_text(house: Callable[..., House]) -> None:
    asked = house(*select("analyst", "shop.flipping"), *select("owner", "*.*"))
    narrow, wide = (
        f"CREATE OR REPLACE VIEW flipping AS SELECT id FROM orders{where}" for where in (" WHERE id = 1", "")
    )
    command(asked.engine, narrow)
    owned = asked.with_definers(flipping="owner")
    is_over = threading.Event()

    def flip() -> None:
        while not is_over.is_set():
            command(asked.engine, wide)
            command(asked.engine, narrow)

    flipping = threading.Thread(target=flip)
    flipping.start()
    outcomes = Counter[str]()
    try:
        for _ in range(40):
            try:
                assert owned.rows("SELECT a.id FROM flipping a JOIN flipping b ON a.id = b.id") == of_ids(1)
                outcomes["read"] += 1
            except ViewChanged:
                outcomes["refused"] += 1
    finally:
        is_over.set()
        flipping.join(60)
    assert outcomes.total() == 40
    assert owned.rows("SELECT id FROM flipping") == of_ids(1)


def test_the_same_text_at_another_schema_is_another_view(house: Callable[..., House]) -> None:
    asked = house(*select("analyst", "shop.here"), *select("owner", "*.*"))
    command(asked.engine, "CREATE OR REPLACE VIEW lake.shop.here AS SELECT id FROM orders")
    owned = asked.with_definers(here="owner")
    assert len(owned.rows("SELECT id FROM here")) == 5
    command(asked.engine, "CREATE TABLE IF NOT EXISTS lake.hr.orders AS SELECT 7 AS id")
    command(asked.engine, "CREATE OR REPLACE VIEW lake.shop.here AS SELECT id FROM orders", schema="hr")
    with pytest.raises(ViewChanged):
        owned.run("SELECT id FROM here")
    command(asked.engine, "DROP VIEW lake.shop.here")
    with pytest.raises(GatewayError):
        owned.run("SELECT id FROM here")


def test_views_that_read_each_other_are_refused(house: Callable[..., House]) -> None:
    asked = house(*select("analyst", "*.*"), *select("owner", "*.*"))
    command(asked.engine, "CREATE VIEW ring AS SELECT id FROM orders")
    command(asked.engine, "CREATE VIEW ring_two AS SELECT id FROM ring")
    owned = asked.with_definers(ring="owner", ring_two="owner")
    assert len(owned.rows("SELECT id FROM ring_two")) == 5
    replace_unchecked(asked.engine, "ring", "SELECT id FROM lake.shop.ring_two")
    for sql in ("SELECT id FROM ring", "SELECT id FROM ring_two"):
        with pytest.raises(GatewayError) as failed:
            owned.run(sql)
        assert failed.value.code in ("SQL_INVALID", "QUERY_FAILED", "QUERY_TOO_LARGE")
    assert len(owned.rows("SELECT id FROM orders")) == 5


def replace_unchecked(engine: SparkEngine, name: str, sql: str) -> None:
    """Replaces a view by the catalog's own interface, as another engine may."""
    session = engine.session
    assert session is not None
    iceberg = session.jvm.gateway.jvm.org.apache.iceberg
    catalogs = session.root._jsparkSession.sessionState().catalogManager()
    catalog = catalogs.catalog("lake").icebergCatalog()
    identifier = iceberg.catalog.TableIdentifier.parse(f"shop.{name}")
    schema = catalog.loadView(identifier).schema()
    builder = catalog.buildView(identifier).withSchema(schema).withDefaultNamespace(identifier.namespace())
    builder.withDefaultCatalog("lake").withQuery("spark", sql).replace()


@pytest.fixture(scope="module")
def hiding(engine: SparkEngine) -> House:
    """The tables of `test_hidden_rows`, and views of a definer: all but one of them hide the same row."""
    command(engine, "CREATE NAMESPACE lake.hidden", schema=None)
    run = {"schema": "hidden"}
    command(engine, "CREATE TABLE t (k INT, j INT, name STRING, weight DOUBLE, day DATE)", **run)
    rows = "SELECT id, id, if(id = 5, 'hide', concat('x', id)), id, NULL FROM range(0, 10, 1, 1)"
    command(engine, f"INSERT INTO t {rows}", **run)
    d = "SELECT CAST(id AS INT) AS k FROM range(10) WHERE id <> 5"
    command(engine, f"CREATE TABLE d AS {d}", **run)
    texts = {"whole": "SELECT * FROM t"}
    texts |= {
        f"hiding_{number}": f"SELECT * FROM t WHERE {predicate}"
        for number, predicate in enumerate(PREDICATES)
    }
    for name, text in texts.items():
        command(engine, f"CREATE VIEW {name} AS {text}", **run)
    granted = (*select("analyst", "hidden.*"), *select("owner", "hidden.t"))
    denied = Grant("analyst", Action.SELECT, TablePattern.parse("lake.hidden.t"), is_denial=True)
    found = House(engine, PolicySet(1, (*granted, denied)))
    return found.with_definers(**{f"lake.hidden.{name}": "owner" for name in texts})


def over(view: str, sql: str) -> str:
    return re.sub(r"\b(FROM|JOIN) t\b", rf"\1 {view} AS t", sql)


@pytest.mark.parametrize("sql", FAILING)
def test_no_expression_of_a_query_fails_on_a_row_that_a_view_leaves_out(hiding: House, sql: str) -> None:
    for number, predicate in enumerate(PREDICATES):
        hidden = RowFilter("analyst", TablePattern.parse("lake.hidden.whole"), predicate)
        filtered = replace(hiding, policies=replace(hiding.policies, row_filters=(hidden,)))
        for asked, view in ((hiding, f"hiding_{number}"), (filtered, "whole")):
            for properties in RUNS:
                rows = asked.run(over(view, sql), schema="hidden", properties=properties).rows
                assert rows.num_rows > 0
                if "k" in rows.column_names:
                    assert 5 not in rows.column("k").to_pylist()


@pytest.mark.parametrize("sql", WAYS)
def test_the_row_filter_of_a_view_holds_for_its_rows(house: Callable[..., House], sql: str) -> None:
    filters = (RowFilter("analyst", TablePattern.parse("lake.shop.plain"), "region = 'A'"),)
    asked = house(*select("analyst", "shop.plain", "shop.outer_plain", "shop.orders"), filters=filters)
    assert asked.rows(sql.format(view="plain")) == of_ids(1, 3, 5)
    assert asked.rows(sql.format(view="outer_plain")) == of_ids(1, 3, 5)


def test_masks_and_row_filters_of_views_and_of_tables_add_up(house: Callable[..., House]) -> None:
    filters = (
        RowFilter("analyst", TablePattern.parse("lake.shop.orders"), "id < 5"),
        RowFilter("analyst", TablePattern.parse("lake.shop.plain"), "id > 1 AND card = 'c3'"),
    )
    masks = (
        ColumnMask("analyst", TablePattern.parse("lake.shop.orders"), "region", "concat(region, '!')"),
        ColumnMask("analyst", TablePattern.parse("lake.shop.*plain"), "region", "concat(region, '?')"),
        ColumnMask("analyst", TablePattern.parse("lake.shop.plain"), "card", "NULL"),
    )
    granted = select("analyst", "shop.plain", "shop.outer_plain", "shop.orders")
    asked = house(*granted, filters=filters, masks=masks)
    assert asked.rows("SELECT * FROM plain") == [(3, "A!?", None)]
    assert asked.rows("SELECT * FROM outer_plain") == [(3, "A!??", None)]
    assert asked.rows("SELECT id FROM plain WHERE region = 'A'") == []
    assert asked.rows("SELECT count(*) AS n FROM plain WHERE card IS NULL") == [(1,)]
    assert asked.rows("SELECT a.region FROM plain a JOIN outer_plain b ON a.region = b.region") == []
    assert len(asked.rows("SELECT id FROM orders")) == 4


def test_a_mask_of_a_view_that_can_fail_does_not_see_hidden_rows(house: Callable[..., House]) -> None:
    pattern = TablePattern.parse("lake.shop.some_orders")
    mask = ColumnMask("analyst", pattern, "card", "CAST(1 / (amount - 5) AS STRING)")
    asked = house(*select("analyst", "shop.some_orders"), *select("owner", "shop.orders"), masks=(mask,))
    owned = asked.with_definers(some_orders="owner")
    assert len(owned.rows("SELECT id FROM some_orders WHERE card <> 'x'")) == 3


def test_the_policies_of_a_definers_view_are_those_of_its_caller(house: Callable[..., House]) -> None:
    pattern = TablePattern.parse("lake.shop.some_orders")
    asked = house(
        *select("analyst", "shop.some_orders"),
        *select("owner", "shop.orders", "shop.some_orders"),
        filters=(RowFilter("analyst", pattern, "region = 'A'"),),
        masks=(ColumnMask("analyst", pattern, "card", "concat('*', right(card, 1))"),),
    ).with_definers(some_orders="owner")
    assert asked.rows("SELECT id, card FROM some_orders") == [(1, "*1"), (5, "*5")]
    assert asked.rows("SELECT id FROM some_orders", roles="owner") == of_ids(1, 2, 5)


def test_parameters_and_versions_of_queries_over_a_definers_view(house: Callable[..., House]) -> None:
    owned = house(*select("analyst", "shop.some_orders"), *select("owner", "shop.orders"))
    owned = owned.with_definers(some_orders="owner")
    named = {"id": Parameter("2", "INT")}
    for sql in (
        "SELECT id FROM some_orders WHERE id = :id",
        "WITH c AS (SELECT * FROM some_orders WHERE id = :id) SELECT id FROM c"
        " WHERE id IN (SELECT max(id) FROM c WHERE id = :id)",
    ):
        assert owned.run(sql, parameters=named).rows.to_pylist() == [{"id": 2}]
    for version in ("VERSION AS OF 'first'", "VERSION AS OF 1", "TIMESTAMP AS OF now()"):
        with pytest.raises(GatewayError):
            owned.run(f"SELECT id FROM some_orders {version}")


def test_plans_and_failures_of_a_definers_view_show_nothing(house: Callable[..., House]) -> None:
    owned = house(*select("analyst", "shop.some_orders"), *select("owner", "shop.orders"))
    owned = owned.with_definers(some_orders="owner")
    assert owned.run("SELECT id FROM some_orders").plan_text() == HIDDEN_PLAN
    with pytest.raises(QueryFailed) as failed:
        owned.run("SELECT CAST(card AS INT) AS n FROM some_orders")
    assert failed.value.detail == HIDDEN_VALUES
