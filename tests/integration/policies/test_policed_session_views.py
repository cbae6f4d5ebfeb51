"""Views of Spark's own catalog under policies: the rights of who reads them, and those of their definer."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from service.errors.policy_errors import TableAccessDenied
from service.errors.table_errors import ViewChanged
from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from spark_session.engine.engine import SparkEngine
from spark_session.settings.settings import SparkSettings
from tests.contract.test_views import command
from tests.integration.engines import jars
from tests.integration.policies.test_policed_views import LAKE, ROWS, House, of_ids

pytestmark = pytest.mark.integration
SEEN = "spark_catalog.files.seen"
TABLE, OUTER = "spark_catalog.files.orders", "spark_catalog.files.outer_seen"
OVER_LAKE = "spark_catalog.files.over_lake"
TEXT = "SELECT id, region, card FROM spark_catalog.files.orders WHERE amount <> 5"


def select(role: str, *tables: str) -> tuple[Grant, ...]:
    return tuple(Grant(role, Action.SELECT, TablePattern.parse(table)) for table in tables)


def made(engine: SparkEngine) -> None:
    for schema in ("shop", "hr"):
        command(engine, f"CREATE NAMESPACE lake.{schema}", schema=None)
    command(engine, "CREATE TABLE orders (id INT, region STRING, amount INT, card STRING)")
    command(engine, f"INSERT INTO orders VALUES {ROWS}")
    command(engine, "CREATE SCHEMA spark_catalog.files")
    command(engine, f"CREATE TABLE {TABLE} USING parquet AS SELECT * FROM lake.shop.orders")
    command(engine, f"CREATE VIEW {SEEN} AS {TEXT}")
    command(engine, f"CREATE VIEW {OUTER} AS SELECT id, card FROM {SEEN} WHERE id < 5")
    command(engine, f"CREATE VIEW {OVER_LAKE} AS SELECT id, card FROM lake.shop.orders WHERE amount <> 5")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkEngine]:
    """An engine whose session catalog is a Hive metastore."""
    folder = tmp_path_factory.mktemp("engine")
    metastore = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/store;create=true",
    }
    properties = LAKE | metastore
    engine = SparkEngine(SparkSettings("local[2]", jars(), folder, properties, ("lake",), "lake", "1g"))
    engine.start()
    made(engine)
    yield engine
    engine.close()
    del engine
    gc.collect()


@pytest.fixture
def house(engine: SparkEngine) -> Callable[..., House]:
    def built(
        *grants: Grant, filters: tuple[RowFilter, ...] = (), masks: tuple[ColumnMask, ...] = ()
    ) -> House:
        return House(engine, PolicySet(1, grants, filters, masks))

    return built


def without(asked: House, sql: str, table: str) -> None:
    with pytest.raises(TableAccessDenied) as caught:
        asked.run(sql)
    assert caught.value.table == table


WAYS = (
    f"SELECT id FROM {SEEN}",
    f"SELECT v.id FROM {SEEN} AS v",
    f"SELECT {SEEN}.id FROM {SEEN}",
    f"WITH c AS (SELECT * FROM {SEEN}) SELECT id FROM c",
    f"SELECT x.id FROM (VALUES (1), (2), (3), (4), (5)) AS x(id) WHERE x.id IN (SELECT id FROM {SEEN})",
    f"SELECT id FROM (SELECT id FROM {SEEN} UNION SELECT id FROM {SEEN})",
    f"SELECT a.id FROM {SEEN} a JOIN {SEEN} b USING (id)",
)


@pytest.mark.parametrize("sql", WAYS)
def test_a_caller_needs_a_grant_on_the_view_and_on_each_table_below(
    house: Callable[..., House], sql: str
) -> None:
    assert house(*select("analyst", SEEN, TABLE)).rows(sql) == of_ids(1, 2, 5)
    without(house(*select("analyst", TABLE)), sql, SEEN)
    without(house(*select("analyst", SEEN)), sql, TABLE)


@pytest.mark.parametrize("sql", WAYS)
def test_a_view_reads_with_the_rights_of_its_definer(house: Callable[..., House], sql: str) -> None:
    owned = house(*select("analyst", SEEN), *select("owner", TABLE)).with_definers(**{SEEN: "owner"})
    assert owned.rows(sql) == of_ids(1, 2, 5)
    without(owned, f"SELECT id FROM {TABLE}", TABLE)
    lost = replace(owned, policies=replace(owned.policies, grants=select("analyst", SEEN)))
    without(lost, sql, SEEN)


def test_views_below_views_and_over_iceberg(house: Callable[..., House]) -> None:
    views = (OUTER, SEEN, TABLE)
    sql = f"SELECT id FROM {OUTER}"
    assert house(*select("analyst", *views)).rows(sql) == of_ids(1, 2)
    for left_out in views:
        granted = (view for view in views if view != left_out)
        without(house(*select("analyst", *granted)), sql, left_out)
    owned = house(*select("analyst", OUTER), *select("owner", SEEN, TABLE)).with_definers(**{OUTER: "owner"})
    assert owned.rows(sql) == of_ids(1, 2)
    lake = house(*select("analyst", OVER_LAKE), *select("owner", "lake.shop.orders"))
    without(lake, f"SELECT id FROM {OVER_LAKE}", "lake.shop.orders")
    assert lake.with_definers(**{OVER_LAKE: "owner"}).rows(f"SELECT id FROM {OVER_LAKE}") == of_ids(1, 2, 5)


def test_row_filters_and_masks_of_the_view_and_of_its_table(house: Callable[..., House]) -> None:
    filters = (
        RowFilter("analyst", TablePattern.parse(SEEN), "region = 'A'"),
        RowFilter("owner", TablePattern.parse(TABLE), "id > 1"),
    )
    masks = (
        ColumnMask("analyst", TablePattern.parse(SEEN), "card", "'hidden'"),
        ColumnMask("owner", TablePattern.parse(TABLE), "region", "'A'"),
    )
    asked = house(*select("analyst", SEEN), *select("owner", TABLE), filters=filters, masks=masks)
    owned = asked.with_definers(**{SEEN: "owner"})
    assert owned.rows(f"SELECT id, region, card FROM {SEEN}") == [(2, "A", "hidden"), (5, "A", "hidden")]
    own = house(*select("analyst", SEEN, TABLE), filters=filters[:1], masks=masks[:1])
    assert own.rows(f"SELECT id, card FROM {SEEN} AS v") == [(1, "hidden"), (5, "hidden")]


def test_no_condition_of_a_query_fails_on_a_row_that_a_definers_view_leaves_out(
    house: Callable[..., House],
) -> None:
    owned = house(*select("analyst", SEEN), *select("owner", TABLE)).with_definers(**{SEEN: "owner"})
    # The view leaves the rows 3 and 4 out.
    assert owned.rows(f"SELECT id FROM {SEEN} WHERE 1 / (id - 3) < 9") == of_ids(1, 2, 5)


def test_a_view_that_changed_is_refused_until_its_definition_is_imported(
    house: Callable[..., House], engine: SparkEngine
) -> None:
    owned = house(*select("analyst", OUTER), *select("owner", SEEN, TABLE)).with_definers(**{OUTER: "owner"})
    sql = f"SELECT id FROM {OUTER}"
    for view, other, before in (
        (SEEN, "SELECT id, region, card FROM spark_catalog.files.orders", TEXT),
        (
            OUTER,
            "SELECT id, card FROM spark_catalog.files.seen",
            f"SELECT id, card FROM {SEEN} WHERE id < 5",
        ),
    ):
        command(engine, f"CREATE OR REPLACE VIEW {view} AS {other}")
        with pytest.raises(ViewChanged):
            owned.run(sql)
        command(engine, f"CREATE OR REPLACE VIEW {view} AS {before}")
        assert owned.rows(sql) == of_ids(1, 2)
