"""A client that sends exactly the given bytes."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class RawAnswer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["code"])


class RawClient:
    def __init__(self, address: tuple[str, int], source: str = "127.0.0.1") -> None:
        self.address = address
        self._socket = socket.create_connection(address, timeout=60, source_address=(source, 0))
        # Each send is a packet of its own.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def from_address(self, source: str) -> RawClient:
        """Opens another connection from this address."""
        return RawClient(self.address, source)

    def small_window(self) -> Self:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        return self

    def send(self, data: bytes) -> Self:
        self._socket.sendall(data)
        return self

    def send_until_closed(self, part: bytes, number: int) -> int:
        """Returns the number of bytes that could be sent."""
        sent = 0
        try:
            for _ in range(number):
                sent += self._socket.send(part)
        except OSError:
            pass
        return sent

    def answer(self) -> RawAnswer:
        """Reads the next answer.

        Raises:
            EOFError: the server has closed the connection.
        """
        while b"\r\n\r\n" not in self._received:
            self._receive()
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", "0"))
        while len(self._received) < length:
            self._receive()
        body, self._received = self._received[:length], self._received[length:]
        return RawAnswer(int(first.split()[1]), headers, body)

    def ask(self, path: bytes) -> RawAnswer:
        return self.send(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n").answer()

    def post(self, path: bytes, value: Any) -> RawAnswer:
        return self.send(post(path, json.dumps(value).encode())).answer()

    def fileno(self) -> int:
        """Returns the number of the socket, for those who wait for it."""
        return self._socket.fileno()

    def is_closed(self) -> bool:
        """Reads until the server closes the connection."""
        try:
            while True:
                self._receive()
        except (EOFError, ConnectionError):
            return True

    def _receive(self) -> None:
        found = self._socket.recv(65536)
        if not found:
            raise EOFError
        self._received += found


def wait_until_one_is_reset(clients: Iterable[RawClient]) -> None:
    """Reads nothing, and returns once the server has reset one of the connections."""
    poll = select.poll()
    for client in clients:
        poll.register(client, select.POLLERR | select.POLLHUP)
    assert poll.poll(60_000)


def post(path: bytes, body: bytes, *lines: bytes) -> bytes:
    head = [b"POST " + path + b" HTTP/1.1", b"Host: localhost", b"Content-Type: application/json", *lines]
    return b"\r\n".join([*head, b"Content-Length: %d" % len(body), b"", body])
