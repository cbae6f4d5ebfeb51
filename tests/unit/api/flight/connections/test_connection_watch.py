"""Clients that are silent, read nothing, or are too many keep no connection, and no place from others."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy
import pyarrow as pa
import pyarrow.flight as flight
import pytest
from google.protobuf import any_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from api.flight.connections.open_calls import OpenCalls
from api.flight.wire.messages import SQL_PACKAGE
from tests.fakes.clock import FakeClock
from tests.fakes.queries import ROWS
from tests.unit.api.flight.conftest import (
    RunningFlight,
    answer,
    command,
    flight_of,
    info_of,
    open_settings,
    prepared,
    rows_of,
    until,
)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
LARGE = pa.table({"a": numpy.arange(8_000_000)})
BOUND = 12
NAMES = (
    "CommandStatementQuery",
    "CommandPreparedStatementQuery",
    "CommandGetTables",
    "CommandGetDbSchemas",
    "CommandGetSqlInfo",
    "TicketStatementQuery",
)


@dataclass
class House:
    running: RunningFlight
    clock: FakeClock
    stack: ExitStack

    def silent(self, data: bytes = b"") -> socket.socket:
        """Opens a connection that sends this, and nothing else."""
        opened = socket.create_connection(("127.0.0.1", self.running.listener.port), 20)
        self.stack.callback(opened.close)
        opened.sendall(data)
        return opened

    def client(self) -> flight.FlightClient:
        """Opens a client with a connection of its own, which has called."""
        options = [("grpc.use_local_subchannel_pool", 1)]
        made = self.stack.enter_context(self.running.client(generic_options=options))
        answer(made, "CommandGetCatalogs")
        return made

    def is_idle_later(self) -> bool:
        """Whether no call is open, after longer than a client may stall."""
        self.clock.advance(timedelta(seconds=601))
        return self.running.is_idle()

    def connections(self, count: int) -> None:
        until(lambda: self.running.listener.connections == count)


@pytest.fixture
def house() -> Iterator[House]:
    clock = FakeClock()
    bounded = open_settings(flight_max_connections=BOUND, flight_max_connections_per_peer=BOUND)
    with flight_of(bounded, clock=clock) as running, ExitStack() as stack:
        running.queries.shapes["LARGE"] = LARGE
        running.queries.chunk_rows = 100_000
        yield House(running, clock, stack)


def descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def failure(call: Callable[[], object]) -> str:
    """Returns what a call fails with; empty if it does not."""
    try:
        call()
    except (flight.FlightError, pa.ArrowException) as error:
        return str(error)
    return ""


def is_closed(opened: socket.socket) -> bool:
    try:
        while opened.recv(4096):
            pass
    except ConnectionError:
        return True
    return True


def test_a_connection_without_a_call_is_closed(house: House) -> None:
    client = house.client()
    silent = [house.silent(), house.silent(PREFACE[:10]), house.silent(PREFACE)]
    house.connections(4)
    house.clock.advance(timedelta(seconds=59))
    assert answer(client, "CommandGetCatalogs").num_rows == 1
    house.connections(4)
    house.clock.advance(timedelta(seconds=2))
    assert all(is_closed(opened) for opened in silent)
    house.connections(1)
    assert answer(client, "CommandGetCatalogs").num_rows == 1


def test_a_connection_that_is_not_used_is_closed_and_its_client_connects_again(house: House) -> None:
    client = house.client()
    house.connections(1)
    house.clock.advance(timedelta(hours=2))
    house.connections(0)
    assert until(lambda: connected_again(client)).num_rows == 1


def connected_again(client: flight.FlightClient) -> pa.Table | None:
    try:
        return answer(client, "CommandGetCatalogs")
    except flight.FlightUnavailableError:
        return None


def test_connections_have_a_bound_and_those_without_a_call_make_room(house: House) -> None:
    clients = [house.client() for _ in range(3)]
    house.connections(3)
    silent = [house.silent(PREFACE) for _ in range(30)]
    house.connections(BOUND)
    assert sum(is_open(opened) for opened in silent) == BOUND - 3
    more = [house.client() for _ in range(BOUND - 3)]
    house.connections(BOUND)
    for client in (*clients, *more):
        assert answer(client, "CommandGetCatalogs").num_rows == 1
    # Each connection has a caller now, so a new one has no place.
    assert is_closed(house.silent())


def is_open(opened: socket.socket) -> bool:
    opened.settimeout(0.2)
    try:
        while data := opened.recv(4096):
            assert data
    except TimeoutError:
        return True
    except ConnectionError:
        return False
    return False


def test_500_silent_connections_keep_nobody_out() -> None:
    clock = FakeClock()
    bounds = {"flight_max_connections": 300, "flight_max_connections_per_peer": 300}
    with flight_of(open_settings(**bounds), clock=clock) as running, ExitStack() as stack:
        house = House(running, clock, stack)
        client = house.client()
        before = descriptors()
        silent = [house.silent(PREFACE if number % 2 else b"") for number in range(500)]
        until(lambda: running.listener.connections == 300)
        for _ in range(5):
            assert answer(client, "CommandGetCatalogs").num_rows == 1
        assert answer(house.client(), "CommandGetCatalogs").num_rows == 1
        clock.advance(timedelta(minutes=2))
        house.connections(2)
        for opened in silent:
            opened.close()
        # Clients keep some of their own.
        until(lambda: descriptors() <= before + 8)


def test_any_bytes_are_refused_and_others_are_served(house: House) -> None:
    client = house.client()

    @settings(max_examples=60, deadline=None)
    @given(data=st.binary(max_size=200), name=st.sampled_from(NAMES))
    def sent(data: bytes, name: str) -> None:
        wrapped = any_pb2.Any(type_url=f"type.googleapis.com/{SQL_PACKAGE}.{name}", value=data)
        asked = flight.FlightDescriptor.for_command(wrapped.SerializeToString())
        for call in (
            lambda: client.get_flight_info(asked),
            lambda: client.get_schema(asked),
            lambda: client.do_get(flight.Ticket(asked.command)).read_all(),
            lambda: list(client.do_action(flight.Action("CreatePreparedStatement", data))),
            lambda: list(client.do_action(flight.Action("SetSessionOptions", data))),
            lambda: list(client.do_action(flight.Action("CancelFlightInfo", data))),
        ):
            told = failure(call)
            assert "Traceback" not in told
            assert "INTERNAL" not in told
        assert answer(client, "CommandGetCatalogs").num_rows == 1

    sent()
    until(house.running.is_idle)


def test_who_reads_no_rows_loses_its_place(house: House) -> None:
    client, other = house.client(), house.client()
    info = info_of(client, "CommandStatementQuery", query="LARGE")
    stalled = client.do_get(info.endpoints[0].ticket)
    stalled.read_chunk()
    house.clock.advance(timedelta(seconds=599))
    house.connections(2)
    assert house.running.listener.calls == 1
    # Its last rows may have been sent after that.
    until(house.is_idle_later)
    with pytest.raises((flight.FlightError, pa.ArrowException, OSError)):
        stalled.read_all()
    assert rows_of(other, info).num_rows == LARGE.num_rows


def test_who_sends_no_values_loses_its_place(house: House) -> None:
    client = house.client()
    handle = prepared(client, "SELECT ?").prepared_statement_handle
    asked = command("CommandPreparedStatementQuery", prepared_statement_handle=handle)
    writer, _ = client.do_put(asked, pa.schema({"a": pa.int32()}))
    until(lambda: house.running.listener.calls == 1)
    until(house.is_idle_later)
    with pytest.raises((flight.FlightError, pa.ArrowException, OSError)):
        writer.close()


def test_who_waits_for_its_query_keeps_its_connection(house: House) -> None:
    house.running.queries.unfinished.add("SLOW")
    client = house.client()
    reader = client.do_get(info_of(client, "CommandStatementQuery", query="SLOW").endpoints[0].ticket)
    house.clock.advance(timedelta(minutes=30))
    house.connections(1)
    [query_id] = house.running.queries.by_id
    house.running.queries.finish(query_id)
    assert reader.read_all().num_rows == ROWS.num_rows


def test_a_call_that_goes_on_keeps_the_connection_of_those_that_wait() -> None:
    clock = FakeClock()
    calls = OpenCalls(clock)
    paused, running = calls.begin("ipv4:127.0.0.1:5000"), calls.begin("ipv4:127.0.0.1:5000")
    assert paused.peer is not None
    before_ms = clock.elapsed_ms()
    with calls.waiting(paused):
        clock.advance(timedelta(minutes=11))
        assert calls.of(paused.peer) == (True, None, 0)
        calls.end(running)
        assert calls.of(paused.peer) == (True, before_ms, clock.elapsed_ms())
    calls.end(paused)
    assert calls.of(paused.peer) == (False, None, clock.elapsed_ms())
    calls.keep(frozenset())
    assert calls.of(paused.peer) == (False, None, None)
