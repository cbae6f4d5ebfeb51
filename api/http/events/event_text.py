"""The text of server-sent events. Source: the HTML standard, "Server-sent events"."""

from __future__ import annotations

MEDIA_TYPE = "text/event-stream"
HEARTBEAT = b": still there\n\n"
"""A comment: it keeps proxies from closing the connection, and shows that the client is gone."""


def event_text(name: str, event_id: str, data: bytes) -> bytes:
    r"""Returns one event; `data` is JSON on one line.

    >>> event_text("state", "1", b"{}")
    b'id: 1\nevent: state\ndata: {}\n\n'
    """
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (event_id.encode(), name.encode(), data)


def retry_text(milliseconds: int) -> bytes:
    r"""Returns the time after which a client connects again.

    >>> retry_text(1000)
    b'retry: 1000\n\n'
    """
    return b"retry: %d\n\n" % milliseconds
