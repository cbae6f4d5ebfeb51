"""Tests sessions: what they begin with, what is sent in them, and how they end."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from service.errors.session_errors import SessionNotFound
from sluice_client import (
    AsyncConnection,
    Connection,
    ConnectionClosed,
    RequestInvalid,
    Session,
    SessionExpired,
    connect,
)
from tests.client.gateways import Served
from tests.client.transports import LossyTransport

TIME_ZONE = "spark.sql.session.timeZone"


def id_of(session: Session) -> UUID:
    assert session.session_id is not None
    return session.session_id


def owner(gateway: Served) -> str:
    """Returns the caller of the queries that were sent."""
    return next(iter(gateway.queries.by_id.values())).record.caller


def test_queries_of_a_session_have_its_values(gateway: Served, connection: Connection) -> None:
    settings = {"spark.sql.shuffle.partitions": "8"}
    with connection.session(
        catalog="lake", schema="tpcds", time_zone="Europe/Berlin", settings=settings
    ) as session:
        assert session.query("SELECT 1").rows() == [(1,)]
        session.explain("SELECT 1")
        assert [column.name for column in session.describe("SELECT 1").columns] == ["d_moy"]
        sent = [*(query.request for query in gateway.queries.by_id.values()), *gateway.queries.described]
        session_id = id_of(session)
        state = session.state()
    assert len(sent) == 2
    for request in sent:
        assert request.session is not None
        assert request.session.session_id == session_id
        assert (request.catalog, request.schema) == ("lake", "tpcds")
        assert request.session.values.settings == {TIME_ZONE: "Europe/Berlin"} | settings
    assert (state.session_id, state.catalog, state.schema) == (session_id, "lake", "tpcds")
    assert (state.time_zone, state.views) == ("Europe/Berlin", ())
    assert state.expires_at > datetime(2020, 1, 1, tzinfo=UTC)
    with pytest.raises(SessionNotFound):
        gateway.gateway.sessions.use(session_id, owner(gateway))


def test_values_that_are_left_out_are_the_connections(gateway: Served) -> None:
    with connect(gateway.url, catalog="lake", schema="tpcds", tags={"app": "a"}) as connection:
        with connection.session() as session:
            session.query("SELECT 1")
            assert (session.state().catalog, session.state().schema) == ("lake", "tpcds")
        with connection.session(catalog="shop") as other:
            other.query("SELECT 2", catalog="own")
            assert (other.state().catalog, other.state().schema) == ("shop", None)
    first, second = (query.request for query in gateway.queries.by_id.values())
    assert (first.catalog, first.schema, first.tags) == ("lake", "tpcds", {"app": "a"})
    assert (second.catalog, second.schema) == ("own", None)


def test_a_session_that_the_gateway_ended_is_an_error_of_its_own(
    gateway: Served, connection: Connection
) -> None:
    with connection.session() as session:
        session.query("SELECT 1")
        gateway.gateway.sessions.end(id_of(session), owner(gateway))
        for call in (lambda: session.query("SELECT 2"), session.state, lambda: session.explain("SELECT 2")):
            with pytest.raises(SessionExpired) as raised:
                call()
            assert (raised.value.code, raised.value.status) == ("SESSION_NOT_FOUND", 404)
    # Its end raises nothing, since the gateway has ended it.
    assert len(gateway.queries.by_id) == 1


def test_a_session_is_created_once_and_only_when_it_is_used(gateway: Served) -> None:
    transport = LossyTransport(lambda _request, _number: False)
    with connect(gateway.url, transport=transport) as connection:
        session = connection.session()
        with pytest.raises(ConnectionClosed, match="not open yet"):
            session.query("SELECT 1")
        session.close()
        assert transport.requests == []
        with pytest.raises(ConnectionClosed, match="session is closed"):
            session.open()
        with connection.session().open() as session:
            session.open()
        session.close()
    assert [(request.method, request.url.path) for request in transport.requests] == [
        ("POST", "/sessions"),
        ("DELETE", f"/sessions/{session.session_id}"),
    ]
    assert "closed" in repr(session)


def test_values_that_a_session_may_not_have_are_refused(connection: Connection) -> None:
    with (
        pytest.raises(RequestInvalid, match="SESSION_SETTING_REFUSED"),
        connection.session(settings={"spark.executor.memory": "1g"}),
    ):
        raise AssertionError("it does not begin")


def test_the_error_inside_counts_and_not_that_of_the_end(gateway: Served) -> None:
    transport = LossyTransport(lambda request, _number: request.method == "DELETE")
    with (
        connect(gateway.url, transport=transport, sleep=lambda _: None) as connection,
        pytest.raises(ZeroDivisionError),
        connection.session(),
    ):
        raise ZeroDivisionError


def test_a_closed_connection_ends_the_calls_of_its_sessions(connection: Connection) -> None:
    session = connection.session().open()
    connection.close()
    with pytest.raises(ConnectionClosed, match="connection of the session"):
        session.query("SELECT 1")
    session.close()


@pytest.mark.anyio
async def test_the_async_twin(gateway: Served, async_connection: AsyncConnection) -> None:
    async with async_connection.session(catalog="lake", time_zone="UTC") as session:
        result = await session.query("SELECT 1")
        assert await result.rows() == [(1,)]
        assert (await session.state()).time_zone == "UTC"
        assert (await session.describe("SELECT :year")).parameters[0].name == "year"
        session_id = session.session_id
    assert session_id is not None
    [query] = gateway.queries.by_id.values()
    assert query.request.session is not None
    assert query.request.session.session_id == session_id
    with pytest.raises(SessionNotFound):
        gateway.gateway.sessions.use(session_id, owner(gateway))
    with pytest.raises(ConnectionClosed):
        await session.query("SELECT 1")
    await session.close()


@pytest.mark.anyio
async def test_an_expired_session_of_the_async_twin(
    gateway: Served, async_connection: AsyncConnection
) -> None:
    async with async_connection.session() as session:
        await session.query("SELECT 1")
        assert session.session_id is not None
        gateway.gateway.sessions.end(session.session_id, owner(gateway))
        with pytest.raises(SessionExpired):
            await session.query("SELECT 2")
