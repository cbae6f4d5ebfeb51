"""Tests queries and their rows, through the gateway's own HTTP server."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from service.errors.query_errors import QueryFailed, ReplicaLost
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import EngineLost
from sluice_client import (
    Bounds,
    Connection,
    ConnectionClosed,
    NotFound,
    ResultExpired,
    ResultTruncated,
    SqlInvalid,
    connect,
    errors,
)
from tests.client.gateways import Served

FIVE = "SELECT range AS n, 'row ' || range AS name FROM range(5)"
ROWS = [(0, "row 0"), (1, "row 1"), (2, "row 2"), (3, "row 3"), (4, "row 4")]


def test_a_query_returns_its_rows(connection: Connection) -> None:
    assert connection.query(FIVE).rows() == ROWS


def test_a_result_can_be_read_again_and_in_parts(connection: Connection) -> None:
    result = connection.query(FIVE)
    assert next(iter(result)) == ROWS[0]
    assert list(result) == ROWS
    assert len(result) == 5
    assert [column.name for column in result.columns] == ["n", "name"]
    assert [column.type for column in result.columns] == ["BIGINT", "STRING"]


def test_batches_are_read_one_block_at_a_time(gateway: Served) -> None:
    with connect(gateway.url, bounds=Bounds(block_bytes=8)) as connection:
        batches = connection.query(FIVE).batches()
        assert next(batches).num_rows == 2
        gateway.queries.is_expired = True
        with pytest.raises(ResultExpired) as raised:
            next(batches)
    assert raised.value.code == "RESULT_EXPIRED"


def test_a_table_and_a_reader_have_the_types_of_the_gateway(connection: Connection) -> None:
    result = connection.query("SELECT 1.50::DECIMAL(9,2) AS price, DATE '2026-01-01' AS day, NULL::INT AS n")
    expected = pa.table(
        {
            "price": pa.array([Decimal("1.50")], pa.decimal128(9, 2)),
            "day": pa.array([date(2026, 1, 1)], pa.date32()),
            "n": pa.array([None], pa.int32()),
        }
    )
    assert result.arrow() == expected
    assert result.reader().read_all() == expected
    assert pa.table(result) == expected


def test_a_result_without_rows_has_its_columns(connection: Connection) -> None:
    result = connection.query("SELECT 1 AS n WHERE false")
    assert result.rows() == []
    assert result.arrow().column_names == ["n"]
    assert result.reader().read_all().num_rows == 0


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [("SELECT ? + 1, ?", [41, "a"]), ("SELECT :n + 1, :name", {"n": 41, "name": "a"})],
    ids=["by position", "by name"],
)
def test_parameters_are_sent_beside_the_text(
    connection: Connection, sql: str, parameters: list[object] | dict[str, object]
) -> None:
    assert connection.query(sql, parameters).rows() == [(42, "a")]


def test_defaults_of_the_connection_are_sent_unless_a_query_has_its_own(gateway: Served) -> None:
    with connect(gateway.url, catalog="lake", schema="tpcds", tags={"app": "a"}) as connection:
        connection.query("SELECT 1")
        connection.query(
            "SELECT 2", catalog="shop", tags={"page": "b"}, row_limit=7, timeout_s=1.5, priority="LOW"
        )
    first, second = (query.request for query in gateway.queries.by_id.values())
    assert (first.catalog, first.schema, first.tags) == ("lake", "tpcds", {"app": "a"})
    assert (second.catalog, second.schema, second.tags) == ("shop", None, {"app": "a", "page": "b"})
    assert (second.row_limit, second.timeout_ms) == (7, 1500)
    assert (first.priority.value, second.priority.value) == ("NORMAL", "LOW")


def test_sql_that_is_wrong_is_an_error_by_its_kind(connection: Connection) -> None:
    with pytest.raises(SqlInvalid) as raised:
        connection.query("SELECT nothing FROM range(1)")
    error = raised.value
    assert (error.code, error.status) == ("SQL_INVALID", 422)
    assert error.query_id is not None
    assert error.explain_url == f"{connection.url}/explain/{error.query_id}"
    assert str(error.query_id) in str(error)
    with pytest.raises(NotFound, match="TABLE_NOT_FOUND"):
        connection.query("SELECT * FROM nowhere")


def test_a_query_that_fails_while_it_runs_is_an_error(gateway: Served, connection: Connection) -> None:
    gateway.queries.failures["SELECT 1"] = QueryFailed("Division by zero.")
    with pytest.raises(errors.QueryFailed, match=r"Division by zero"):
        connection.query("SELECT 1")


def test_a_failure_that_is_found_later_is_the_same_error(gateway: Served, connection: Connection) -> None:
    gateway.queries.failures["SELECT 1"] = QueryFailed("Division by zero.")
    gateway.queries.unfinished.add("SELECT 1")
    sent = connection.submit("SELECT 1")
    assert (sent.state, sent.is_final) == ("RUNNING", False)
    gateway.queries.finish(sent.query_id)
    with pytest.raises(errors.QueryFailed, match=r"Division by zero") as raised:
        connection.result(sent.query_id)
    assert raised.value.query_id == sent.query_id
    assert isinstance(connection.status(sent.query_id).error, errors.QueryFailed)


def test_a_missing_table_that_is_found_later_is_the_same_error(
    gateway: Served, connection: Connection
) -> None:
    gateway.queries.failures["SELECT 1"] = TableNotFound("lake.shop.nope")
    gateway.queries.unfinished.add("SELECT 1")
    sent = connection.submit("SELECT 1")
    gateway.queries.finish(sent.query_id)
    with pytest.raises(NotFound, match="TABLE_NOT_FOUND"):
        connection.result(sent.query_id)


def test_a_query_can_be_sent_awaited_and_canceled(gateway: Served, connection: Connection) -> None:
    gateway.queries.unfinished.add(FIVE)
    first, second = connection.submit(FIVE), connection.submit(FIVE)
    gateway.queries.finish(first.query_id)
    assert connection.result(first.query_id).rows() == ROWS
    connection.cancel(second.query_id)
    connection.cancel(second.query_id)
    with pytest.raises(errors.QueryCanceled):
        connection.result(second.query_id)


def test_an_engine_that_was_lost_is_an_error_with_the_query(gateway: Served, connection: Connection) -> None:
    # The same requestId leads to the same failure, so it is not sent again.
    gateway.queries.failures["SELECT 1"] = EngineLost()
    with pytest.raises(errors.QueryFailed) as raised:
        connection.query("SELECT 1")
    assert raised.value.code == "ENGINE_LOST"
    assert len(gateway.queries.by_id) == 1


def test_a_lost_replica_is_asked_again_and_in_the_end_reported(gateway: Served) -> None:
    gateway.queries.failures["SELECT 1"] = ReplicaLost()
    pauses: list[float] = []
    with connect(gateway.url, sleep=pauses.append) as connection, pytest.raises(errors.QueryFailed) as raised:
        connection.query("SELECT 1")
    assert raised.value.code == "REPLICA_LOST"
    assert len(pauses) == 4


def test_a_result_that_the_gateway_cut_is_not_taken_for_the_whole(
    gateway: Served, connection: Connection
) -> None:
    gateway.queries.is_truncated = True
    result = connection.query(FIVE)
    assert result.is_truncated
    for read in (result.rows, result.arrow, lambda: next(result.batches()), result.reader):
        with pytest.raises(ResultTruncated, match="row_limit"):
            read()
    assert connection.query(FIVE, allow_truncated=True).rows() == ROWS
    assert connection.query(FIVE, row_limit=5).rows() == ROWS
    with pytest.raises(ResultTruncated):
        connection.query(FIVE, row_limit=6).rows()


def test_a_closed_connection_is_an_error_of_its_own(connection: Connection) -> None:
    connection.close()
    connection.close()
    with pytest.raises(ConnectionClosed):
        connection.query("SELECT 1")
    assert "closed" in repr(connection)


def test_text_that_is_not_utf_8_is_read_with_replacement_characters(
    gateway: Served, connection: Connection
) -> None:
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"a\xff"], pa.binary()).buffers())
    gateway.queries.answers["SELECT name"] = pa.table({"name": broken})
    assert connection.query("SELECT name").rows() == [("a\ufffd",)]
