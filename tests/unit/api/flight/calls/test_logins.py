"""Tests who is let in, how connections are known, what a caller may have, and who reads whose results."""

from __future__ import annotations

import base64
import hashlib
import socket
import threading
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from api.bootstrap.settings import Settings
from api.flight.wire.messages import ONE_OF, new, packed, parsed
from service.errors.gateway_error import CannotStart
from service.model.operations.health import PartState
from tests.fakes.queries import ROWS
from tests.unit.api.flight.conftest import (
    RunningFlight,
    action,
    answer,
    bearer,
    command,
    flight_of,
    info_of,
    open_settings,
    prepared,
    rows_of,
    until,
)

TOKENS = {name: hashlib.sha256(f"{name}'s".encode()).hexdigest() for name in ("kim", "lou")}


def closed(**given: Any) -> Settings:
    return open_settings(api_tokens=TOKENS, **given)


def login(client: flight.FlightClient, name: str, password: str | None = None) -> flight.FlightCallOptions:
    header = client.authenticate_basic_token(name, f"{name}'s" if password is None else password)
    return flight.FlightCallOptions(headers=[header])


def basic(text: str) -> flight.FlightCallOptions:
    encoded = base64.b64encode(text.encode()).rstrip(b"=")
    return flight.FlightCallOptions(headers=[(b"authorization", b"Basic " + encoded)])


def test_a_password_becomes_a_token_for_the_connection() -> None:
    with flight_of(closed()) as running, running.client() as client:
        kim = login(client, "kim")
        answer(client, "CommandStatementQuery", kim, query="SELECT 1")
        [query] = running.queries.by_id.values()
        assert query.record.caller == "kim"


@pytest.mark.parametrize(
    ("name", "password"), [("kim", "wrong"), ("lou", "kim's"), ("", ""), ("kim", ""), ("nobody", "x")]
)
def test_a_wrong_password_is_refused(name: str, password: str) -> None:
    with flight_of(closed()) as running, running.client() as client:
        with pytest.raises(flight.FlightUnauthenticatedError, match="UNAUTHENTICATED"):
            login(client, name, password)
        until(running.is_idle)


@pytest.mark.parametrize("name", ["kim", "token", ""])
def test_names_that_go_with_a_password(name: str) -> None:
    with flight_of(closed()) as running, running.client() as client:
        answer(client, "CommandGetTableTypes", login(client, name, "kim's"))


def test_a_token_or_a_password_may_come_with_each_call() -> None:
    with flight_of(closed()) as running, running.client() as client:
        # Go's driver leaves the padding out.
        for options in (bearer("kim's"), basic("kim:kim's"), basic("token:kim's")):
            answer(client, "CommandGetTableTypes", options)


BAD_HEADERS = [
    "",
    "Bearer",
    "Bearer nope",
    "Bearer flight-nope",
    "Basic !!!",
    "Basic a2lt",
    "Digest kim's",
    "Basic /////w==",
]


@pytest.mark.parametrize("header", BAD_HEADERS)
def test_calls_without_a_credential_are_refused(header: str) -> None:
    options = flight.FlightCallOptions(headers=[(b"authorization", header.encode())])
    with flight_of(closed()) as running, running.client() as client:
        for asked in (options, None):
            with pytest.raises(flight.FlightUnauthenticatedError):
                answer(client, "CommandGetCatalogs", asked)
        assert running.asked() == []
        until(running.is_idle)


def test_a_connection_that_was_not_used_is_forgotten() -> None:
    with flight_of(closed(flight_idle_timeout_s=1)) as running, running.client() as client:
        kim = login(client, "kim")
        answer(client, "CommandGetTableTypes", kim)
        threading.Event().wait(1.2)
        with pytest.raises(flight.FlightUnauthenticatedError, match="Connect again"):
            answer(client, "CommandGetTableTypes", kim)


def test_the_oldest_connection_of_a_caller_makes_room() -> None:
    with flight_of(closed(flight_max_logins_per_caller=2)) as running, running.client() as client:
        lou = login(client, "lou")
        first, *others = (login(client, "kim") for _ in range(3))
        for options in (lou, *others):
            answer(client, "CommandGetTableTypes", options)
        with pytest.raises(flight.FlightUnauthenticatedError):
            answer(client, "CommandGetTableTypes", first)


def test_nobody_takes_the_places_of_others() -> None:
    with flight_of(closed(flight_max_logins=1)) as running, running.client() as client:
        kim = login(client, "kim")
        with pytest.raises(flight.FlightUnavailableError, match="FLIGHT_BUSY"):
            login(client, "lou")
        answer(client, "CommandGetTableTypes", kim)


def test_statements_and_results_are_of_use_to_their_caller_alone() -> None:
    with flight_of(closed()) as running, running.client() as client:
        kim, lou = login(client, "kim"), login(client, "lou")
        handle = prepared(client, "SELECT 1", kim).prepared_statement_handle
        info = info_of(client, "CommandPreparedStatementQuery", kim, prepared_statement_handle=handle)
        with pytest.raises(flight.FlightServerError, match="FLIGHT_HANDLE_UNKNOWN"):
            info_of(client, "CommandPreparedStatementQuery", lou, prepared_statement_handle=handle)
        with pytest.raises(flight.FlightServerError, match="QUERY_NOT_FOUND"):
            rows_of(client, info, lou)
        body = packed(new("ActionClosePreparedStatementRequest", prepared_statement_handle=handle))
        action(client, "ClosePreparedStatement", body, lou)
        cancel = new("CancelFlightInfoRequest", info=info.serialize()).SerializeToString()
        action(client, "CancelFlightInfo", cancel, lou)
        assert rows_of(client, info, kim) == ROWS


def test_prepared_statements_are_bounded_and_expire() -> None:
    bounds = {"flight_max_prepared_statements_per_caller": 2, "flight_idle_timeout_s": 1}
    with flight_of(closed(**bounds)) as running, running.client() as client:
        kim, lou = bearer("kim's"), bearer("lou's")
        handles = [prepared(client, "SELECT 1", kim).prepared_statement_handle for _ in range(2)]
        with pytest.raises(flight.FlightUnavailableError, match="TOO_MANY_PREPARED_STATEMENTS"):
            prepared(client, "SELECT 1", kim)
        prepared(client, "SELECT 1", lou)
        threading.Event().wait(1.2)
        with pytest.raises(flight.FlightServerError, match="FLIGHT_HANDLE_UNKNOWN"):
            info_of(client, "CommandPreparedStatementQuery", kim, prepared_statement_handle=handles[0])
        prepared(client, "SELECT 1", kim)


def test_a_caller_has_a_part_of_the_calls_while_the_engine_is_stuck() -> None:
    bounds = {"flight_max_calls": 4, "flight_max_calls_per_caller": 2}
    with flight_of(closed(**bounds)) as running, running.client() as client:
        running.queries.unfinished.add("SELECT 1")
        infos = [
            info_of(client, "CommandStatementQuery", bearer("kim's"), query="SELECT 1") for _ in range(2)
        ]
        readers = [client.do_get(info.endpoints[0].ticket, bearer("kim's")) for info in infos]
        until(lambda: running.listener.calls == 2)
        with pytest.raises(flight.FlightUnavailableError, match="FLIGHT_BUSY"):
            answer(client, "CommandGetTableTypes", bearer("kim's"))
        answer(client, "CommandGetTableTypes", bearer("lou's"))
        for reader in readers:
            reader.cancel()
        until(running.is_idle)


def test_all_calls_have_a_bound() -> None:
    with flight_of(open_settings(flight_max_calls=4)) as running, running.client() as client:
        running.queries.unfinished.add("SELECT 1")
        infos = [info_of(client, "CommandStatementQuery", query="SELECT 1") for _ in range(4)]
        readers = [client.do_get(info.endpoints[0].ticket) for info in infos]
        until(lambda: running.listener.calls == 4)
        with pytest.raises(flight.FlightUnavailableError, match="FLIGHT_BUSY"):
            answer(client, "CommandGetTableTypes")
        for reader in readers:
            reader.cancel()
        until(running.is_idle)


def test_half_open_connections_take_no_place(running: RunningFlight, client: flight.FlightClient) -> None:
    strangers = [socket.create_connection(("127.0.0.1", running.listener.port)) for _ in range(20)]
    try:
        for number, stranger in enumerate(strangers):
            stranger.sendall(
                [b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"][number % 3]
            )
        assert running.is_idle()
        answer(client, "CommandGetTableTypes")
    finally:
        for stranger in strangers:
            stranger.close()


def set_options(client: flight.FlightClient, options: Any, **values: Any) -> dict[str, int]:
    entries = [{"key": name, "value": value} for name, value in values.items()]
    body = new("SetSessionOptionsRequest", session_options=entries).SerializeToString()
    [result] = action(client, "SetSessionOptions", body, options)
    return {entry.key: entry.value.value for entry in parsed("SetSessionOptionsResult", result).errors}


def options_of(client: flight.FlightClient, options: Any) -> dict[str, str]:
    [result] = action(client, "GetSessionOptions", b"", options)
    entries = parsed("GetSessionOptionsResult", result).session_options
    return {entry.key: getattr(entry.value, entry.value.WhichOneof(ONE_OF)) for entry in entries}


def test_a_connection_has_a_session_of_its_own() -> None:
    with flight_of(closed()) as running, running.client() as client:
        kim, other = login(client, "kim"), login(client, "kim")
        assert options_of(client, kim) == {"catalog": "lake", "schema": "tpcds"}
        zone = {"string_value": "Asia/Tokyo"}
        assert set_options(client, kim, **{"spark.sql.session.timeZone": zone}) == {}
        assert options_of(client, kim)["spark.sql.session.timeZone"] == "Asia/Tokyo"
        assert "spark.sql.session.timeZone" not in options_of(client, other)
        answer(client, "CommandStatementQuery", kim, query="SELECT 1")
        [asked] = running.asked()
        assert asked.session is not None
        assert asked.session.values.settings == {"spark.sql.session.timeZone": "Asia/Tokyo"}
        [result] = action(client, "CloseSession", b"", kim)
        assert parsed("CloseSessionResult", result).status == 1
        with pytest.raises(flight.FlightUnauthenticatedError):
            options_of(client, kim)


def test_options_that_may_not_be_are_told() -> None:
    with flight_of(closed()) as running, running.client() as client:
        kim = login(client, "kim")
        faults = set_options(
            client,
            kim,
            catalog={"string_value": "nope"},
            nonsense={"string_value": "x"},
            **{"spark.sql.session.timeZone": {"string_value": "nowhere"}, "spark.sql.ansi.enabled": {}},
        )
        assert faults == {
            "catalog": 2,
            "nonsense": 1,
            "spark.sql.session.timeZone": 2,
            "spark.sql.ansi.enabled": 2,
        }


def test_a_statement_that_changes_a_session_gets_one() -> None:
    with flight_of(closed()) as running, running.client() as client:
        running.queries.shapes["USE shop"] = pa.table({})
        kim = login(client, "kim")
        answer(client, "CommandStatementQuery", kim, query="SELECT 1")
        answer(client, "CommandStatementQuery", kim, query="USE shop")
        answer(client, "CommandStatementQuery", kim, query="SELECT 2")
        sessions = [asked.session and asked.session.session_id for asked in running.asked()]
        assert sessions[0] is None
        assert sessions[1] == sessions[2] is not None


class Kept(flight.ClientMiddlewareFactory):  # type: ignore[misc]
    """Keeps the headers of answers."""

    def __init__(self) -> None:
        self.seen: dict[str, list[str]] = {}

    def start_call(self, info: Any) -> flight.ClientMiddleware:  # noqa: ARG002
        return Keeping(self.seen)


class Keeping(flight.ClientMiddleware):  # type: ignore[misc]
    def __init__(self, seen: dict[str, list[str]]) -> None:
        self._seen = seen

    def received_headers(self, headers: dict[str, list[str]]) -> None:
        self._seen.update(headers)


def test_a_client_with_a_token_is_told_of_its_session() -> None:
    kept = Kept()
    with flight_of(closed()) as running, running.client(middleware=[kept]) as client:
        set_options(client, bearer("kim's"), **{"spark.sql.ansi.enabled": {"bool_value": False}})
        cookie, token = kept.seen["set-cookie"][0], kept.seen["authorization"][0]
        by_cookie = flight.FlightCallOptions(
            headers=[(b"authorization", b"Bearer kim's"), (b"cookie", cookie.encode())]
        )
        by_token = flight.FlightCallOptions(headers=[(b"authorization", token.encode())])
        for options in (by_cookie, by_token):
            assert options_of(client, options)["spark.sql.ansi.enabled"] == "false"
        # A session is of no use to another caller.
        stolen = flight.FlightCallOptions(
            headers=[(b"authorization", b"Bearer lou's"), (b"cookie", cookie.encode())]
        )
        with pytest.raises(flight.FlightServerError, match="SESSION_NOT_FOUND"):
            answer(client, "CommandStatementQuery", stolen, query="SELECT 1")


def test_readiness_and_metrics_tell_of_it(running: RunningFlight, client: flight.FlightClient) -> None:
    answer(client, "CommandStatementQuery", query="SELECT 1")
    health = running.listener.health()
    assert health is not None
    assert (health.name, health.state) == ("flightSql", PartState.UP)
    until(running.is_idle)


def test_a_port_that_is_taken_stops_the_start() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        failures: list[CannotStart] = []
        with flight_of(open_settings(flight_port=taken.getsockname()[1]), failures=failures) as running:
            assert running.listener.port == 0
            health = running.listener.health()
            assert health is not None
            assert health.state is PartState.DOWN
        [failure] = failures
        assert "SLUICE_FLIGHT_PORT" in failure.detail


def test_a_stop_does_not_wait_for_a_client_that_reads_nothing() -> None:
    rows = pa.table({"text": ["x" * 100_000] * 1_000})
    with flight_of(open_settings()) as running:
        running.queries.shapes["SELECT text"] = rows
        running.queries.chunk_rows = 1_000
        client = running.client()
        info = info_of(client, "CommandStatementQuery", query="SELECT text")
        reader = client.do_get(info.endpoints[0].ticket)
        until(lambda: running.listener.calls == 1)
    reader.cancel()
    client.close()


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"flight_host": "0.0.0.0"}, "plain text"),
        ({"flight_host": "0.0.0.0", "flight_allow_plaintext": True}, "let everyone in"),
        ({"host": "0.0.0.0", "api_tokens": TOKENS}, "plain text"),
    ],
)
def test_strangers_and_plain_text_are_kept_out(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        open_settings(**given)
    open_settings(**given | {"api_tokens": TOKENS, "flight_allow_plaintext": True})


def test_it_is_off_by_default() -> None:
    assert Settings().flight_port is None
    assert command("CommandGetCatalogs").command
