"""Removes the offer of another protocol from a request."""

from __future__ import annotations

from collections.abc import Sequence

_OF_UPGRADES = (b"upgrade", b"http2-settings")


def plain_head(method: bytes, url: bytes, version: str, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Returns the head of the same request without its offer, which a server may ignore (RFC 9110, 7.8).

    >>> plain_head(b"GET", b"/", "1.1", [(b"connection", b"Upgrade, close"), (b"upgrade", b"h2c")]).split()
    [b'GET', b'/', b'HTTP/1.1', b'connection:', b'close']
    """
    lines = [b"%b %b HTTP/%b" % (method, url, version.encode())]
    for name, value in headers:
        shown = _without_offers(value) if name == b"connection" else value
        if name not in _OF_UPGRADES and (shown or name != b"connection"):
            lines.append(name + b": " + shown)
    return b"\r\n".join([*lines, b"", b""])


def _without_offers(connection: bytes) -> bytes:
    tokens = [token.strip() for token in connection.split(b",")]
    return b", ".join(token for token in tokens if token.lower() not in _OF_UPGRADES)
