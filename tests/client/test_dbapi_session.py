"""Tests the session that a connection of DB-API may have."""

from __future__ import annotations

import threading

import pytest

from service.errors.session_errors import SessionNotFound
from sluice_client import dbapi
from sluice_client.session_calls import SessionOptions
from tests.client.gateways import Served


def test_statements_share_a_session_if_the_connection_asks_for_one(gateway: Served) -> None:
    with dbapi.connect(gateway.url, catalog="lake", session=True) as connection:
        assert connection.session is not None
        assert repr(connection.session) == "<Session None>"
        for number in range(2):
            with connection.cursor() as cursor:
                assert cursor.execute(f"SELECT {number}").fetchall() == [(number,)]
        session_id = connection.session.session_id
    requests = [query.request for query in gateway.queries.by_id.values()]
    assert [request.session and request.session.session_id for request in requests] == [session_id] * 2
    assert {request.catalog for request in requests} == {"lake"}
    caller = next(iter(gateway.queries.by_id.values())).record.caller
    assert session_id is not None
    with pytest.raises(SessionNotFound):
        gateway.gateway.sessions.use(session_id, caller)


def test_it_may_begin_with_values(gateway: Served) -> None:
    with dbapi.connect(gateway.url, session={"schema": "tpcds", "time_zone": "UTC"}) as connection:
        connection.cursor().execute("SELECT 1")
        assert connection.session is not None
        assert (connection.session.state().schema, connection.session.state().time_zone) == ("tpcds", "UTC")


def test_threads_that_share_the_connection_share_the_session(gateway: Served) -> None:
    with dbapi.connect(gateway.url, session=True) as connection:
        threads = [threading.Thread(target=lambda: connection.cursor().execute("SELECT 1")) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    sessions = [query.request.session for query in gateway.queries.by_id.values()]
    assert len(sessions) == 8
    assert len({session.session_id for session in sessions if session is not None}) == 1


def test_a_session_that_is_gone_is_an_operational_error(gateway: Served) -> None:
    with dbapi.connect(gateway.url, session=True) as connection:
        cursor = connection.cursor().execute("SELECT 1")
        caller = next(iter(gateway.queries.by_id.values())).record.caller
        assert connection.session is not None
        assert connection.session.session_id is not None
        gateway.gateway.sessions.end(connection.session.session_id, caller)
        with pytest.raises(dbapi.OperationalError, match="SESSION_NOT_FOUND"):
            cursor.execute("SELECT 2")


def test_a_session_that_cannot_begin_is_an_error_of_the_statement(gateway: Served) -> None:
    refused: SessionOptions = {"settings": {"spark.executor.memory": "1g"}}
    with (
        dbapi.connect(gateway.url, session=refused) as connection,
        pytest.raises(dbapi.ProgrammingError, match="SESSION_SETTING_REFUSED"),
    ):
        connection.cursor().execute("SELECT 1")
    assert gateway.queries.by_id == {}


def test_a_connection_has_no_session_unless_it_asks(gateway: Served) -> None:
    with dbapi.connect(gateway.url) as connection:
        connection.cursor().execute("SELECT 1")
        assert connection.session is None
    assert [query.request.session for query in gateway.queries.by_id.values()] == [None]
