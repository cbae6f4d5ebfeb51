"""Finds where a message ends, and rejects what is beyond the bounds, before any of it is understood."""

from __future__ import annotations

import struct
from collections.abc import Generator
from dataclasses import dataclass

from api.hive_server.wire.thrift_types import FIXED_BYTES, Kind
from api.hive_server.wire.unreadable_message import MessageFault

VERSION = 0x8001
Wanted = Generator[int, bytes, None]
"""Yields how many bytes it wants next, and is sent exactly these."""


@dataclass(frozen=True, slots=True)
class MessageBounds:
    """How many bytes a message may have, and how deeply its structs and lists may be nested."""

    max_bytes: int
    max_depth: int = 32


class _Scan:
    """The scan of one message: counts its bytes and levels."""

    def __init__(self, bounds: MessageBounds) -> None:
        self._bounds = bounds
        self._left_bytes = bounds.max_bytes

    def message(self) -> Wanted:
        head = yield from self._take(4)
        if int.from_bytes(head[:2], "big") != VERSION:
            raise MessageFault("it is not a message of the binary protocol")
        yield from self._text()
        yield from self._take(4)
        yield from self._struct(1)

    def _take(self, count: int) -> Generator[int, bytes, bytes]:
        if not 0 <= count <= self._left_bytes:
            raise MessageFault(f"it has more than {self._bounds.max_bytes} bytes")
        self._left_bytes -= count
        return (yield count) if count else b""

    def _number(self) -> Generator[int, bytes, int]:
        found: int = struct.unpack(">i", (yield from self._take(4)))[0]
        return found

    def _text(self) -> Wanted:
        yield from self._take((yield from self._number()))

    def _struct(self, depth: int) -> Wanted:
        if depth > self._bounds.max_depth:
            raise MessageFault(f"it is nested more than {self._bounds.max_depth} levels deep")
        while (kind := (yield from self._take(1))[0]) != Kind.STOP:
            yield from self._take(2)
            yield from self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> Wanted:
        if kind in FIXED_BYTES:
            yield from self._take(FIXED_BYTES[kind])
        elif kind == Kind.STRING:
            yield from self._text()
        elif kind == Kind.STRUCT:
            yield from self._struct(depth + 1)
        elif kind in (Kind.LIST, Kind.SET):
            (item,) = yield from self._take(1)
            yield from self._values((item,), (yield from self._number()), depth)
        elif kind == Kind.MAP:
            kinds = yield from self._take(2)
            yield from self._values((kinds[0], kinds[1]), (yield from self._number()), depth)
        else:
            raise MessageFault(f"there is no type {kind}")

    def _values(self, kinds: tuple[int, ...], count: int, depth: int) -> Wanted:
        # Each value takes a byte at least, so that no count is the cause of a loop without input.
        if not 0 <= count <= self._left_bytes:
            raise MessageFault(f"it has more than {self._bounds.max_bytes} bytes")
        if depth >= self._bounds.max_depth:
            raise MessageFault(f"it is nested more than {self._bounds.max_depth} levels deep")
        if len(kinds) == 1 and kinds[0] in FIXED_BYTES:
            yield from self._take(count * FIXED_BYTES[kinds[0]])
            return
        for _ in range(count):
            for kind in kinds:
                yield from self._value(kind, depth + 1)


def scan_message(bounds: MessageBounds) -> Wanted:
    """Walks through one message, and ends with its last byte.

    Raises:
        MessageFault: it is not one, or beyond a bound.
    """
    return _Scan(bounds).message()


def check_message(data: bytes, bounds: MessageBounds) -> None:
    """Checks that these bytes are one message.

    Raises:
        MessageFault: they are not.
    """
    scan, at = scan_message(bounds), 0
    try:
        wanted = next(scan)
        while True:
            part = data[at : at + wanted]
            if len(part) < wanted:
                raise MessageFault("it ends too early")
            at += wanted
            wanted = scan.send(part)
    except StopIteration:
        if at != len(data):
            raise MessageFault("there are bytes after its end") from None
