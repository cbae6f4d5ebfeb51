"""The server's side of SASL as Thrift frames it, with the mechanism PLAIN (RFC 4616)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import IntEnum

from api.hive_server.wire.unreadable_message import MessageFault

MECHANISM = b"PLAIN"
MAX_SASL_BYTES = 64 * 1024
HEAD = struct.Struct(">bi")
"""The status and the length before each message of the negotiation."""


class SaslStatus(IntEnum):
    """The kinds of messages of the negotiation."""

    START = 1
    OK = 2
    BAD = 3
    ERROR = 4
    COMPLETE = 5


@dataclass(frozen=True, slots=True)
class PlainCredentials:
    """A name and a password."""

    name: str
    password: str = field(repr=False)


def plain_credentials(token: bytes) -> PlainCredentials:
    r"""Reads the one message of PLAIN. Who wants to act as another than it authenticates as is refused.

    >>> plain_credentials(b"\0kim\0secret").name
    'kim'

    Raises:
        MessageFault: it is not one.
    """
    parts = token.split(b"\0")
    if len(parts) != 3:
        raise MessageFault("the message of PLAIN has not three parts")
    try:
        acting, name, password = (part.decode() for part in parts)
    except UnicodeDecodeError:
        raise MessageFault("a name or password is not UTF-8") from None
    if acting not in ("", name):
        raise MessageFault("nobody may act in another's name")
    return PlainCredentials(name, password)


def sasl_message(status: SaslStatus, text: str = "") -> bytes:
    """Returns a message of the negotiation."""
    data = text.encode(errors="replace")
    return HEAD.pack(status, len(data)) + data
