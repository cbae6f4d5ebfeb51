"""The contract of `Views`, for every implementation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from service.adapters.catalogs.bounded_views import BoundedViews
from service.errors.unavailable import CatalogDown
from service.model.tables.tables import TableName
from service.model.tables.views import View, ViewColumn, ViewReading
from service.ports.tables.catalogs import Views
from spark_session.engine.engine import SparkEngine
from spark_session.engine.views import SparkViews
from tests.fakes.views import FakeViews

COLUMNS = (ViewColumn("k", "int"), ViewColumn("label", "string"))
TEXT = "SELECT id, name FROM goods WHERE id > 0"
FULL = "SELECT `k`, `label` FROM (SELECT id, name FROM lake.shop.goods WHERE id > 0) AS `v`(`k`, `label`)"

Make = Callable[[str, str], View]


@pytest.fixture(scope="module")
def engine(engine: SparkEngine) -> SparkEngine:
    """The engine of all contracts, with tables to make views of."""
    command(engine, "CREATE NAMESPACE lake.shop", schema=None)
    command(engine, "CREATE TABLE goods (id INT, name STRING, weight BIGINT)")
    command(engine, "CREATE TABLE other (id INT, name STRING)")
    return engine


def command(engine: SparkEngine, sql: str, schema: str | None = "shop") -> None:
    """Runs a command as an administrator would in another Spark session."""
    assert engine.session is not None
    with engine.session.children.taken("lake", schema, "administrator") as child:
        child.sql(sql)


@pytest.fixture(params=["fake", pytest.param("spark", marks=pytest.mark.integration)])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def views(kind: str, request: pytest.FixtureRequest) -> Views:
    if kind == "fake":
        return FakeViews()
    engine: SparkEngine = request.getfixturevalue("engine")
    return BoundedViews(SparkViews(lambda: engine.session), timeout_s=60.0, comparing_timeout_s=60.0)


@pytest.fixture
def make(views: Views, request: pytest.FixtureRequest) -> Make:
    """Creates or replaces a view at lake.shop."""

    def made(name: str, sql: str) -> View:
        view = View(TableName("lake", "shop", name), sql, "lake", ("shop",), COLUMNS)
        if isinstance(views, FakeViews):
            views.put(view)
        else:
            columns = ", ".join(column.name for column in COLUMNS)
            text = f"CREATE OR REPLACE VIEW {name} ({columns}) AS {sql}"
            command(request.getfixturevalue("engine"), text)
        return view

    return made


def reading(view: View, sql: str = FULL) -> ViewReading:
    return ViewReading(view, sql, "lake", "shop")


def test_a_name_without_a_view_is_none(views: Views) -> None:
    assert views.view(TableName("lake", "shop", "nothing")) is None
    assert views.view(TableName("lake", "nowhere", "v")) is None


def test_a_view_is_reported_as_it_was_made(views: Views, make: Make) -> None:
    view = make("v", TEXT)
    assert views.view(view.name) == view


def test_a_view_that_was_recreated_is_reported_again(views: Views, make: Make) -> None:
    before = make("v", TEXT)
    after = make("v", "SELECT id, 'none' FROM other")
    assert views.view(before.name) == after


def test_the_text_of_a_view_is_read_alike(views: Views, make: Make) -> None:
    assert views.is_read_alike(reading(make("v", TEXT)))


def test_a_view_that_is_not_there_is_read_like_nothing(views: Views, make: Make) -> None:
    view = make("v", TEXT)
    assert not views.is_read_alike(reading(replace(view, name=TableName("lake", "shop", "w"))))


@pytest.fixture
def spark(engine: SparkEngine) -> SparkViews:
    command(engine, f"CREATE OR REPLACE VIEW v (k, label) AS {TEXT}")
    return SparkViews(lambda: engine.session)


@pytest.mark.integration
@pytest.mark.parametrize(
    "sql",
    [
        FULL.replace("> 0", ">= 0"),
        FULL.replace("goods", "other"),
        FULL.replace("lake.shop.goods", "goods"),
        FULL.replace("SELECT id", "SELECT CAST(id AS BIGINT)"),
        FULL.replace("SELECT id", "SELECT weight"),
        FULL.replace("SELECT id, name", "SELECT id, name, weight"),
        FULL.replace("`label`", "`name`"),
        FULL.replace("lake.shop.goods", "lake.shop.gone"),
        "SELECT",
        "DROP TABLE goods",
        "SELECT * FROM parquet.`/a/folder`",
    ],
)
def test_another_query_is_not_read_alike(sql: str, spark: SparkViews) -> None:
    view = spark.view(TableName("lake", "shop", "v"))
    assert view is not None
    assert not spark.is_read_alike(reading(view, sql))


@pytest.mark.integration
@pytest.mark.parametrize(
    "text",
    [
        "WITH a AS ({0}), b AS (SELECT * FROM a) SELECT id, name FROM b JOIN a USING (id, name)",
        "SELECT id, max(name) FROM {1} GROUP BY id HAVING count(*) > 1 ORDER BY 1 LIMIT 3",
        "SELECT id, name FROM {1} UNION ALL SELECT id, name FROM {2}",
        "SELECT id, name FROM {1} g WHERE EXISTS (SELECT 1 FROM {2} o WHERE o.id = g.id)",
        "SELECT id, upper(name) || row_number() OVER (ORDER BY id) FROM {1}",
        "SELECT /*+ BROADCAST(g) */ g.id, current_date() || g.name FROM {1} g JOIN {2} o ON g.id = o.id",
    ],
)
def test_texts_of_many_kinds_are_read_alike(text: str, engine: SparkEngine, spark: SparkViews) -> None:
    short, full = (
        text.replace("{0}", "SELECT id, name FROM {1}")
        .replace("{1}", f"{at}goods")
        .replace("{2}", f"{at}other")
        for at in ("", "lake.shop.")
    )
    command(engine, f"CREATE OR REPLACE VIEW v (k, label) AS {short}")
    view = spark.view(TableName("lake", "shop", "v"))
    assert view is not None
    sql = f"SELECT `k`, `label` FROM ({full}) AS `v`(`k`, `label`)"
    assert spark.is_read_alike(reading(view, sql))
    assert spark.is_read_alike(ViewReading(view, sql, None, None))


@pytest.mark.integration
def test_columns_that_have_changed_places_are_not_read_alike(engine: SparkEngine, spark: SparkViews) -> None:
    command(engine, "CREATE TABLE IF NOT EXISTS pairs (a INT, b INT)")
    command(engine, "CREATE OR REPLACE VIEW w (x, y) AS SELECT a, b FROM pairs")
    view = spark.view(TableName("lake", "shop", "w"))
    assert view is not None
    text = "SELECT x, y FROM (SELECT a, b FROM lake.shop.pairs) AS w(x, y)"
    assert spark.is_read_alike(reading(view, text))
    for one, other in (
        ("a, b", "b, a"),
        ("w(x, y)", "w(y, x)"),
        ("T x, y", "T y, x"),
        ("T x, y", "T x, x AS y"),
    ):
        assert not spark.is_read_alike(reading(view, text.replace(one, other)))


@pytest.mark.integration
def test_chance_is_not_read_alike(engine: SparkEngine, spark: SparkViews) -> None:
    command(engine, "CREATE OR REPLACE VIEW v (k, label) AS SELECT id, string(rand()) FROM goods")
    view = spark.view(TableName("lake", "shop", "v"))
    assert view is not None
    sql = "SELECT `k`, `label` FROM (SELECT id, string(rand()) FROM lake.shop.goods) AS `v`(`k`, `label`)"
    assert not spark.is_read_alike(reading(view, sql))


def test_without_an_engine_nobody_can_tell() -> None:
    views = SparkViews(lambda: None)
    with pytest.raises(CatalogDown):
        views.view(TableName("lake", "shop", "v"))
