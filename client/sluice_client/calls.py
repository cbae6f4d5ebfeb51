"""The commands of flows to their driver, and the answers.

The client's logic is written once, as generators that do no I/O. They yield a request or a pause, and receive
the answer. A driver runs them: one for blocking code, one for asyncio.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, TypeVar

T = TypeVar("T")


class Body(Protocol):
    """The bytes of a request. Opening and reading may block."""

    @property
    def content_type(self) -> str:
        """The media type."""

    @property
    def content_encoding(self) -> str | None:
        """How the bytes are compressed, or None."""

    @property
    def length(self) -> int | None:
        """The number of bytes, or None if that is not known before they are read."""

    def can_open(self) -> bool:
        """Whether `open` will yield the same bytes as before."""

    def open(self) -> Iterator[bytes]:
        """Yields the bytes from their beginning."""

    def close(self) -> None:
        """Frees what the body has in memory or on the disk."""


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A body that is in memory."""

    data: bytes
    content_type: str = "application/json"
    content_encoding: str | None = None

    @property
    def length(self) -> int:
        """The number of bytes."""
        return len(self.data)

    def can_open(self) -> bool:
        """Always true."""
        return True

    def open(self) -> Iterator[bytes]:
        """Yields all of it."""
        yield self.data

    def close(self) -> None:
        """Does nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request, without the connection's own parts: address, credentials, time to connect."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    max_bytes: int
    """The largest answer that is read."""
    wait_s: float = 0.0
    """How long the request asks the gateway to wait before it answers."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    accept: str = "application/json"
    body: Body | None = None
    answer_s: float | None = None
    """For the next bytes of the answer, instead of the connection's own."""
    is_repeatable: bool = True
    """Whether a second request has no second effect: it only reads, or has a `requestId`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """More of them, such as `Range`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer."""

    status: int
    headers: Mapping[str, str]
    """Names are in lower case."""
    body: bytes

    @property
    def media_type(self) -> str:
        """The media type, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Pause:
    """The flow goes on after this time."""

    seconds: float


Command: TypeAlias = Request | Pause
Flow: TypeAlias = Generator[Command, Answer | None, T]


def milliseconds(seconds: float) -> str:
    """Returns a duration as the gateway reads it.

    >>> milliseconds(2.5)
    '2500ms'
    """
    return f"{round(seconds * 1000)}ms"


def send(request: Request) -> Flow[Answer]:
    """Sends a request once.

    Raises:
        ConnectionFailed: no whole answer came.
        AnswerTooLarge: it is larger than the request allows.
    """
    answer = yield request
    assert answer is not None, "a driver answers every request"
    return answer


def pause(seconds: float) -> Flow[None]:
    """Waits."""
    yield Pause(seconds)
