"""Tests what an inspector finds out, by the lists of a gateway."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import NoSuchTableError, OperationalError

from service.errors.table_errors import TableNotFound
from sluice_client.sqlalchemy import MAP, STRUCT
from tests.client.dialect.conftest import NAMES, MakeEngine
from tests.client.dialect.lake import ORDERS, VIEW_COLUMNS, Lake
from tests.client.gateways import Served
from tests.client.transports import LossyTransport

DESCRIBE_VIEW = "SELECT * FROM `lake`.`shop`.`some_orders`"


def test_schemas_are_those_of_the_catalog(engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_schema_names() == ["new", "shop", "shop.north"]
    assert inspector.default_schema_name == "shop"


def test_the_gateway_is_asked_for_names_that_the_address_does_not_have(
    gateway: Served, make_engine: MakeEngine
) -> None:
    inspector = sa.inspect(make_engine("/mem"))
    assert [query.request.sql for query in gateway.queries.by_id.values()] == [NAMES]
    # The answer is that of the fake, whose catalog is another one.
    assert inspector.default_schema_name == "shop"
    assert inspector.get_table_names() == ["orders"]


def test_no_query_is_run_if_the_address_has_both(gateway: Served, engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["orders"]
    assert inspector.has_table("orders")
    assert gateway.queries.by_id == {}


@pytest.mark.parametrize(
    ("schema", "tables", "views"),
    [
        (None, ["orders"], ["some_orders"]),
        ("shop", ["orders"], ["some_orders"]),
        ("lake.shop", ["orders"], ["some_orders"]),
        ("shop.north", ["orders"], []),
        ("lake.shop.north", ["orders"], []),
        ("mem.shop", ["other"], []),
        ("new", [], []),
        ("nowhere", [], []),
        ("nowhere.shop", [], []),
        ("it's; --", [], []),
    ],
)
def test_tables_and_views(engine: sa.Engine, schema: str | None, tables: list[str], views: list[str]) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_table_names(schema) == tables
    assert inspector.get_view_names(schema) == views


@pytest.mark.parametrize(
    ("table", "schema", "is_there"),
    [
        ("orders", None, True),
        ("orders", "lake.shop", True),
        ("orders", "shop.north", True),
        ("some_orders", "shop", True),
        ("other", "mem.shop", True),
        ("other", None, False),
        ("nope", "nowhere", False),
        ("north.orders", "lake.shop", False),
        ("o`r'd\"e\nrs", None, False),
        ("a/b?c=%d", None, False),
        ("", None, False),
    ],
)
def test_whether_there_is_a_table(engine: sa.Engine, table: str, schema: str | None, is_there: bool) -> None:
    assert sa.inspect(engine).has_table(table, schema) is is_there


def test_a_catalog_that_does_not_answer_is_an_error_and_no_missing_table(
    gateway: Served, engine: sa.Engine
) -> None:
    lake = gateway.gateway
    assert isinstance(lake, Lake)
    lake.contents.down.add("lake")
    try:
        inspector = sa.inspect(engine)
        assert inspector.has_table("orders")
        for ask in (inspector.get_view_names, lambda: inspector.has_table("nope")):
            with pytest.raises(OperationalError, match="does not list all its tables"):
                ask()
    finally:
        lake.contents.down.clear()


@pytest.mark.parametrize(
    ("schema", "is_there"),
    [
        ("shop", True),
        ("new", True),
        ("mem.shop", True),
        ("lake.shop.north", True),
        ("nope", False),
        ("a.b", False),
    ],
)
def test_whether_there_is_a_schema(engine: sa.Engine, schema: str, is_there: bool) -> None:
    assert sa.inspect(engine).has_schema(schema) is is_there


def test_columns_of_a_table(engine: sa.Engine) -> None:
    columns = {column["name"]: column for column in sa.inspect(engine).get_columns("orders")}
    nested = ("place", "tags", "a `name`: 50%?")
    assert {name: repr(column["type"]) for name, column in columns.items() if name not in nested} == {
        "id": "BIGINT()",
        "kind": "String()",
        "price": "DECIMAL(precision=7, scale=2)",
        "at": "TIMESTAMP(timezone=True)",
        "at_local": "TIMESTAMP()",
        "day": "DATE()",
        "is_new": "BOOLEAN()",
        "share": "DOUBLE()",
        "body": "BINARY()",
    }
    assert isinstance(columns["place"]["type"], STRUCT)
    assert isinstance(columns["a `name`: 50%?"]["type"], MAP)
    assert isinstance(columns["tags"]["type"], sa.ARRAY)
    assert (columns["id"]["nullable"], columns["id"]["comment"]) == (False, "the key")
    assert (columns["kind"]["nullable"], columns["kind"]["comment"]) == (True, None)
    assert {column["default"] for column in columns.values()} == {None}


def test_what_a_table_is_partitioned_by(engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_table_options("other", "mem.shop") == {
        "sluice_partitioned_by": ["kind", "days(at)", "bucket(8, id)"]
    }
    assert inspector.get_table_options("orders") == {}
    assert inspector.get_table_options("some_orders") == {}
    with pytest.raises(NoSuchTableError):
        inspector.get_table_options("nope")


def test_nested_types_of_a_table_of_files_are_those_of_spark(engine: sa.Engine) -> None:
    columns = sa.inspect(engine).get_columns("folder", "mem.files")
    assert [column["type"].compile(engine.dialect) for column in columns] == [
        "BIGINT",
        "TIMESTAMP_NTZ",
        "STRING",
        "STRUCT<`at`: TIMESTAMP, `tags`: ARRAY<STRING>>",
    ]


def test_columns_of_a_view_are_those_of_a_query_that_does_not_run(gateway: Served, engine: sa.Engine) -> None:
    gateway.queries.descriptions[DESCRIBE_VIEW] = VIEW_COLUMNS
    columns = sa.inspect(engine).get_columns("some_orders")
    assert [(column["name"], column["nullable"]) for column in columns] == [
        ("id", False),
        ("at", True),
        ("place", True),
    ]
    kind = columns[1]["type"]
    assert isinstance(kind, sa.TIMESTAMP)
    assert kind.timezone
    assert gateway.queries.by_id == {}


@pytest.mark.parametrize("schema", ["shop.north", "lake.shop.north"])
def test_a_view_may_be_in_a_nested_schema(gateway: Served, engine: sa.Engine, schema: str) -> None:
    sql = "SELECT * FROM `lake`.`shop`.`north`.`some`"
    gateway.queries.descriptions[sql] = VIEW_COLUMNS
    assert [column["name"] for column in sa.inspect(engine).get_columns("some", schema)] == [
        "id",
        "at",
        "place",
    ]
    assert [asked.sql for asked in gateway.queries.described] == [sql]


def test_a_table_that_is_not_there_is_an_error_of_its_own(gateway: Served, engine: sa.Engine) -> None:
    gateway.queries.failures["SELECT * FROM `lake`.`shop`.`no``pe`"] = TableNotFound("lake.shop.no`pe", [])
    inspector = sa.inspect(engine)
    for ask in (inspector.get_columns, inspector.get_table_comment, inspector.get_pk_constraint):
        with pytest.raises(NoSuchTableError):
            ask("no`pe")
    with pytest.raises(NoSuchTableError):
        sa.Table("no`pe", sa.MetaData(), autoload_with=engine)


def test_comments(engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_table_comment("orders") == {"text": "all of lake.shop.orders"}
    assert inspector.get_table_comment("other", "mem.shop") == {"text": "all of mem.shop.other"}
    assert inspector.get_table_comment("some_orders") == {"text": None}


def test_the_primary_key_has_the_identifier_fields(gateway: Served, make_engine: MakeEngine) -> None:
    lake = gateway.gateway
    assert isinstance(lake, Lake)
    orders = lake.catalogs.facts(ORDERS)
    try:
        for fields, key in ((("id", "day"), ["id", "day"]), (("id", "place.city"), [])):
            lake.catalogs.put(replace(orders, identifier_fields=fields))
            engine = make_engine("/lake/shop")
            found = sa.inspect(engine).get_pk_constraint("orders")
            assert found == {"constrained_columns": key, "name": None}
            table = sa.Table("orders", sa.MetaData(), autoload_with=engine)
            assert [column.name for column in table.primary_key] == key
            assert table.autoincrement_column is None
    finally:
        lake.catalogs.put(orders)


def test_there_are_no_keys_and_indexes(engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    for name in ("orders", "some_orders"):
        assert inspector.get_pk_constraint(name) == {"constrained_columns": [], "name": None}
    assert inspector.get_foreign_keys("orders") == []
    assert inspector.get_indexes("orders") == []
    assert inspector.get_unique_constraints("orders") == []
    assert inspector.get_check_constraints("orders") == []


def test_the_text_of_a_view(gateway: Served, engine: sa.Engine) -> None:
    text = "CREATE VIEW lake.shop.some_orders (id) AS SELECT id FROM lake.shop.orders"
    answers = gateway.queries.answers
    answers["SHOW CREATE TABLE `lake`.`shop`.`some_orders`"] = pa.table({"createtab_stmt": [text]})
    answers["SHOW CREATE TABLE `lake`.`shop`.`orders`"] = pa.table(
        {"createtab_stmt": ["CREATE TABLE t (id INT)"]}
    )
    gateway.queries.failures["SHOW CREATE TABLE `lake`.`shop`.`nope`"] = TableNotFound("lake.shop.nope", [])
    answers["SHOW CREATE TABLE `lake`.`shop`.`nope`"] = pa.table({})
    inspector = sa.inspect(engine)
    assert inspector.get_view_definition("some_orders") == text
    for name in ("orders", "nope"):
        with pytest.raises(NoSuchTableError):
            inspector.get_view_definition(name)


def test_a_table_is_reflected(engine: sa.Engine) -> None:
    orders = sa.Table("orders", sa.MetaData(), autoload_with=engine, schema="lake.shop")
    assert orders.comment == "all of lake.shop.orders"
    assert orders.c.id.comment == "the key"
    assert not orders.c.id.nullable
    statement = sa.select(orders.c["a `name`: 50%?"], orders.c.place["city"]).where(orders.c.id == 1)
    assert str(statement.compile(engine)).split("\n") == [
        "SELECT orders.`a ``name``: 50%?`, orders.place.`city` AS anon_1 ",
        "FROM lake.shop.orders ",
        "WHERE orders.id = ?",
    ]


def test_a_whole_schema_is_reflected(gateway: Served, engine: sa.Engine) -> None:
    gateway.queries.descriptions[DESCRIBE_VIEW] = VIEW_COLUMNS
    metadata = sa.MetaData()
    metadata.reflect(engine, views=True)
    assert sorted(metadata.tables) == ["orders", "some_orders"]
    assert sorted(metadata.tables["some_orders"].c.keys()) == ["at", "id", "place"]


def test_a_table_is_reflected_by_one_request(make_engine: MakeEngine) -> None:
    counting = LossyTransport(lambda _request, _number: False)
    engine = make_engine("/lake/shop", connect_args={"transport": counting})
    sa.Table("orders", sa.MetaData(), autoload_with=engine)
    assert [request.url.path for request in counting.requests] == ["/tables/lake.shop.orders"]


def test_temporary_views_are_those_of_the_session(make_engine: MakeEngine) -> None:
    with make_engine("/lake/shop").connect() as connection:
        assert sa.inspect(connection).get_temp_view_names() == []
    with make_engine("/lake/shop?session=true").connect() as connection:
        assert sa.inspect(connection).get_temp_view_names() == []
        assert not sa.inspect(connection).has_table("nope")
