"""ADBC, pandas and polars as they are, on a real gateway."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tests.integration.flight.conftest import NAME, PASSWORD, FlightGateway
from tests.integration.queries.test_result_types import SHAPES, columns_of
from tests.integration.running import ENDLESS
from tests.polling import until

dbapi = pytest.importorskip("adbc_driver_flightsql.dbapi")
adbc = pytest.importorskip("adbc_driver_flightsql")
pytestmark = pytest.mark.integration


def connect(flight: FlightGateway, **options: Any) -> Any:
    login = options or {"username": NAME, "password": PASSWORD}
    return dbapi.connect(flight.uri, db_kwargs=login, autocommit=True)


@pytest.fixture
def connection(flight: FlightGateway) -> Iterator[Any]:
    with connect(flight) as made:
        yield made


def rows(connection: Any, sql: str, values: Any = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def test_a_password_and_a_token_log_in(flight: FlightGateway, connection: Any) -> None:
    assert rows(connection, "SELECT 1 AS a") == [(1,)]
    header = {adbc.DatabaseOptions.AUTHORIZATION_HEADER.value: f"Bearer {PASSWORD}"}
    with connect(flight, **header) as with_token:
        assert rows(with_token, "SELECT 2 AS a") == [(2,)]


@pytest.mark.parametrize("login", [("ana", "wrong"), ("bob", PASSWORD)])
def test_a_wrong_password_is_told(flight: FlightGateway, login: tuple[str, str]) -> None:
    with pytest.raises(dbapi.Error, match="UNAUTHENTICATED") as raised:
        connect(flight, username=login[0], password=login[1]).adbc_get_info()
    assert "Traceback" not in str(raised.value)


def test_a_query_reads_tables(connection: Any) -> None:
    sql = (
        "SELECT count(*) AS n, sum(amount) AS total FROM sales JOIN calendar USING (day_key) WHERE month = 1"
    )
    [(count, total)] = rows(connection, sql)
    assert total == count * Decimal("1.25")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_type_arrives(connection: Any, shape: str) -> None:
    selected = ", ".join(f"{sql} AS {name}" for name, (sql, _) in columns_of(shape).items())
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {selected} FROM range(1, 4, 2)")
        table = cursor.fetch_arrow_table()
    table.validate(full=True)
    assert (table.num_rows, table.column_names) == (2, list(columns_of(shape)))


def test_parameters_have_their_types(connection: Any) -> None:
    values = [
        True,
        7,
        2**62,
        0.1,
        "é",
        Decimal("1.50"),
        b"\x00\xff",
        datetime.date(2000, 1, 1),
        datetime.datetime(2000, 1, 1, 12, 30, 15, 123456),
    ]
    [row] = rows(connection, f"SELECT {', '.join('?' for _ in values)}", values)
    assert list(row) == values
    assert rows(connection, "SELECT count(*) FROM calendar WHERE month = ? AND day_key > ?", (1, 0)) == [
        (10,)
    ]


def test_errors_have_a_code_and_no_traceback(connection: Any) -> None:
    for sql, code in (
        ("SELECT nope FROM sales", "COLUMN_NOT_FOUND"),
        ("SELEC 1", "SQL_SYNTAX"),
        ("INSERT INTO sales VALUES (1, 1, 1)", "STATEMENT_NOT_ALLOWED"),
        ("SELECT raise_error('no')", "QUERY_FAILED"),
    ):
        with pytest.raises(dbapi.Error, match=code) as raised:
            rows(connection, sql)
        assert "Traceback" not in str(raised.value)
        assert ".py" not in str(raised.value)


def test_metadata_is_listed(connection: Any) -> None:
    info = connection.adbc_get_info()
    assert (info["vendor_name"], info["driver_name"]) == ("Sluice", "ADBC Flight SQL Driver - Go")
    assert connection.adbc_get_table_types() == ["TABLE", "VIEW"]
    schema = connection.adbc_get_table_schema("sales", catalog_filter="lake", db_schema_filter="shop")
    assert schema.names == ["sale_id", "day_key", "amount"]
    assert schema.field("amount").type == pa.decimal128(7, 2)
    found = connection.adbc_get_objects(depth="all", db_schema_filter="shop", table_name_filter="sal%")
    [catalog] = [entry for entry in found.read_all().to_pylist() if entry["catalog_name"] == "lake"]
    [shop] = catalog["catalog_db_schemas"]
    assert "sales" in [table["table_name"] for table in shop["db_schema_tables"]]


def test_a_connection_has_a_session_of_its_own(flight: FlightGateway, connection: Any) -> None:
    assert (connection.adbc_current_catalog, connection.adbc_current_db_schema) == ("lake", "shop")
    rows(connection, "CREATE TEMPORARY VIEW mine AS SELECT 7 AS seven")
    assert rows(connection, "SELECT * FROM mine") == [(7,)]
    rows(connection, "SET spark.sql.session.timeZone = Asia/Tokyo")
    assert rows(connection, "SELECT current_timezone()") == [("Asia/Tokyo",)]
    with connect(flight) as other, pytest.raises(dbapi.Error, match="TABLE_NOT_FOUND"):
        rows(other, "SELECT * FROM mine")


def test_a_token_has_a_session_too(flight: FlightGateway) -> None:
    header = {adbc.DatabaseOptions.AUTHORIZATION_HEADER.value: f"Bearer {PASSWORD}"}
    with connect(flight, **header) as made:
        made.adbc_current_db_schema = "shop"
        assert made.adbc_current_db_schema == "shop"
        rows(made, "CREATE TEMPORARY VIEW own AS SELECT 8 AS eight")
        assert rows(made, "SELECT * FROM own") == [(8,)]


def test_metadata_statements_are_answered(connection: Any) -> None:
    assert "sales" in str(rows(connection, "SHOW TABLES"))
    assert rows(connection, "DESCRIBE sales")[0][0] == "sale_id"
    assert rows(connection, "EXPLAIN SELECT 1")


def test_a_cancel_ends_the_query(flight: FlightGateway, connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(ENDLESS)
        threading.Timer(1.0, cursor.adbc_cancel).start()
        with pytest.raises(dbapi.Error):
            cursor.fetchall()
    until(lambda: flight.queries()[0]["state"] == "CANCELED")


def test_pandas_and_polars_read(connection: Any) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    sql = "SELECT month, count(*) AS days FROM calendar GROUP BY month ORDER BY month"
    assert pandas.read_sql(sql, connection)["days"].tolist() == [10, 10, 10, 10]
    assert polars.read_database(sql, connection)["month"].to_list() == [1, 2, 3, 4]


def test_a_result_that_would_be_cut_is_an_error(connection: Any) -> None:
    with pytest.raises(dbapi.Error, match="RESULT_TOO_LARGE"):
        rows(connection, "SELECT id FROM range(1000001)")
