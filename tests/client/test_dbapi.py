"""Tests `sluice_client.dbapi` against PEP 249, sentence by sentence. Quotes are its words."""

from __future__ import annotations

import datetime
import inspect
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from service.errors.query_errors import QueryFailed
from service.errors.statement_errors import StatementNotAllowed
from service.errors.unavailable import GatewayBusy
from sluice_client import dbapi, errors
from sluice_client.reported_problem import Problem
from tests.client.gateways import Served
from tests.client.hostile_server import answer, hostile

FIVE = "SELECT range AS n, 'row ' || range AS name FROM range(5)"
ROWS = [(0, "row 0"), (1, "row 1"), (2, "row 2"), (3, "row 3"), (4, "row 4")]


@pytest.fixture
def connection(gateway: Served) -> Iterator[dbapi.Connection]:
    with dbapi.connect(gateway.url) as made:
        yield made


@pytest.fixture
def cursor(connection: dbapi.Connection) -> Iterator[dbapi.Cursor]:
    with connection.cursor() as made:
        yield made


# Module interface


def test_these_module_globals_are_defined() -> None:
    assert dbapi.apilevel == "2.0"
    assert dbapi.threadsafety == 2
    assert dbapi.paramstyle == "qmark"


def test_connect_returns_a_connection_object(gateway: Served) -> None:
    connection = dbapi.connect(gateway.url)
    assert isinstance(connection, dbapi.Connection)
    connection.close()


def test_an_address_that_is_not_valid_is_an_interface_error() -> None:
    with pytest.raises(dbapi.InterfaceError, match="address"):
        dbapi.connect("nowhere")


def test_level_2_is_that_threads_may_share_the_module_and_connections(connection: dbapi.Connection) -> None:
    found: list[Any] = []

    def ask(number: int) -> None:
        with connection.cursor() as cursor:
            found.append(cursor.execute("SELECT ?", [number]).fetchone())

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(number,) for number in range(8)]


# Exceptions


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        (dbapi.Warning, Exception),
        (dbapi.Error, Exception),
        (dbapi.InterfaceError, dbapi.Error),
        (dbapi.DatabaseError, dbapi.Error),
        (dbapi.DataError, dbapi.DatabaseError),
        (dbapi.OperationalError, dbapi.DatabaseError),
        (dbapi.IntegrityError, dbapi.DatabaseError),
        (dbapi.InternalError, dbapi.DatabaseError),
        (dbapi.ProgrammingError, dbapi.DatabaseError),
        (dbapi.NotSupportedError, dbapi.DatabaseError),
    ],
)
def test_this_is_the_exception_inheritance_layout(child: type, parent: type) -> None:
    assert child.__bases__ == (parent,)


def test_exceptions_are_attributes_of_the_connection(connection: dbapi.Connection) -> None:
    for name in ("Warning", "Error", "InterfaceError", "DatabaseError", "DataError", "OperationalError"):
        assert getattr(connection, name) is getattr(dbapi, name)
    for name in ("IntegrityError", "InternalError", "ProgrammingError", "NotSupportedError"):
        assert getattr(connection, name) is getattr(dbapi, name)


def test_every_error_of_the_client_becomes_one_of_these() -> None:
    problem = Problem(code="SOMETHING_NEW", detail="")
    for kind in vars(errors).values():
        if not inspect.isclass(kind) or not issubclass(kind, errors.SluiceError):
            continue
        if issubclass(kind, errors.GatewayError):
            raised: errors.SluiceError = kind(problem)
        else:
            raised = kind("", was_sent=True) if kind is errors.ConnectionFailed else kind("")
        with pytest.raises(dbapi.Error) as found, dbapi.exceptions.as_dbapi():
            raise raised
        assert found.value.__cause__ is raised


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (QueryFailed("Division by zero."), dbapi.DataError),
        (StatementNotAllowed("No."), dbapi.NotSupportedError),
        (GatewayBusy(), dbapi.OperationalError),
    ],
    ids=["a value", "a statement", "a busy gateway"],
)
def test_errors_of_the_gateway_are_raised_by_their_kind(
    gateway: Served, cursor: dbapi.Cursor, failure: Any, kind: type[Exception]
) -> None:
    gateway.queries.failures["SELECT 1"] = failure
    with pytest.raises(kind) as raised:
        cursor.execute("SELECT 1")
    assert isinstance(raised.value.__cause__, errors.GatewayError)
    assert raised.value.__cause__.code == failure.code


def test_wrong_sql_and_missing_tables_are_programming_errors(cursor: dbapi.Cursor) -> None:
    for sql in ("SELECT nothing FROM range(1)", "SELECT * FROM nowhere"):
        with pytest.raises(dbapi.ProgrammingError):
            cursor.execute(sql)


def test_a_parameter_that_cannot_be_sent_is_a_programming_error(cursor: dbapi.Cursor) -> None:
    with pytest.raises(dbapi.ProgrammingError, match="parameter 1"):
        cursor.execute("SELECT ?", [object()])


def test_an_answer_of_another_server_is_an_internal_error() -> None:
    with (
        hostile(answer(b"<html>", content_type="text/html")) as server,
        dbapi.connect(server.url) as connection,
        pytest.raises(dbapi.InternalError),
    ):
        connection.cursor().execute("SELECT 1")


def test_a_result_that_was_cut_is_a_data_error_and_never_silent(
    gateway: Served, cursor: dbapi.Cursor
) -> None:
    gateway.queries.is_truncated = True
    cursor.execute(FIVE)
    with pytest.raises(dbapi.DataError, match="row_limit"):
        cursor.fetchall()


def test_query_options_are_sent_with_each_query(gateway: Served) -> None:
    gateway.queries.is_truncated = True
    with dbapi.connect(gateway.url, query_options={"row_limit": 5}) as connection:
        assert connection.cursor().execute(FIVE).fetchall() == ROWS


# Connection objects


def test_close_makes_the_connection_unusable_and_all_its_cursors(gateway: Served) -> None:
    connection = dbapi.connect(gateway.url)
    cursor = connection.cursor()
    cursor.execute(FIVE)
    connection.close()
    for call in (connection.cursor, connection.commit, connection.close, cursor.fetchone, cursor.fetchall):
        with pytest.raises(dbapi.Error):
            call()
    with pytest.raises(dbapi.Error):
        cursor.execute(FIVE)
    assert "closed" in repr(connection)


def test_without_transactions_commit_has_void_functionality(connection: dbapi.Connection) -> None:
    connection.commit()


def test_without_transactions_rollback_raises_not_supported(connection: dbapi.Connection) -> None:
    with pytest.raises(dbapi.NotSupportedError):
        connection.rollback()


def test_a_connection_is_a_context_manager(gateway: Served) -> None:
    with dbapi.connect(gateway.url) as connection:
        pass
    with pytest.raises(dbapi.InterfaceError):
        connection.cursor()


def test_cursors_of_one_connection_do_not_disturb_each_other(connection: dbapi.Connection) -> None:
    first, second = connection.cursor(), connection.cursor()
    first.execute(FIVE)
    second.execute("SELECT 7")
    assert first.fetchone() == ROWS[0]
    assert second.fetchone() == (7,)
    assert first.fetchall() == ROWS[1:]


# Cursor attributes


def test_description_is_a_sequence_of_7_item_sequences(cursor: dbapi.Cursor) -> None:
    cursor.execute("SELECT 1::INT AS n, 1.50::DECIMAL(9,2) AS price")
    assert cursor.description == [
        ("n", "INT", None, None, None, None, True),
        ("price", "DECIMAL(9,2)", None, None, 9, 2, True),
    ]


def test_description_is_none_without_rows_or_before_the_first_operation(
    cursor: dbapi.Cursor,
) -> None:
    described = [cursor.description]
    for sql in ("CREATE TABLE booze (name VARCHAR)", "SELECT name FROM booze", "DROP TABLE booze"):
        cursor.execute(sql)
        described.append(cursor.description)
    assert [columns is None for columns in described] == [True, True, False, True]


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT 'a'", dbapi.STRING),
        ("SELECT 1::INT", dbapi.NUMBER),
        ("SELECT 1::BIGINT", dbapi.NUMBER),
        ("SELECT 1.5::DOUBLE", dbapi.NUMBER),
        ("SELECT 1.5::DECIMAL(9,2)", dbapi.NUMBER),
        ("SELECT DATE '2026-01-01'", dbapi.DATETIME),
    ],
)
def test_the_type_code_compares_equal_to_one_type_object(
    cursor: dbapi.Cursor, sql: str, kind: object
) -> None:
    cursor.execute(sql)
    assert cursor.description is not None
    code = cursor.description[0][1]
    known = [dbapi.STRING, dbapi.BINARY, dbapi.NUMBER, dbapi.DATETIME, dbapi.ROWID]
    assert [found for found in known if code == found] == [kind]


def test_rowcount_is_minus_one_before_execute_and_then_the_number_of_rows(cursor: dbapi.Cursor) -> None:
    assert cursor.rowcount == -1
    cursor.execute(FIVE)
    assert cursor.rowcount == 5
    cursor.fetchone()
    assert cursor.rowcount == 5
    cursor.execute("SELECT 1 WHERE false")
    assert cursor.rowcount == 0


# Cursor methods


@pytest.mark.parametrize("name", ["callproc", "executemany"])
def test_optional_or_undefined_operations_raise_not_supported(cursor: dbapi.Cursor, name: str) -> None:
    with pytest.raises(dbapi.NotSupportedError):
        getattr(cursor, name)("SELECT ?", [[1], [2]])


def test_nextset_is_not_supported_by_a_database_without_multiple_results(cursor: dbapi.Cursor) -> None:
    with pytest.raises(dbapi.NotSupportedError):
        cursor.nextset()


def test_close_makes_the_cursor_unusable(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute(FIVE)
    cursor.close()
    cursor.close()
    for call in (cursor.fetchone, cursor.fetchmany, cursor.fetchall, cursor.nextset):
        with pytest.raises(dbapi.Error):
            call()
    with pytest.raises(dbapi.Error):
        cursor.execute(FIVE)


def test_parameters_may_be_a_sequence_or_a_mapping(cursor: dbapi.Cursor) -> None:
    assert cursor.execute("SELECT ?, ?", (1, "Cooper's")).fetchall() == [(1, "Cooper's")]
    assert cursor.execute("SELECT :n, :name", {"n": 1, "name": "a"}).fetchall() == [(1, "a")]


def test_text_in_quotes_is_no_parameter(cursor: dbapi.Cursor) -> None:
    text = "thi%s :may ca%(u)se? troub:1e"
    assert cursor.execute(f"SELECT '{text}'").fetchall() == [(text,)]
    assert cursor.execute(f"SELECT ?, '{text}'", ["a"]).fetchall() == [("a", text)]


def test_fetchone_returns_a_single_sequence_or_none(cursor: dbapi.Cursor) -> None:
    cursor.execute("SELECT 1")
    assert cursor.fetchone() == (1,)
    assert cursor.fetchone() is None


def test_fetchmany_returns_as_many_rows_as_asked_for_and_then_an_empty_sequence(cursor: dbapi.Cursor) -> None:
    cursor.execute(FIVE)
    assert cursor.fetchmany(3) == ROWS[:3]
    assert cursor.fetchmany(3) == ROWS[3:]
    assert cursor.fetchmany(3) == []
    cursor.execute(FIVE)
    assert cursor.fetchmany(0) == []


def test_arraysize_is_1_and_can_be_changed(cursor: dbapi.Cursor) -> None:
    assert cursor.arraysize == 1
    cursor.execute(FIVE)
    assert cursor.fetchmany() == ROWS[:1]
    cursor.arraysize = 4
    assert cursor.fetchmany() == ROWS[1:]


def test_fetchall_returns_all_remaining_rows(cursor: dbapi.Cursor) -> None:
    cursor.execute(FIVE)
    assert cursor.fetchone() == ROWS[0]
    assert cursor.fetchmany(2) == ROWS[1:3]
    assert cursor.fetchall() == ROWS[3:]
    assert cursor.fetchall() == []


@pytest.mark.parametrize("name", ["fetchone", "fetchmany", "fetchall"])
def test_fetching_without_a_result_set_is_an_error(cursor: dbapi.Cursor, name: str) -> None:
    with pytest.raises(dbapi.Error):
        getattr(cursor, name)()
    cursor.execute("CREATE TABLE booze (name VARCHAR)")
    with pytest.raises(dbapi.Error):
        getattr(cursor, name)()


def test_a_failed_execute_leaves_no_result_behind(cursor: dbapi.Cursor) -> None:
    cursor.execute(FIVE)
    with pytest.raises(dbapi.ProgrammingError):
        cursor.execute("SELECT nothing FROM range(1)")
    assert cursor.description is None
    with pytest.raises(dbapi.Error):
        cursor.fetchall()


def test_implementations_are_free_to_have_sizes_do_nothing(cursor: dbapi.Cursor) -> None:
    cursor.setinputsizes([25])
    cursor.setoutputsize(1000)
    cursor.setoutputsize(2000, 0)
    assert cursor.execute("SELECT 1").fetchone() == (1,)


# Type objects and constructors


def test_constructors_make_values_that_can_be_parameters(cursor: dbapi.Cursor) -> None:
    values = [
        dbapi.Date(2002, 12, 25),
        dbapi.Timestamp(2002, 12, 25, 13, 45, 30),
        dbapi.Binary(b"Something"),
    ]
    cursor.execute("SELECT ?, ?, ?", values)
    assert dbapi.Time(13, 45, 30) == datetime.time(13, 45, 30)
    ticks = time.mktime((2002, 12, 25, 13, 45, 30, 0, 0, 0))
    assert dbapi.DateFromTicks(ticks) == dbapi.Date(2002, 12, 25)
    assert dbapi.TimeFromTicks(ticks) == dbapi.Time(13, 45, 30)
    assert dbapi.TimestampFromTicks(ticks) == dbapi.Timestamp(2002, 12, 25, 13, 45, 30)


def test_sql_null_is_none(cursor: dbapi.Cursor) -> None:
    assert cursor.execute("SELECT NULL, ?", [None]).fetchall() == [(None, None)]


def test_type_objects_can_be_keys() -> None:
    assert {dbapi.STRING: 1, dbapi.NUMBER: 2}[dbapi.NUMBER] == 2
    assert dbapi.STRING != dbapi.NUMBER
    assert repr(dbapi.STRING) == "STRING"


# Optional extensions


def test_optional_extensions(connection: dbapi.Connection, cursor: dbapi.Cursor) -> None:
    assert cursor.connection is connection
    numbers = [cursor.rownumber]
    cursor.execute(FIVE)
    numbers.append(cursor.rownumber)
    assert next(cursor) == ROWS[0]
    numbers.append(cursor.rownumber)
    assert numbers == [None, 0, 1]
    assert list(cursor) == ROWS[1:]
    assert getattr(cursor, "lastrowid", 7) is None
    assert cursor.query_id is not None


def test_decimals_keep_their_digits(cursor: dbapi.Cursor) -> None:
    cursor.execute("SELECT 12345678901234567890.123456789012345678::DECIMAL(38,18)")
    assert cursor.fetchone() == (Decimal("12345678901234567890.123456789012345678"),)
