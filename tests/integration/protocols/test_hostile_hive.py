"""Whatever is sent to HiveServer2's protocol, its sender alone gets an error, and nothing else happens."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable

import httpx
import pytest

from api.hive_server.calls.protocol_numbers import V10
from tests.integration.protocols.conftest import Caller
from tests.integration.protocols.hive_cases import (
    FRAMES,
    HANDSHAKES,
    MECHANISMS,
    MESSAGES,
    TOKENS,
    UNKNOWN,
    HiveCall,
    fetches,
    invented_handles,
    listings,
    message_of,
    openings,
    others_handles,
    own_handle_on,
    statements,
)
from tests.integration.protocols.hive_speakers import (
    SASL_BAD,
    Binary,
    HiveSession,
    OverHttp,
    Peer,
    Speaker,
    login,
    told_by,
)
from tests.integration.protocols.judging import fault_in, nothing_changes
from tests.integration.protocols.wrong_credentials import wrong_names, wrong_tokens

pytestmark = pytest.mark.integration
Connect = Callable[[Caller], Speaker]
OPENING = message_of(HiveCall("a session", "OpenSession", {"client_protocol": V10}))


@pytest.fixture(params=[Binary, OverHttp])
def connect(request: pytest.FixtureRequest) -> Connect:
    made: Connect = request.param
    return made


def faults_of(session: HiveSession, calls: Iterable[HiveCall]) -> list[str]:
    found = []
    for call in calls:
        told = session.failure(call.method, call.request)
        if fault := fault_in(told, call.codes):
            found.append(f"{fault}: {call.name} -> {told[:200]}")
    return found


def test_what_is_no_handshake_ends_the_connection(caller: Caller) -> None:
    with nothing_changes(caller):
        for name, data in HANDSHAKES.items():
            with Peer(caller.place.hive_port) as peer:
                peer.send(data)
                assert not peer.rest(), name


def test_a_login_that_is_none_is_told_so(caller: Caller) -> None:
    with nothing_changes(caller):
        for name, token in TOKENS.items():
            with Peer(caller.place.hive_port) as peer:
                status, text = login(peer, token)
                assert (status, fault_in(text), peer.rest()) == (SASL_BAD, "", b""), name
        for mechanism in MECHANISMS:
            with Peer(caller.place.hive_port) as peer:
                status, _ = login(peer, b"\0kim\0x", mechanism)
                assert status in (SASL_BAD, -1), mechanism


def test_wrong_passwords_are_refused(caller: Caller) -> None:
    if not caller.is_known:
        pytest.skip("everybody is let in")
    pairs = [(caller.role, token) for token in wrong_tokens(caller)]
    pairs += [(name, caller.token) for name in wrong_names(caller)]
    faults = []
    with nothing_changes(caller):
        for name, token in pairs:
            with Peer(caller.place.hive_port) as peer:
                status, text = login(peer, f"\0{name}\0{token}".encode())
            if status != SASL_BAD or fault_in(text, {"UNAUTHENTICATED"}):
                faults.append(f"{name[:40]} {token[:40]!r} -> {status} {text[:200]}")
            basic = base64.b64encode(f"{name}:{token}".encode()).decode()
            headers = {"Authorization": f"Basic {basic}"}
            answered = httpx.post(caller.place.http_url, headers=headers, content=OPENING, timeout=60)
            if answered.status_code not in (401, 431) or fault_in(answered.text):
                faults.append(f"{name[:40]} {token[:40]!r} -> {answered.status_code} {answered.text[:200]}")
    assert not faults, "\n".join(faults)


def test_what_is_no_message_is_told_so(caller: Caller) -> None:
    faults = []
    with nothing_changes(caller):
        for name, message in MESSAGES.items():
            for connect in (Binary, OverHttp):
                speaker = connect(caller)
                told = told_by(speaker.exchange(message))
                speaker.close()
                if fault := fault_in(told, {"INVALID_REQUEST"}):
                    faults.append(f"{fault}: {connect.__name__} {name} -> {told[:200]}")
        for name, data in FRAMES.items():
            binary = Binary(caller)
            binary.peer.send(data)
            told = told_by(binary.answer())
            if fault := fault_in(told, {"INVALID_REQUEST"}):
                faults.append(f"{fault}: {name} -> {told[:200]}")
            assert not binary.peer.rest(), name
            binary.close()
    assert not faults, "\n".join(faults)


def test_methods_that_there_are_not_are_told_so(caller: Caller, connect: Connect) -> None:
    with nothing_changes(caller):
        speaker = connect(caller)
        for name, message in UNKNOWN.items():
            assert told_by(speaker.exchange(message)).startswith("This server has no method"), name
        with HiveSession(speaker) as session:
            assert session.run("SELECT 1") == ""


def test_hostile_calls_are_refused(caller: Caller, connect: Connect) -> None:
    with nothing_changes(caller), HiveSession(connect(caller)) as session:
        faults = faults_of(session, openings())
        faults += faults_of(session, statements(session.handle))
        operation = session.operation("SELECT 7 AS a")
        faults += faults_of(session, fetches(operation))
        assert session.first_row(operation) == [7]
    assert not faults, "\n".join(faults)


def test_names_that_are_none_list_nothing(caller: Caller, connect: Connect) -> None:
    with nothing_changes(caller), HiveSession(connect(caller)) as session:
        for call in listings(session.handle):
            assert session.failure(call.method, call.request) == "", call.name


def test_handles_that_nobody_has_are_unknown(caller: Caller, connect: Connect) -> None:
    with nothing_changes(caller), HiveSession(connect(caller)) as session:
        faults = faults_of(session, invented_handles())
    assert not faults, "\n".join(faults)


def test_the_handles_of_another_caller_are_of_no_use(
    caller: Caller, victim: Caller, connect: Connect
) -> None:
    if not caller.is_known:
        pytest.skip("everybody is the same caller")
    with nothing_changes(caller), HiveSession(Binary(victim)) as theirs, HiveSession(connect(caller)) as own:
        operation = theirs.operation("SELECT 7 AS a")
        faults = faults_of(own, others_handles(caller.role, theirs.handle, operation))
        # These say nothing of a handle that they do not know.
        own.failure("CloseSession", own_handle_on(caller.role, theirs.handle))
        own.failure("CancelOperation", operation)
        own.failure("CloseOperation", operation)
        assert theirs.first_row(operation) == [7]
        assert theirs.run("SELECT 1") == ""
    assert not faults, "\n".join(faults)
