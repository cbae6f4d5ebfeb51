"""The bounds of one connection, and of all of them together."""

from __future__ import annotations

from dataclasses import dataclass

from api.bootstrap.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionBounds:
    """The operator's bounds on connections."""

    max_connections: int
    max_connections_per_peer: int
    max_header_bytes: int
    max_header_lines: int
    max_url_bytes: int
    max_pipelined_requests: int
    max_unread_bytes: int
    header_timeout_s: float
    unread_timeout_s: float
    min_bytes_per_s: int


def bounds_of(settings: Settings) -> ConnectionBounds:
    """Returns the bounds that the settings define."""
    return ConnectionBounds(
        max_connections=settings.max_connections,
        max_connections_per_peer=settings.max_connections_per_peer,
        max_header_bytes=settings.max_header_bytes,
        max_header_lines=settings.max_header_lines,
        max_url_bytes=settings.max_url_bytes,
        max_pipelined_requests=settings.max_pipelined_requests,
        max_unread_bytes=settings.max_unread_answer_bytes,
        header_timeout_s=settings.header_timeout_s,
        unread_timeout_s=settings.unread_answer_timeout_s,
        min_bytes_per_s=settings.body_min_bytes_per_s,
    )
