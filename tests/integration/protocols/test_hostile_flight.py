"""Whatever is sent to Arrow Flight SQL, its sender alone gets an error, and nothing else happens."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from functools import partial
from uuid import UUID

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from api.flight.wire.messages import new, packed, parsed, unpacked
from tests.integration.protocols.conftest import Caller
from tests.integration.protocols.flight_cases import (
    RAW,
    FlightCall,
    actions,
    bindings,
    handles,
    messages,
    options,
    others_handles,
    paths,
    updates,
)
from tests.integration.protocols.flight_speakers import FlightSpeaker, command, failure
from tests.integration.protocols.hive_speakers import Binary, HiveSession, Peer
from tests.integration.protocols.judging import fault_in, nothing_changes
from tests.integration.protocols.wrong_credentials import wrong_names, wrong_tokens

pytestmark = pytest.mark.integration

GRPC_REFUSAL = "received metadata size exceeds"


def faults_of(speaker: FlightSpeaker, calls: Iterable[FlightCall]) -> list[str]:
    found = []
    for call in calls:
        told = failure(partial(call.make, speaker))
        if fault := fault_in(told, call.codes):
            found.append(f"{fault}: {call.name} -> {told[:300]}")
    return found


def prepared(speaker: FlightSpeaker, sql: str) -> bytes:
    body = packed(new("ActionCreatePreparedStatementRequest", query=sql))
    [result] = speaker.action("CreatePreparedStatement", body)
    return bytes(unpacked(result).prepared_statement_handle)


@pytest.mark.parametrize("calls", [messages, paths, actions, updates, handles])
def test_hostile_calls_are_refused(caller: Caller, calls: Callable[[], Iterable[FlightCall]]) -> None:
    with nothing_changes(caller), FlightSpeaker(caller) as speaker:
        faults = faults_of(speaker, calls())
    assert not faults, "\n".join(faults)


def test_values_that_cannot_be_bound_are_refused(caller: Caller) -> None:
    with nothing_changes(caller), FlightSpeaker(caller) as speaker:
        handle = prepared(speaker, "SELECT ? AS a")
        faults = faults_of(speaker, bindings(handle))
    assert not faults, "\n".join(faults)


def test_options_that_no_session_takes_are_named(caller: Caller) -> None:
    with nothing_changes(caller), FlightSpeaker(caller) as speaker:
        for name, value in options().items():
            option = {"key": name, "value": {"string_value": value}}
            body = bytes(new("SetSessionOptionsRequest", session_options=[option]).SerializeToString())
            [result] = speaker.action("SetSessionOptions", body)
            told = parsed("SetSessionOptionsResult", result)
            assert [entry.key for entry in told.errors] == [name]


def test_wrong_credentials_are_refused(caller: Caller) -> None:
    if not caller.is_known:
        pytest.skip("everybody is let in")
    pairs = [(caller.role, token) for token in wrong_tokens(caller)]
    pairs += [(name, caller.token) for name in wrong_names(caller)]
    sent = [b"Bearer " + token.encode() for token in wrong_tokens(caller)]
    sent += [b"Basic " + base64.b64encode(f"{name}:{token}".encode()) for name, token in pairs]
    sent += [
        b"",
        b"Bearer",
        b"Basic",
        b"Basic !!",
        b"Basic " + base64.b64encode(b"no colon"),
        caller.token.encode(),
    ]
    sent += [
        b"Digest " + caller.token.encode(),
        b"Negotiate AAAA",
        b"Basic " + base64.b64encode(b"\xff:\xfe"),
    ]
    faults = []
    with nothing_changes(caller), FlightSpeaker(caller) as speaker:
        for header in sent:
            told = failure(partial(_asked_with, speaker, [(b"authorization", header)]))
            # gRPC itself refuses headers that are too large.
            if GRPC_REFUSAL not in told and (fault := fault_in(told)):
                faults.append(f"{fault}: {header[:60]!r} -> {told[:200]}")
        good = (b"authorization", f"Bearer {caller.token}".encode())
        for headers in (
            [good, good],
            [good, (b"authorization", b"Bearer x")],
            [(b"x-api-key", caller.token.encode())],
        ):
            told = failure(partial(_asked_with, speaker, headers))
            if fault := fault_in(told, {"UNAUTHENTICATED"}):
                faults.append(f"{fault}: {len(headers)} headers -> {told[:200]}")
    assert not faults, "\n".join(faults)


def _asked_with(speaker: FlightSpeaker, headers: list[tuple[bytes, bytes]]) -> object:
    return list(speaker.client.list_actions(flight.FlightCallOptions(timeout=60, headers=headers)))


def test_what_belongs_to_another_caller_is_of_no_use(caller: Caller, victim: Caller) -> None:
    if not caller.is_known:
        pytest.skip("everybody is the same caller")
    with (
        nothing_changes(caller),
        FlightSpeaker(victim) as theirs,
        FlightSpeaker(caller) as own,
        HiveSession(Binary(victim)) as session,
    ):
        ticket = theirs.ticket("SELECT 7 AS a").ticket
        handle = prepared(theirs, "SELECT 8 AS a")
        session_id = UUID(bytes=session.handle["sessionHandle"]["sessionId"]["guid"])
        faults = faults_of(own, others_handles(ticket, handle, session_id))
        # These say nothing of what they do not know.
        closing = new("ActionClosePreparedStatementRequest", prepared_statement_handle=handle)
        own.action("ClosePreparedStatement", packed(closing))
        canceling = new("CancelFlightInfoRequest", info=info_of(ticket))
        own.action("CancelFlightInfo", bytes(canceling.SerializeToString()))
        assert theirs.get(ticket).to_pydict() == {"a": [7]}
        assert theirs.rows_of(command("CommandPreparedStatementQuery", prepared_statement_handle=handle)) == [
            8
        ]
        assert session.run("SELECT 1") == ""
    assert not faults, "\n".join(faults)


def info_of(ticket: bytes) -> bytes:
    """Returns the bytes of a `FlightInfo` with this ticket."""
    nothing = flight.FlightDescriptor.for_command(b"")
    info = flight.FlightInfo(pa.schema([]), nothing, [flight.FlightEndpoint(ticket, [])], -1, -1)
    return bytes(info.serialize())


def test_what_is_no_grpc_ends_the_connection(caller: Caller) -> None:
    with nothing_changes(caller):
        for name, data in RAW.items():
            with Peer(caller.place.flight_port) as peer:
                peer.send(data)
                assert fault_in(f"CLOSED {peer.rest()!r}") == "", name
