"""Clients of HiveServer2's protocol that send any bytes, on a connection or over HTTP."""

from __future__ import annotations

import base64
import socket
import struct
from collections.abc import Mapping
from typing import Any, Protocol, Self

import httpx

from api.hive_server.calls.methods import METHODS
from api.hive_server.calls.protocol_numbers import V10
from tests.integration.protocols.conftest import Caller
from tests.unit.api.hive_server.thrift_values import Reply, read_reply, written_call

WAIT_S = 90.0
SASL_BAD, SASL_COMPLETE, ERROR = 3, 5, 3


class ConnectionClosed(Exception):
    """The server has closed the connection without another byte."""


class Peer:
    """A connection to a port. `received` is what the server sent until it closed."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def take(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            part = self._socket.recv(count - len(found))
            if not part:
                raise ConnectionClosed
            found += part
        return found

    def rest(self) -> bytes:
        """Returns all that comes until the server closes."""
        found = b""
        try:
            while part := self._socket.recv(65_536):
                found += part
        except (ConnectionError, TimeoutError):
            pass
        return found


class Speaker(Protocol):
    """Sends messages. An answer that is not a message is returned as text."""

    def exchange(self, message: bytes) -> Reply | str: ...

    def close(self) -> None: ...


class Binary:
    """A connection to the port, which has logged in."""

    def __init__(self, caller: Caller) -> None:
        self.peer = Peer(caller.place.hive_port)
        status, text = login(self.peer, f"\0{caller.role}\0{caller.token or 'any'}".encode())
        assert status == SASL_COMPLETE, text

    def exchange(self, message: bytes) -> Reply | str:
        try:
            self.peer.send(struct.pack(">i", len(message)) + message)
            return self.answer()
        except (ConnectionError, ConnectionClosed):
            return ""

    def answer(self) -> Reply:
        (length,) = struct.unpack(">i", self.peer.take(4))
        return read_reply(self.peer.take(length))

    def close(self) -> None:
        self.peer.__exit__()


class OverHttp:
    """Requests to the path."""

    def __init__(self, caller: Caller) -> None:
        self._url = caller.place.http_url
        headers = {"Content-Type": "application/x-thrift"}
        if caller.token:
            text = base64.b64encode(f"{caller.role}:{caller.token}".encode()).decode()
            headers["Authorization"] = f"Basic {text}"
        self._client = httpx.Client(headers=headers, timeout=WAIT_S)

    def exchange(self, message: bytes) -> Reply | str:
        answered = self._client.post(self._url, content=message)
        return read_reply(answered.content) if answered.status_code == 200 else answered.text

    def close(self) -> None:
        self._client.close()


class HiveSession:
    """A session of a caller, whose calls may have anything in them."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        opened = self.reply("OpenSession", {"client_protocol": V10})
        assert isinstance(opened, Reply)
        assert opened.fields[0][1][1] == 0, opened
        handle = opened.fields[0][3][1]
        self.handle = {"sessionHandle": {"sessionId": {"guid": handle[1], "secret": handle[2]}}}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.reply("CloseSession", self.handle)
        self._speaker.close()

    def reply(self, method: str, request: Mapping[str, Any]) -> Reply | str:
        return self._speaker.exchange(written_call(method, METHODS[method].request, request))

    def failure(self, method: str, request: Mapping[str, Any]) -> str:
        """Returns what the answer says; empty if the call did what it was asked for."""
        return told_by(self.reply(method, request))

    def run(self, sql: str) -> str:
        """Returns what a statement fails with; empty if it has rows."""
        return self.failure("ExecuteStatement", {**self.handle, "statement": sql})

    def operation(self, sql: str) -> dict[str, Any]:
        """Returns the handle of a statement that is not closed."""
        answered = self.reply("ExecuteStatement", {**self.handle, "statement": sql})
        assert isinstance(answered, Reply)
        found = answered.fields[0][2][1]
        return {"operationHandle": {"operationId": {"guid": found[1], "secret": found[2]}}}

    def first_row(self, operation: Mapping[str, Any]) -> list[Any]:
        """Returns the first value of each column of an open statement."""
        answered = self.reply("FetchResults", {**operation, "orientation": 4, "maxRows": 10})
        assert isinstance(answered, Reply)
        return [next(iter(column.values()))[1][0] for column in answered.fields[0][3][3]]


def told_by(answered: Reply | str) -> str:
    """Returns what an answer says; empty if it is one of success."""
    if isinstance(answered, str):
        return answered or "CONNECTION_CLOSED: without a word"
    if answered.type == 3:
        return f"{answered.fields[1].decode()}"
    status = answered.fields[0].get(1)
    if not isinstance(status, dict) or status[1] != ERROR:
        return ""
    return f"{status[5].decode()} (SQLSTATE {status[3].decode()})"


def login(peer: Peer, token: bytes, mechanism: bytes = b"PLAIN") -> tuple[int, str]:
    """Returns the status that the server answers a login with, and its text; -1 if it only closed."""
    try:
        peer.send(struct.pack(">bi", 1, len(mechanism)) + mechanism)
        peer.send(struct.pack(">bi", 2, len(token)) + token)
        status, length = struct.unpack(">bi", peer.take(5))
        return status, peer.take(length).decode()
    except (ConnectionError, ConnectionClosed):
        return -1, ""
