"""The connections that this process has accepted on a port, whoever accepted them.

gRPC hands out neither its sockets nor a way to end one, so they are found among the descriptors of the
process.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_DESCRIPTORS = "/dev/fd"
_AT_ONCE = struct.pack("ii", 1, 0)
_PEER = re.compile(r"ipv[46]:(?P<host>.+):(?P<port>\d+)")
_RESERVED = 2
"""One descriptor to list the others, and one to look at one."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The other end of a connection."""

    host: str
    port: int


def peer_named(text: str) -> Peer | None:
    """Returns the peer in gRPC's text; None: it is not an address.

    >>> peer_named("ipv4:127.0.0.1:5000"), peer_named("ipv6:%5B::1%5D:5000"), peer_named("unix:")
    (Peer(host='127.0.0.1', port=5000), Peer(host='::1', port=5000), None)
    """
    found = _PEER.fullmatch(text)
    if found is None:
        return None
    return _peer(found["host"].replace("%5B", "").replace("%5D", "").strip("[]"), int(found["port"]))


class OwnSockets:
    """Finds and ends the connections on one port. Its methods must be called by one thread at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        # Sockets of other ports, by their numbers in the file system.
        self._others: frozenset[int] = frozenset()
        # Without them, a process that has used all its descriptors could not end a connection.
        self._reserved = [os.open(os.devnull, os.O_RDONLY) for _ in range(_RESERVED)]

    def peers(self) -> Mapping[Peer, int]:
        """Returns the peers that are connected, each with a descriptor that may be closed at any time."""
        found: dict[Peer, int] = {}
        others = set()
        with self._with_descriptors():
            for descriptor in _descriptors():
                number = _socket_number(descriptor)
                if number is None:
                    continue
                peer = None if number in self._others else self._peer_of(descriptor)
                if peer is None:
                    others.add(number)
                else:
                    found[peer] = descriptor
        self._others = frozenset(others)
        return found

    def end(self, peer: Peer, descriptor: int) -> None:
        """Resets the connection, if the descriptor is still that of this peer."""
        with self._with_descriptors(), self._opened(descriptor) as connection:
            if connection is not None and _is_of(connection, peer):
                with suppress(OSError):
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Gives the reserved descriptors back."""
        while self._reserved:
            os.close(self._reserved.pop())

    def _peer_of(self, descriptor: int) -> Peer | None:
        with self._opened(descriptor) as connection:
            if connection is None or connection.family not in (socket.AF_INET, socket.AF_INET6):
                return None
            try:
                own, other = connection.getsockname(), connection.getpeername()
            except OSError:
                # It listens, or has been reset.
                return None
            return _peer(other[0], other[1]) if own[1] == self._port else None

    @contextmanager
    def _opened(self, descriptor: int) -> Iterator[socket.socket | None]:
        try:
            # A copy: the descriptor may be closed, and be that of another file, at any time.
            connection = socket.socket(fileno=os.dup(descriptor))
        except OSError:
            yield None
            return
        with connection:
            yield connection

    @contextmanager
    def _with_descriptors(self) -> Iterator[None]:
        self.close()
        try:
            yield
        finally:
            with suppress(OSError):
                while len(self._reserved) < _RESERVED:
                    self._reserved.append(os.open(os.devnull, os.O_RDONLY))


def _peer(host: str, port: int) -> Peer:
    address = ipaddress.ip_address(host.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return Peer(str(mapped or address), port)


def _is_of(connection: socket.socket, peer: Peer) -> bool:
    try:
        host, port = connection.getpeername()[:2]
        return _peer(host, port) == peer
    except (OSError, ValueError):
        return False


def _descriptors() -> list[int]:
    with os.scandir(_DESCRIPTORS) as found:
        return [int(each.name) for each in found]


def _socket_number(descriptor: int) -> int | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_ino if stat.S_ISSOCK(found.st_mode) else None
