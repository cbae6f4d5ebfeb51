"""The Python client on a real gateway: every type of Spark, and records in every form."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from pyiceberg.table import Table

from sluice_client import (
    Connection,
    NotFound,
    QueryCanceled,
    QueryTimedOut,
    Result,
    SqlInvalid,
    connect,
    dbapi,
)
from tests.integration.log_tables import ids, named
from tests.integration.queries.test_result_types import SHAPES, columns_of
from tests.integration.running import ENDLESS, RunningGateway

pytestmark = pytest.mark.integration


@pytest.fixture
def connection(running: RunningGateway) -> Iterator[Connection]:
    with connect(running.url, catalog="lake", schema="shop") as made:
        yield made


def test_rows_are_read_in_each_form(connection: Connection) -> None:
    result = connection.query("SELECT id, CAST(id AS STRING) AS name FROM range(25000)", row_limit=25_000)
    assert result.facts.manifest.chunk_count > 1
    assert [row[0] for row in result] == list(range(25_000))
    assert result.arrow().num_rows == 25_000
    assert pa.table(result).column("name")[24_999].as_py() == "24999"


def test_parameters_have_their_types(connection: Connection) -> None:
    values: list[Any] = [
        True,
        7,
        2**62,
        0.1,
        "é",
        Decimal("1.50"),
        b"\x00\xff",
        datetime.date(2000, 1, 1),
        datetime.datetime(2000, 1, 1, 12, 30, 15, 123456),
        datetime.datetime(2000, 1, 1, 12, tzinfo=datetime.UTC),
        None,
    ]
    [row] = connection.query(f"SELECT {', '.join('?' for _ in values)}", values).rows()
    assert list(row) == values
    names = {f"p{number}": value for number, value in enumerate(values)}
    [row] = connection.query(f"SELECT {', '.join(f':{name}' for name in names)}", names).rows()
    assert list(row) == values


def query_of(connection: Connection, shape: str) -> Result:
    selected = ", ".join(f"{sql} AS {name}" for name, (sql, _) in columns_of(shape).items())
    return connection.query(f"SELECT {selected} FROM range(1, 4, 2)")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_type_can_be_read(connection: Connection, shape: str) -> None:
    result = query_of(connection, shape)
    table = result.arrow()
    assert table.num_rows == result.row_count == 2
    assert [column.name for column in result.columns] == table.column_names == list(columns_of(shape))
    assert len(result.rows()) == 2


@pytest.mark.parametrize("shape", SHAPES)
def test_every_type_becomes_a_frame_of_pandas_and_comes_back(connection: Connection, shape: str) -> None:
    pytest.importorskip("pandas")
    result = query_of(connection, shape)
    table = result.arrow()
    back = pa.Table.from_pandas(result.pandas(), preserve_index=False)
    for name in table.column_names:
        assert back.schema.field(name).type == table.schema.field(name).type, name
        assert back.column(name).equals(table.column(name)), name


@pytest.mark.parametrize("shape", SHAPES)
def test_every_type_becomes_a_frame_of_polars(connection: Connection, shape: str) -> None:
    polars = pytest.importorskip("polars")
    sql = {name: text for name, (text, _) in columns_of(shape).items() if name != "twice_named"}
    selected = ", ".join(f"{text} AS {name}" for name, text in sql.items())
    result = connection.query(f"SELECT {selected} FROM range(1, 4, 2)")
    frame = result.polars()
    assert isinstance(frame, polars.DataFrame)
    assert (frame.height, frame.columns) == (2, list(sql))


@pytest.mark.parametrize("form", ["records", "table", "pandas", "polars"])
def test_records_are_written_and_read_back(connection: Connection, log_table: Table, form: str) -> None:
    records = [{"id": 1, "kind": "a", "amount": None}, {"id": 2, "kind": None, "amount": 7}]
    table = pa.Table.from_pylist(records)
    data: Any = {"records": records, "table": table}.get(form)
    if form == "pandas":
        pandas = pytest.importorskip("pandas")
        data = table.to_pandas(types_mapper=pandas.ArrowDtype)
    elif form == "polars":
        data = pytest.importorskip("polars").from_arrow(table)
    written = connection.ingest(named(log_table), data, write_schema=["id", "kind", "amount"])
    assert written.state == "COMMITTED"
    assert ids(log_table) == [1, 2]
    sql = f"SELECT id, kind, amount FROM {named(log_table)} ORDER BY id"
    assert connection.query(sql).arrow().to_pylist() == records


def test_errors_have_places_and_names(connection: Connection) -> None:
    with pytest.raises(SqlInvalid, match="column") as raised:
        connection.query("SELECT nothing FROM range(1)")
    assert raised.value.code == "COLUMN_NOT_FOUND"
    assert raised.value.query_id is not None
    assert connection.explain(raised.value.query_id).state == "FAILED"
    with pytest.raises(NotFound):
        connection.query("SELECT * FROM nowhere")


def test_a_query_ends_at_its_own_timeout(connection: Connection) -> None:
    with pytest.raises(QueryTimedOut):
        connection.query(ENDLESS, timeout_s=2)


def test_an_explanation_has_the_scans(connection: Connection, log_table: Table) -> None:
    connection.ingest(named(log_table), [{"id": 1}], write_schema=["id"])
    explained = connection.query(f"SELECT * FROM {named(log_table)}").explain()
    assert [scan.table for scan in explained.scans] == [named(log_table)]
    assert "1 of 1 files" in str(explained)
    assert "<svg" in explained._repr_html_()
    assert connection.explain(f"SELECT * FROM {named(log_table)}").state == "PLANNED"


def test_statements_of_a_session_change_the_queries_after_them(connection: Connection) -> None:
    moment = "SELECT CAST(TIMESTAMP '2026-07-01 12:00:00+00:00' AS STRING)"
    with connection.session(time_zone="Europe/Berlin") as session:
        assert session.query(moment).rows() == [("2026-07-01 14:00:00",)]
        session.query("SET TIME ZONE 'America/New_York'")
        assert session.query(moment).rows() == [("2026-07-01 08:00:00",)]
        session.query("CREATE TEMPORARY VIEW seven AS SELECT 7 AS n")
        assert session.query("SELECT n FROM seven").rows() == [(7,)]
        assert session.describe("SELECT n FROM seven").columns[0].type == "INT"
        state = session.state()
        assert (state.time_zone, [view.name for view in state.views]) == ("America/New_York", ["seven"])
    with pytest.raises(NotFound):
        connection.query("SELECT n FROM seven")


def test_a_cursor_with_a_session_takes_use_and_set(running: RunningGateway) -> None:
    with dbapi.connect(running.url, session=True) as connection, connection.cursor() as cursor:
        cursor.execute("USE lake.shop")
        assert cursor.description is None
        assert cursor.execute("SELECT current_schema()").fetchall() == [("shop",)]
        cursor.execute("SET spark.sql.shuffle.partitions = 7")
        assert cursor.execute("SET spark.sql.shuffle.partitions").fetchone() == (
            "spark.sql.shuffle.partitions",
            "7",
        )
    with dbapi.connect(running.url) as connection, pytest.raises(dbapi.Error, match="SESSION_REQUIRED"):
        connection.cursor().execute("USE lake.shop")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
def test_a_double_that_is_no_number_is_a_float(connection: Connection, value: float) -> None:
    [row] = connection.query(f"SELECT double('{value}'), float('{value}'), array(double('{value}'))").rows()
    assert list(map(repr, row)) == list(map(repr, (value, value, [value])))


def test_a_query_whose_answer_did_not_come_is_canceled_by_its_request_id(connection: Connection) -> None:
    request_id = uuid4()
    sent = connection.submit(ENDLESS, request_id=request_id)
    connection.cancel_request(request_id)
    with pytest.raises(QueryCanceled):
        connection.result(sent.query_id)


def test_a_cursor_describes_and_fetches(running: RunningGateway) -> None:
    with dbapi.connect(running.url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT id, CAST(id AS DECIMAL(9,2)) AS price FROM range(3) WHERE id < ?", [2])
        assert cursor.description is not None
        assert [column[1] for column in cursor.description] == ["BIGINT", "DECIMAL(9,2)"]
        assert cursor.description[0][1] == dbapi.NUMBER
        assert len(cursor.fetchall()) == cursor.rowcount == 2
