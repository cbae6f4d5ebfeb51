"""How a connection waits, retries, and what it accepts: every bound, with its default."""

from __future__ import annotations

from dataclasses import dataclass, fields

_MIB = 1024 * 1024


class _Positive:
    """Refuses numbers that are not above zero."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, field.name)
            if not value > 0:
                raise ValueError(f"{type(self).__name__}.{field.name} is {value!r}: it has to be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy(_Positive):
    """How often a request is sent again, if that has no second effect.

    The delay doubles from `first_delay_s` to `max_delay_s`, with jitter. A `Retry-After` of the gateway
    counts instead, if it is longer. A delay that would end after `total_s` is not begun: the error is raised
    at once.
    """

    attempts: int = 5
    """Requests at most, with the first one. 1: none is sent again."""
    total_s: float = 60.0
    first_delay_s: float = 0.2
    max_delay_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts(_Positive):
    """How long the client waits, in seconds."""

    connect_s: float = 10.0
    send_s: float = 60.0
    """For the gateway to take the next bytes of a request."""
    answer_s: float = 60.0
    """For the next bytes of an answer, beyond the time that the request itself asks the gateway to wait."""
    request_s: float = 900.0
    """For one whole answer, once it has begun."""
    query_s: float = 3600.0
    """For a query to end. Then the client cancels it. `timeout_s` of a query ends it earlier."""
    poll_s: float = 20.0
    """For one request about a query that has not ended. The next one follows at once."""
    commit_s: float = 900.0
    """For an accepted ingest to be committed. Then the ingest goes on, and the client stops waiting."""
    cancel_s: float = 5.0
    """For the answer to a cancellation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(_Positive):
    """How large an answer may be, and how much of a body is kept in memory for retries, in bytes."""

    max_answer_bytes: int = 64 * _MIB
    """An answer in JSON."""
    max_chunk_bytes: int = 512 * _MIB
    """One chunk of a result. Gateways make chunks of about 8 MiB, unless one row is larger."""
    block_bytes: int = 16 * _MIB
    """One part of a result of several chunks, which is read in parts of this size."""
    spool_memory_bytes: int = 8 * _MIB
    """Records that are kept in memory until they are accepted. More of them go to a temporary file."""
