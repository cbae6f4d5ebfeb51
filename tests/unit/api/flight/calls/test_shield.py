"""Tests that no exception of Python and no traceback reaches a client, whatever fails and wherever."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from api.flight.calls.identified_callers import Callers
from api.flight.flight_server import FlightSqlServer
from api.flight.metadata.metadata_commands import Metadata
from api.flight.statements.client_sessions import ClientSessions
from api.flight.wire.messages import COMMANDS, new, packed
from api.flight.wire.statement_failures import StatementFailed, flight_error
from api.sql_protocols.failures import Failure
from service.errors import credential_errors, query_errors, statement_errors, unavailable
from service.errors.gateway_error import GatewayError
from tests.unit.api.flight.conftest import RunningFlight, action, command, info_of, prepared, until

SECRET = "what-nobody-may-read"
EVERY_KIND: list[type[BaseException]] = [
    ValueError,
    KeyError,
    TypeError,
    RuntimeError,
    NotImplementedError,
    StopIteration,
    AssertionError,
    RecursionError,
    MemoryError,
    OSError,
    UnicodeError,
    SystemExit,
    KeyboardInterrupt,
    pa.ArrowInvalid,
    pa.ArrowKeyError,
    pa.ArrowNotImplementedError,
    GatewayError,
]
METHODS = sorted(
    name
    for name in vars(flight.FlightServerBase)
    if not name.startswith("_") and name not in ("port", "run", "serve", "shutdown", "wait")
)


def calls(client: flight.FlightClient) -> dict[str, Callable[[], object]]:
    """Returns a call of each method that gRPC offers."""
    asked = command("CommandStatementQuery", query="SELECT 1")

    def put() -> object:
        writer, reader = client.do_put(command("CommandStatementUpdate", query="USE a"), pa.schema([]))
        with writer:
            writer.done_writing()
            return reader.read()

    def exchange() -> object:
        _, reader = client.do_exchange(asked)
        return reader.read_all()

    return {
        "get_flight_info": lambda: client.get_flight_info(asked),
        "get_schema": lambda: client.get_schema(asked),
        "do_get": lambda: client.do_get(flight.Ticket(packed(new("CommandGetCatalogs")))).read_all(),
        "do_put": put,
        "do_exchange": exchange,
        "do_action": lambda: action(client, "GetSessionOptions", b""),
        "list_actions": lambda: client.list_actions(),
        "list_flights": lambda: list(client.list_flights()),
    }


def is_clean(error: BaseException) -> bool:
    """Whether a client sees nothing of the server's inside."""
    text = str(error)
    return not any(word in text for word in (SECRET, "Traceback", ".py", "File "))


def test_every_method_of_the_server_is_ours_and_shielded() -> None:
    assert set(METHODS) == set(calls(flight.FlightClient.__new__(flight.FlightClient)))
    for name in METHODS:
        own = vars(FlightSqlServer)[name]
        assert inspect.unwrap(own) is not own, name


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("method", METHODS)
def test_nothing_of_an_exception_leaves(
    running: RunningFlight, method: str, kind: type[BaseException]
) -> None:
    def fail(*_: Any) -> Any:
        raise kind(SECRET) if kind is not GatewayError else GatewayError()

    running.listener._handlers.callers.find = fail  # type: ignore[method-assign,assignment]
    with running.client() as client, pytest.raises((flight.FlightError, pa.ArrowException)) as raised:
        calls(client)[method]()
    assert is_clean(raised.value)
    if method != "get_schema":
        assert isinstance(raised.value, flight.FlightServerError | flight.FlightInternalError)
    until(running.is_idle)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_nothing_leaves_from_deeper_down(
    running: RunningFlight, client: flight.FlightClient, kind: type[BaseException]
) -> None:
    handle = prepared(client, "SELECT 1").prepared_statement_handle
    info = info_of(client, "CommandStatementQuery", query="SELECT 1")

    def fail(*_: Any, **__: Any) -> Any:
        raise kind(SECRET) if kind is not GatewayError else GatewayError()

    queries = running.queries
    queries.submit = queries.chunk = queries.describe = fail  # type: ignore[method-assign]
    broken: list[Callable[[], object]] = [
        lambda: info_of(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle),
        lambda: prepared(client, "SELECT 1"),
        lambda: client.do_get(info.endpoints[0].ticket).read_all(),
    ]
    for call in broken:
        with pytest.raises((flight.FlightError, pa.ArrowException)) as raised:
            call()
        assert is_clean(raised.value)
    until(running.is_idle)


@pytest.mark.parametrize("owner", [Metadata, ClientSessions, Callers])
def test_handlers_have_no_door_of_their_own(owner: type) -> None:
    # pyarrow calls the server's methods alone.
    assert not issubclass(owner, flight.FlightServerBase | flight.ServerMiddleware)


def every_error(kind: type[GatewayError]) -> list[type[GatewayError]]:
    return [kind, *(below for subclass in kind.__subclasses__() for below in every_error(subclass))]


@pytest.mark.parametrize("kind", every_error(GatewayError))
def test_every_error_of_the_gateway_has_a_kind_and_its_code(kind: type[GatewayError]) -> None:
    error = kind.__new__(kind)
    GatewayError.__init__(error, "Because.")
    made = flight_error(error)
    assert isinstance(made, flight.FlightError)
    assert not isinstance(made, flight.FlightCancelledError)
    assert str(made).startswith(f"{kind.code}: Because.")
    ended = flight_error(StatementFailed(Failure(kind.code, "HY000", "Because.")))
    assert str(ended).startswith(f"{kind.code}: ")


def test_kinds_tell_clients_what_to_do() -> None:
    for error, kind in (
        (credential_errors.CredentialRefused(), flight.FlightUnauthenticatedError),
        (statement_errors.StatementNotAllowed(), flight.FlightUnauthorizedError),
        (unavailable.EngineNotReady(), flight.FlightUnavailableError),
        (query_errors.TooManyQueries(), flight.FlightUnavailableError),
        (query_errors.QueryTimedOut(), flight.FlightTimedOutError),
        (statement_errors.SqlSyntaxError("x"), flight.FlightServerError),
        (ValueError("x"), flight.FlightInternalError),
    ):
        assert type(flight_error(error)) is kind


def error_of(call: Callable[[], object]) -> BaseException | None:
    try:
        call()
    except (flight.FlightError, pa.ArrowException) as error:
        found: BaseException = error
        return found
    return None


TRIED = hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
MESSAGES = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda name, body: b"\x0a" + bytes([len(name)]) + name + b"\x12" + bytes([len(body)]) + body,
        st.sampled_from(
            [f"type.googleapis.com/arrow.flight.protocol.sql.{name}".encode() for name in COMMANDS]
            + [b"type.googleapis.com/google.protobuf.Any", b"x", b""]
        ),
        st.binary(max_size=100),
    ),
)


@TRIED
@given(data=MESSAGES)
def test_malformed_messages_are_refused(running: RunningFlight, data: bytes) -> None:
    with running.client() as client:
        descriptor = flight.FlightDescriptor.for_command(data)
        for call in (
            lambda: client.get_flight_info(descriptor),
            lambda: client.get_schema(descriptor),
            lambda: client.do_get(flight.Ticket(data)).read_all(),
            *(lambda kind=kind: action(client, kind, data) for kind in ACTIONS),
        ):
            error = error_of(call)
            assert error is None or is_clean(error)
            assert not isinstance(error, flight.FlightInternalError), error


ACTIONS = (
    "CreatePreparedStatement",
    "ClosePreparedStatement",
    "CancelFlightInfo",
    "CancelQuery",
    "SetSessionOptions",
    "GetSessionOptions",
    "CloseSession",
)


@pytest.mark.parametrize(
    "kind",
    ["BeginTransaction", "EndTransaction", "BeginSavepoint", "CreatePreparedSubstraitPlan", "nope", ""],
)
def test_what_is_not_offered_is_told(client: flight.FlightClient, kind: str) -> None:
    with pytest.raises(flight.FlightServerError, match="FLIGHT_NOT_SUPPORTED"):
        action(client, kind, b"")


def test_unknown_commands_and_paths_are_refused(client: flight.FlightClient) -> None:
    foreign = b"\x0a\x24type.googleapis.com/some.other.Thing\x12\x00"
    for descriptor in (
        flight.FlightDescriptor.for_command(foreign),
        flight.FlightDescriptor.for_path("a", "b"),
        command("ActionCancelQueryRequest", info=b""),
    ):
        with pytest.raises(flight.FlightServerError, match="FLIGHT_MESSAGE_INVALID"):
            client.get_flight_info(descriptor)


def test_a_large_message_is_refused(client: flight.FlightClient) -> None:
    with pytest.raises(flight.FlightServerError, match="FLIGHT_MESSAGE_INVALID"):
        client.get_flight_info(flight.FlightDescriptor.for_command(b"x" * (5 * 1024 * 1024)))


@pytest.mark.parametrize("handle", [b"", b"x", b"\xff\xfe", b"0" * 500])
def test_unknown_handles_are_refused(client: flight.FlightClient, handle: bytes) -> None:
    with pytest.raises(flight.FlightServerError, match="FLIGHT_HANDLE_UNKNOWN"):
        client.do_get(flight.Ticket(packed(new("TicketStatementQuery", statement_handle=handle)))).read_all()
    with pytest.raises(flight.FlightServerError, match="FLIGHT_HANDLE_UNKNOWN"):
        info_of(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle)


def test_all_actions_are_listed(client: flight.FlightClient) -> None:
    assert tuple(kind.type for kind in client.list_actions()) == ACTIONS
    assert list(client.list_flights()) == []
