"""Queries over views: the tables behind them are filtered, and the rows stay those of the views."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, LongType, StringType

from service.errors.gateway_error import GatewayError
from service.gateway import Gateway
from service.model.query.rewrites import RewriteKind
from spark_session.engine.engine import SparkEngine
from tests.equivalence.harness import Harness, rows_of
from tests.equivalence.lakehouse import SCHEMA, Layout, append, created

Made = Callable[[str], None]

# The views are created at lake.shop, in this order.
VIEWS = {
    "v_fact": "SELECT id, k, b, name FROM by_k WHERE id % 2 = 0 -- the even ones",
    "v_all": "SELECT * FROM by_k",
    "v_dim": "SELECT k, name, year FROM dim WHERE year = 1999",
    "v_renamed (number, label, key)": "SELECT id, name, k FROM shop.by_k",
    "v_swapped (k, id)": "SELECT id, k FROM by_k",
    "v_twice (one, other)": "SELECT k, k FROM by_k",
    "v_over": "SELECT key, number FROM v_renamed WHERE number > 3",
    "v_over_over": "SELECT o.key AS k, o.number AS id FROM lake.shop.v_over o",
    "v_cte": "WITH d AS (SELECT k FROM dim WHERE year = 1999), e AS (SELECT * FROM d) SELECT k FROM e",
    "v_hidden": "WITH dim AS (SELECT k, year FROM shop.dim WHERE year < 2000) SELECT * FROM dim",
    "v_union": "SELECT id, k FROM by_k WHERE id % 3 = 0 UNION ALL SELECT id, k FROM sorted_by_k",
    "v_counts (k, n)": "SELECT k, count(*) FROM by_k GROUP BY k",
    "v_star": "SELECT f.id, f.k, d.year FROM by_k AS f JOIN dim AS d ON f.k = d.k",
    "v_top": "SELECT id, k FROM by_k ORDER BY id LIMIT 7",
    "v_in": "SELECT id, k FROM by_k WHERE k IN (SELECT k FROM tiny)",
    "v_evolved": "SELECT * FROM evolved",
    "v_folders": "SELECT id, k FROM spark_catalog.files.csv_by_k",
    "`v odd``` (`a b`, `sel``ect`)": "SELECT k, `id` FROM `by_k`",
}
NOT_EXPANDED = {
    "v_random": "SELECT id, k, rand() AS chance FROM by_k",
    "v_sampled": "SELECT id, k FROM by_k TABLESAMPLE (100 PERCENT)",
    "v_small (k)": "SELECT CAST(k AS SMALLINT) FROM by_k",
    "v_function": "SELECT id, k FROM by_k WHERE id IN (SELECT id FROM range(100))",
}


@pytest.fixture(scope="module")
def make(gateway: Gateway, lake: SqlCatalog) -> Made:  # noqa: ARG001
    """Runs a command at lake.shop, as an administrator would in another Spark session."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    session = engine.session
    assert session is not None

    def run(command: str) -> None:
        with session.children.taken("lake", SCHEMA, str(uuid4())) as child:
            child.sql(command)

    return run


@pytest.fixture(scope="module")
def views(harness: Harness, make: Made) -> Iterator[Harness]:
    for name, text in (VIEWS | NOT_EXPANDED).items():
        make(f"CREATE VIEW {name} AS {text}")
    yield harness
    for name in reversed((*VIEWS, *NOT_EXPANDED)):
        make(f"DROP VIEW {name.partition(' (')[0]}")


def opened(harness: Harness, sql: str) -> set[str]:
    """Returns the views that are expanded in a query."""
    rewrites = harness.prune(sql).rewrites
    return {rewrite.table.split(".")[-1] for rewrite in rewrites if rewrite.kind is RewriteKind.VIEW_EXPANDED}


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT * FROM v_fact f JOIN dim d ON f.k = d.k WHERE d.year = 1999", {"by_k.k"}),
        ("SELECT v_fact.id FROM lake.shop.v_fact, dim d WHERE v_fact.k = d.k AND d.year = 1999", {"by_k.k"}),
        ("SELECT * FROM v_all AS f JOIN dim d ON f.k = d.k WHERE d.year = 1999", {"by_k.k"}),
        ("SELECT f.id, d.name FROM by_k f JOIN v_dim d ON f.k = d.k", {"by_k.k"}),
        ("SELECT f.* FROM v_all f JOIN v_dim USING (k)", {"by_k.k"}),
        ("SELECT f.* FROM v_renamed f JOIN dim d ON f.key = d.k WHERE d.year = 1999", {"by_k.k"}),
        ("SELECT f.* FROM v_swapped f JOIN dim d ON f.id = d.k WHERE d.year = 1999", {"by_k.k"}),
        ("SELECT f.* FROM v_twice f JOIN dim d ON f.other = d.k WHERE d.year = 1999", {"by_k.k"}),
        ("SELECT * FROM v_over f JOIN dim d ON f.key = d.k WHERE d.year = 1999", {"by_k.k"}),
        ("SELECT * FROM v_over_over f JOIN v_dim d ON f.k = d.k", {"by_k.k"}),
        ("SELECT f.id FROM by_k f JOIN v_cte d ON f.k = d.k", {"by_k.k"}),
        (
            "WITH d AS (SELECT 1 AS k), e AS (SELECT 2 AS k)"
            " SELECT f.id, v.k FROM by_k f JOIN v_cte v ON f.k = v.k LEFT JOIN d ON d.k = f.k, e",
            {"by_k.k"},
        ),
        ("WITH by_k AS (SELECT 1 AS k) SELECT * FROM v_fact f JOIN v_dim d ON f.k = d.k, by_k", {"by_k.k"}),
        ("SELECT f.id FROM by_k f JOIN v_hidden d ON f.k = d.k", {"by_k.k"}),
        ("SELECT * FROM v_union u JOIN v_dim d ON u.k = d.k", {"by_k.k", "sorted_by_k.k"}),
        ("SELECT * FROM v_counts c JOIN v_dim d ON c.k = d.k", {"by_k.k"}),
        ("SELECT * FROM v_star WHERE year = 1999", {"by_k.k"}),
        ("SELECT f.id, g.id FROM v_fact f JOIN v_fact g ON f.k = g.k JOIN v_dim d ON g.k = d.k", {"by_k.k"}),
        ("SELECT id FROM v_all WHERE k IN (SELECT k FROM v_dim)", {"by_k.k"}),
        ("SELECT id FROM v_all f WHERE EXISTS (SELECT 1 FROM v_dim d WHERE d.k = f.k)", {"by_k.k"}),
        ("SELECT f.id FROM v_in f JOIN v_dim d ON f.k = d.k", {"by_k.k"}),
        ("SELECT f.* FROM v_evolved f JOIN v_dim d ON f.k = d.k", {"evolved.k"}),
        ("SELECT f.* FROM v_folders f JOIN v_dim d ON f.k = d.k", {"csv_by_k.k"}),
        ("SELECT v.`a b`, v.`sel``ect` FROM `v odd``` v JOIN v_dim d ON v.`a b` = d.k", {"by_k.k"}),
        ("SELECT `v odd```.* FROM `v odd``` JOIN v_dim d ON `a b` = d.k", {"by_k.k"}),
    ],
)
def test_the_tables_behind_a_view_are_pruned(sql: str, columns: set[str], views: Harness) -> None:
    checked = views.check(sql)
    assert columns <= checked.applied.keys(), checked.pruned.filters
    for column in columns:
        table = column.split(".")[0]
        assert checked.files(table).selected < checked.files(table).total


@pytest.mark.parametrize("name", [view.partition(" (")[0] for view in (*VIEWS, *NOT_EXPANDED)])
def test_columns_are_those_of_the_view(name: str, views: Harness) -> None:
    for sql in (
        f"SELECT * FROM {name} AS v CROSS JOIN (SELECT f.id AS number FROM by_k f JOIN v_dim d ON f.k = d.k)",
        f"SELECT v.*, f.id AS number FROM by_k f JOIN v_dim d ON f.k = d.k LEFT JOIN {name} AS v ON true",
    ):
        written, pruned = views.run(sql), views.prune(sql)
        filtered = views.run(pruned.sql, pruned=pruned)
        assert pruned.rewritten_sql is not None
        assert filtered.columns == written.columns
        assert filtered.rows.schema == written.rows.schema
        if name not in ("v_random", "v_sampled"):
            assert rows_of(filtered.rows) == rows_of(written.rows)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT f.id, v.id AS other FROM by_k f JOIN dim d ON f.k = d.k JOIN v_fact v ON v.k = f.k"
        " WHERE d.year = 1999",
        "SELECT f.id, v.name FROM by_k f JOIN dim d ON f.k = d.k LEFT JOIN v_dim v ON v.k = f.k"
        " WHERE d.year = 1999",
    ],
    ids=["a fact", "a dimension"],
)
def test_views_are_expanded_preserve_the_rows_and_can_be_left_unexpanded(
    sql: str, views: Harness, gateway: Gateway
) -> None:
    views.check(sql)
    assert opened(views, sql) != set()
    readings = gateway.queries.ports.pruner._detections._readings
    readings._is_expanding = False
    try:
        assert opened(views, sql) == set()
        assert "by_k.k" in views.check(sql).applied
    finally:
        readings._is_expanding = True


def test_a_view_cut_by_a_limit_is_not_pruned(views: Harness) -> None:
    checked = views.check("SELECT t.* FROM v_top t JOIN dim d ON t.k = d.k WHERE d.year = 1999")
    assert checked.applied == {}


@pytest.mark.parametrize("name", [definition.partition(" (")[0] for definition in NOT_EXPANDED])
def test_a_view_that_may_mean_something_else_elsewhere_stays_as_it_is(name: str, views: Harness) -> None:
    sql = f"SELECT f.id FROM by_k f JOIN v_dim d ON f.k = d.k LEFT JOIN {name} v ON v.k = f.k"
    assert opened(views, sql) == {"v_dim"}


def test_names_in_a_view_are_those_of_its_own_schema(views: Harness, make: Made) -> None:
    make("CREATE NAMESPACE lake.elsewhere")
    make("CREATE TABLE lake.elsewhere.v_dim AS SELECT 5 AS k, 'five' AS name, 1999 AS year")
    make("CREATE TABLE lake.elsewhere.by_k AS SELECT -1L AS id, 5 AS k")
    make("CREATE VIEW lake.elsewhere.v_all AS SELECT id, k FROM lake.elsewhere.by_k")
    other = Harness(views._gateway, "elsewhere")
    for harness in (views, other):
        for fact, dim in (("lake.shop.v_all", "v_dim"), ("v_all", "lake.shop.v_dim"), ("v_all", "v_dim")):
            checked = harness.check(f"SELECT f.id, d.k FROM {fact} f JOIN {dim} d ON f.k = d.k")
            assert harness is other or "by_k.k" in checked.applied


def test_a_replaced_view_has_its_new_rows_at_once(views: Harness, make: Made) -> None:
    query = "SELECT f.id, f.k FROM by_k f JOIN v_changing d ON f.k = d.k"
    for year in (1999, 1998, 1999):
        make(f"CREATE OR REPLACE VIEW v_changing AS SELECT k FROM dim WHERE year = {year}")
        assert "by_k.k" in views.check(query).applied
    make("CREATE OR REPLACE VIEW v_changing AS SELECT big_k AS k FROM dim WHERE year = 1999")
    views.check(query)
    make("DROP VIEW v_changing")
    assert opened(views, query) == set()


def test_columns_that_a_table_has_got_since_are_not_the_views(
    views: Harness, make: Made, lake: SqlCatalog
) -> None:
    table = created(
        lake, "growing", {"k": IntegerType(), "n": IntegerType()}, Layout((("k", IdentityTransform()),))
    )
    append(table, [{"k": number % 9, "n": number} for number in range(27)])
    make("CREATE VIEW v_growing AS SELECT * FROM growing")
    query = "SELECT * FROM v_growing g JOIN v_dim d ON g.k = d.k"
    assert "growing.k" in views.check(query).applied
    with table.update_schema() as update:
        update.add_column("late", StringType())
    views.check(query)
    append(table, [{"k": 3, "n": 3, "late": "x"}])
    assert "v_growing" not in opened(views, query)
    views.check(query)
    with table.update_schema() as update:
        update.move_first("late")
    with pytest.raises(GatewayError):
        views.run(query)
    assert "v_growing" not in opened(views, query)


def test_a_type_that_has_grown_since_is_not_the_views(views: Harness, make: Made, lake: SqlCatalog) -> None:
    table = created(
        lake, "widening", {"k": IntegerType(), "n": IntegerType()}, Layout((("k", IdentityTransform()),))
    )
    append(table, [{"k": number % 9, "n": number} for number in range(27)])
    make("CREATE VIEW v_widening AS SELECT k, n FROM widening")
    make("CREATE VIEW v_half (k, n) AS SELECT k, n / 2 FROM widening")
    query = "SELECT g.n FROM {} g JOIN v_dim d ON g.k = d.k"
    for name in ("v_widening", "v_half"):
        assert "widening.k" in views.check(query.format(name)).applied
    with table.update_schema() as update:
        update.update_column("n", LongType())
    append(table, [{"k": 3, "n": 1 << 40}])
    with pytest.raises(GatewayError):
        views.run(query.format("v_widening"))
    assert opened(views, query.format("v_widening")) == {"v_dim"}
    assert "widening.k" in views.check(query.format("v_half")).applied


def test_a_new_commit_to_a_table_behind_a_view_is_seen(views: Harness, make: Made, lake: SqlCatalog) -> None:
    table = created(lake, "filling", {"k": IntegerType()}, Layout((("k", IdentityTransform()),)))
    append(table, [{"k": number} for number in range(9)])
    make("CREATE VIEW v_filling AS SELECT k FROM filling")
    query = "SELECT g.k FROM v_filling g JOIN v_dim d ON g.k = d.k"
    before = views.check(query)
    append(table, [{"k": number} for number in range(9)])
    after = views.check(query)
    assert "filling.k" in before.applied.keys() & after.applied.keys()
    assert after.filtered.rows.num_rows == 2 * before.filtered.rows.num_rows


def test_views_of_each_other_end(views: Harness, make: Made) -> None:
    make("CREATE VIEW v_ring AS SELECT k FROM dim")
    make("CREATE VIEW v_round AS SELECT k FROM v_ring")
    query = "SELECT f.id FROM by_k f JOIN v_dim d ON f.k = d.k LEFT JOIN v_round r ON r.k = f.k"
    views.check(query)
    for number in range(8):
        below = f"v_deep_{number - 1}" if number else "dim"
        make(f"CREATE VIEW v_deep_{number} AS SELECT k, year FROM {below}")
    views.check("SELECT f.id FROM by_k f JOIN v_deep_7 d ON f.k = d.k WHERE d.year = 1999")
