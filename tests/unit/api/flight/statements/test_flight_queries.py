"""Tests how statements are run, prepared, streamed and canceled over a real connection."""

from __future__ import annotations

import datetime
import threading
from decimal import Decimal

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from api.flight.statements.result_streams import MAX_BATCH_BYTES
from api.flight.wire.messages import new, packed, parsed, unpacked
from service.errors.query_errors import QueryTimedOut
from service.errors.statement_errors import ColumnNotFound, SqlSyntaxError, StatementNotAllowed
from service.model.query.description import ParameterType
from service.model.query.query import Parameter, QueryState
from tests.fakes.queries import ROWS
from tests.unit.api.flight.conftest import (
    JDBC,
    RunningFlight,
    action,
    answer,
    command,
    flight_of,
    info_of,
    open_settings,
    prepared,
    rows_of,
    until,
)

MOMENT = datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.UTC)


def put(client: flight.FlightClient, name: str, rows: pa.Table, **values: object) -> bytes:
    """Sends rows with a command, and returns what the server writes."""
    writer, reader = client.do_put(command(name, **values), rows.schema)
    with writer:
        if rows.num_columns:
            writer.write_table(rows)
        writer.done_writing()
        found = reader.read()
        return found.to_pybytes() if found is not None else b""


def test_a_statement_is_answered_in_arrow(running: RunningFlight, client: flight.FlightClient) -> None:
    info = info_of(client, "CommandStatementQuery", query="SELECT 1")
    [asked] = running.asked()
    [query_id] = running.queries.by_id
    assert (asked.sql, asked.request_id, info.app_metadata) == ("SELECT 1", None, str(query_id).encode())
    assert rows_of(client, info) == ROWS


def test_a_statement_asks_for_the_operators_maximum(
    running: RunningFlight, client: flight.FlightClient
) -> None:
    answer(client, "CommandStatementQuery", query="SELECT 1")
    assert [asked.row_limit for asked in running.asked()] == [1_000_000]


def test_a_prepared_statement_runs_each_time(running: RunningFlight, client: flight.FlightClient) -> None:
    made = prepared(client, "SELECT 1")
    assert pa.ipc.read_schema(pa.py_buffer(made.dataset_schema)) == ROWS.schema
    assert made.parameter_schema == b""
    for count in (1, 2):
        handle = made.prepared_statement_handle
        found = answer(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle)
        assert (found, len(running.asked())) == (ROWS, count)


def test_a_closed_statement_is_unknown(client: flight.FlightClient) -> None:
    handle = prepared(client, "SELECT 1").prepared_statement_handle
    for _ in range(2):
        body = packed(new("ActionClosePreparedStatementRequest", prepared_statement_handle=handle))
        assert action(client, "ClosePreparedStatement", body) == []
    with pytest.raises(flight.FlightServerError, match="FLIGHT_HANDLE_UNKNOWN"):
        info_of(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle)


def test_the_schema_is_told_without_a_run(running: RunningFlight, client: flight.FlightClient) -> None:
    assert client.get_schema(command("CommandStatementQuery", query="SELECT 1")).schema == ROWS.schema
    handle = prepared(client, "SELECT 1").prepared_statement_handle
    asked = command("CommandPreparedStatementQuery", prepared_statement_handle=handle)
    assert client.get_schema(asked).schema == ROWS.schema
    assert running.asked() == []


def test_values_are_bound_by_position(running: RunningFlight, client: flight.FlightClient) -> None:
    running.queries.parameters = (ParameterType("1", "INT"), ParameterType("2", None))
    made = prepared(client, "SELECT ? + ?")
    told = pa.ipc.read_schema(pa.py_buffer(made.parameter_schema))
    assert told.types == [pa.int32(), pa.string()]
    values = pa.table({"a": pa.array([7], pa.int32()), "b": [Decimal("1.50")]})
    handle = made.prepared_statement_handle
    result = put(client, "CommandPreparedStatementQuery", values, prepared_statement_handle=handle)
    assert parsed("DoPutPreparedStatementResult", result).prepared_statement_handle == handle
    answer(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle)
    [asked] = running.asked()
    assert asked.parameters == (Parameter(7, "INT"), Parameter("1.50", "DECIMAL(3,2)"))


def test_values_of_named_parameters_are_bound_by_name(
    running: RunningFlight, client: flight.FlightClient
) -> None:
    running.queries.parameters = (ParameterType("year", "INT"),)
    handle = prepared(client, "SELECT :year").prepared_statement_handle
    values = pa.table({"0": pa.array([2000], pa.int64())})
    put(client, "CommandPreparedStatementQuery", values, prepared_statement_handle=handle)
    answer(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle)
    assert running.asked()[0].parameters == {"year": Parameter(2000, "BIGINT")}


def test_more_rows_of_values_are_refused(running: RunningFlight, client: flight.FlightClient) -> None:
    running.queries.parameters = (ParameterType("1", "INT"),)
    handle = prepared(client, "SELECT ?").prepared_statement_handle
    with pytest.raises(flight.FlightServerError, match="FLIGHT_NOT_SUPPORTED"):
        put(
            client, "CommandPreparedStatementQuery", pa.table({"a": [1, 2]}), prepared_statement_handle=handle
        )


def test_errors_of_a_text_come_when_it_is_prepared(
    running: RunningFlight, client: flight.FlightClient
) -> None:
    failures = {
        "SELEC 1": (SqlSyntaxError("It ends too early."), flight.FlightServerError),
        "SELECT nope": (ColumnNotFound("nope"), flight.FlightServerError),
        "DROP TABLE t": (StatementNotAllowed(), flight.FlightUnauthorizedError),
    }
    running.queries.failures = {f"({sql})": error for sql, (error, _) in failures.items()}
    for sql, (error, kind) in failures.items():
        with pytest.raises(kind, match=error.code):
            prepared(client, f"({sql})")


def test_a_failed_run_is_told_in_the_stream(running: RunningFlight, client: flight.FlightClient) -> None:
    info = None
    handle = prepared(client, "SELECT 1").prepared_statement_handle
    running.queries.failures["SELECT 1"] = QueryTimedOut()
    info = info_of(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle)
    with pytest.raises(flight.FlightTimedOutError, match="QUERY_TIMED_OUT"):
        rows_of(client, info)


def test_a_result_that_was_cut_is_an_error(running: RunningFlight, client: flight.FlightClient) -> None:
    running.queries.is_truncated = True
    info = info_of(client, "CommandStatementQuery", query="SELECT 1")
    with pytest.raises(flight.FlightServerError, match="RESULT_TOO_LARGE"):
        rows_of(client, info)


def test_a_result_with_other_columns_than_told_is_an_error(
    running: RunningFlight, client: flight.FlightClient
) -> None:
    handle = prepared(client, "SELECT * FROM t").prepared_statement_handle
    for rows in (pa.table({"a": [1]}), pa.table({"d_moy": ["x"], "name": ["y"]})):
        running.queries.shapes["SELECT * FROM t"] = rows
        info = info_of(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle)
        with pytest.raises(flight.FlightServerError, match="RESULT_CHANGED"):
            rows_of(client, info)


def test_a_statement_answers_before_it_ends(running: RunningFlight, client: flight.FlightClient) -> None:
    running.queries.unfinished.add("SELECT 1")
    info = info_of(client, "CommandStatementQuery", query="SELECT 1")
    [query_id] = running.queries.by_id
    threading.Timer(0.3, running.queries.finish, [query_id]).start()
    assert rows_of(client, info) == ROWS


def test_a_client_that_goes_cancels_its_query(running: RunningFlight, client: flight.FlightClient) -> None:
    running.queries.unfinished.add("SELECT 1")
    info = info_of(client, "CommandStatementQuery", query="SELECT 1")
    [query] = running.queries.by_id.values()
    reader = client.do_get(info.endpoints[0].ticket)
    threading.Timer(0.3, reader.cancel).start()
    # pyarrow takes a cancel of a stream for that of its program.
    with pytest.raises((pa.ArrowException, KeyboardInterrupt)):
        reader.read_all()
    until(lambda: query.record.state is QueryState.CANCELED)
    until(running.is_idle)


def test_a_client_that_waits_for_a_description_too_long_is_answered(
    running: RunningFlight, client: flight.FlightClient
) -> None:
    running.queries.unfinished.add("describe SELECT 1")
    with pytest.raises((flight.FlightTimedOutError, flight.FlightCancelledError)):
        prepared(client, "SELECT 1", flight.FlightCallOptions(timeout=0.5))
    until(lambda: running.queries.stopped)
    until(running.is_idle)


@pytest.mark.parametrize("kind", ["CancelFlightInfo", "CancelQuery"])
def test_a_query_is_canceled_by_its_info(
    running: RunningFlight, client: flight.FlightClient, kind: str
) -> None:
    running.queries.unfinished.add("SELECT 1")
    info = info_of(client, "CommandStatementQuery", query="SELECT 1").serialize()
    [query] = running.queries.by_id.values()
    if kind == "CancelFlightInfo":
        [result] = action(client, kind, new("CancelFlightInfoRequest", info=info).SerializeToString())
        assert parsed("CancelFlightInfoResult", result).status == 1
    else:
        [result] = action(client, kind, packed(new("ActionCancelQueryRequest", info=info)))
        assert unpacked(result).result == 1
    assert query.record.state is QueryState.CANCELED


def test_the_end_of_the_server_cancels_what_waits() -> None:
    with flight_of(open_settings()) as running, running.client() as client:
        running.queries.unfinished.add("SELECT 1")
        info = info_of(client, "CommandStatementQuery", query="SELECT 1")
        [query] = running.queries.by_id.values()
        reader = client.do_get(info.endpoints[0].ticket)
        until(lambda: running.listener.calls)
    assert query.record.state is QueryState.CANCELED
    with pytest.raises((flight.FlightError, pa.ArrowException)):
        reader.read_all()


def test_jdbc_gets_timestamps_without_a_zone(running: RunningFlight, client: flight.FlightClient) -> None:
    nested = pa.list_(pa.field("element", pa.timestamp("us", "UTC")))
    running.queries.shapes["SELECT at"] = pa.table(
        {"at": pa.array([MOMENT], pa.timestamp("us", "UTC")), "all": pa.array([[MOMENT, None]], nested)}
    )
    found = answer(client, "CommandStatementQuery", query="SELECT at")
    assert found.column("at").to_pylist() == [MOMENT]
    with running.client(generic_options=[("grpc.primary_user_agent", JDBC)]) as jdbc:
        told = answer(jdbc, "CommandStatementQuery", query="SELECT at")
    assert told.schema.types == [pa.timestamp("us"), pa.list_(pa.field("element", pa.timestamp("us")))]
    bare = MOMENT.replace(tzinfo=None)
    assert told.to_pylist() == [{"at": bare, "all": [bare, None]}]


def test_jdbc_reads_the_digits_of_decimals(running: RunningFlight, client: flight.FlightClient) -> None:
    running.queries.shapes["SELECT n"] = pa.table({"n": pa.array([Decimal("1.50")], pa.decimal128(7, 2))})
    assert answer(client, "CommandStatementQuery", query="SELECT n").schema.field("n").metadata is None
    with running.client(generic_options=[("grpc.primary_user_agent", JDBC)]) as jdbc:
        told = answer(jdbc, "CommandStatementQuery", query="SELECT n")
    digits = {b"ARROW:FLIGHT:SQL:PRECISION": b"7", b"ARROW:FLIGHT:SQL:SCALE": b"2"}
    assert told.schema.field("n").metadata == digits
    assert told.to_pydict() == {"n": [Decimal("1.50")]}


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_NTZ"])
def test_jdbc_binds_moments_in_its_own_unit(
    running: RunningFlight, client: flight.FlightClient, kind: str
) -> None:
    running.queries.parameters = (ParameterType("1", kind), ParameterType("2", "DATE"))
    told = pa.ipc.read_schema(pa.py_buffer(prepared(client, "SELECT ?, ?").parameter_schema))
    assert told.types[0].unit == "us"
    with running.client(generic_options=[("grpc.primary_user_agent", JDBC)]) as jdbc:
        told = pa.ipc.read_schema(pa.py_buffer(prepared(jdbc, "SELECT ?, ?").parameter_schema))
    assert told.types == [pa.timestamp("ms"), pa.date32()]


def test_a_type_that_cannot_be_read_is_known_with_the_rows(
    running: RunningFlight, client: flight.FlightClient
) -> None:
    rows = pa.table({"odd": pa.array([{"a: b": 1}])})
    running.queries.shapes["SELECT odd"] = rows
    assert answer(client, "CommandStatementQuery", query="SELECT odd") == rows
    made = prepared(client, "SELECT odd")
    assert pa.ipc.read_schema(pa.py_buffer(made.dataset_schema)).types == [pa.string()]


def test_a_large_chunk_comes_in_pieces(running: RunningFlight, client: flight.FlightClient) -> None:
    running.queries.chunk_rows = 1_000
    rows = pa.table({"text": ["x" * 40_000] * 1_000})
    running.queries.shapes["SELECT text"] = rows
    info = info_of(client, "CommandStatementQuery", query="SELECT text")
    batches = [chunk.data for chunk in client.do_get(info.endpoints[0].ticket)]
    assert len(batches) > 1
    assert max(batch.nbytes for batch in batches) <= MAX_BATCH_BYTES * 1.1
    assert sum(batch.num_rows for batch in batches) == 1_000


def test_an_empty_result_has_its_columns(running: RunningFlight, client: flight.FlightClient) -> None:
    running.queries.shapes["SELECT none"] = ROWS.slice(0, 0)
    found = answer(client, "CommandStatementQuery", query="SELECT none")
    assert (found.num_rows, found.schema) == (0, ROWS.schema)


def test_show_is_run_to_know_its_columns(running: RunningFlight, client: flight.FlightClient) -> None:
    rows = pa.table({"tableName": ["sales"]})
    running.queries.shapes["SHOW TABLES"] = rows
    made = prepared(client, "SHOW TABLES")
    assert pa.ipc.read_schema(pa.py_buffer(made.dataset_schema)) == rows.schema
    handle = made.prepared_statement_handle
    assert answer(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle) == rows
    assert running.queries.described == []


def test_a_statement_without_columns_is_an_update(
    running: RunningFlight, client: flight.FlightClient
) -> None:
    nothing = pa.table({})
    running.queries.shapes["USE shop"] = nothing
    made = prepared(client, "USE shop")
    assert made.dataset_schema == b""
    result = put(client, "CommandStatementUpdate", nothing, query="USE shop")
    assert parsed("DoPutUpdateResult", result).record_count == 0
    handle = made.prepared_statement_handle
    put(client, "CommandPreparedStatementUpdate", nothing, prepared_statement_handle=handle)
    assert [asked.sql for asked in running.asked()] == ["USE shop", "USE shop"]
    assert {asked.session is not None for asked in running.asked()} == {True}


@pytest.mark.parametrize("sql", ["SELECT 1", "SHOW TABLES"])
def test_a_statement_that_returns_rows_is_no_update(
    running: RunningFlight, client: flight.FlightClient, sql: str
) -> None:
    with pytest.raises(flight.FlightServerError, match="FLIGHT_NOT_SUPPORTED"):
        put(client, "CommandStatementUpdate", pa.table({}), query=sql)
    assert running.asked() == []


def test_a_result_of_which_nothing_is_known_can_be_read(
    running: RunningFlight, client: flight.FlightClient
) -> None:
    info_of(client, "CommandStatementQuery", query="SELECT 1")
    running.listener._handlers.queries._executions.remove(next(iter(running.queries.by_id)))
    [query_id] = running.queries.by_id
    ticket = packed(new("TicketStatementQuery", statement_handle=str(query_id).encode()))
    assert client.do_get(flight.Ticket(ticket)).read_all() == ROWS
