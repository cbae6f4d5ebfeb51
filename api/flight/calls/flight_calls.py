"""Calls as gRPC hands them over: their headers, their place, and how they ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow.flight as flight
import structlog

from api.flight.calls.call_places import CallPlaces
from api.flight.calls.flight_metrics import FlightMetrics
from api.flight.connections.open_calls import OpenCall, OpenCalls
from api.flight.wire.flight_errors import FlightMessageInvalid
from api.flight.wire.statement_failures import fail
from service.errors.unavailable import ShuttingDown

MIDDLEWARE = "sluice"
_MAX_HEADER_BYTES = 64 * 1024
_AUTHORIZATION, _AGENT, _COOKIE = "authorization", "user-agent", "cookie"
T = TypeVar("T")
_log = structlog.stdlib.get_logger("api.flight")


@dataclass(frozen=True, slots=True)
class Head:
    """The headers of a call, as far as they are read."""

    authorization: tuple[str, ...] = ()
    user_agent: str = ""
    cookies: tuple[str, ...] = ()


def head_of(headers: Mapping[str, Sequence[str | bytes]]) -> Head:
    """Returns what the headers say, whose names may be in any case.

    Raises:
        FlightMessageInvalid: they are too large.
    """
    texts: dict[str, list[str]] = {}
    for name, values in headers.items():
        texts.setdefault(name.lower(), []).extend(value for value in values if isinstance(value, str))
    wanted = {name: texts.get(name, []) for name in (_AUTHORIZATION, _AGENT, _COOKIE)}
    if sum(len(value) for values in wanted.values() for value in values) > _MAX_HEADER_BYTES:
        raise FlightMessageInvalid("The headers of this call are too large.")
    return Head(tuple(wanted[_AUTHORIZATION]), " ".join(wanted[_AGENT]), tuple(wanted[_COOKIE]))


class FlightCall(flight.ServerMiddleware):  # type: ignore[misc]
    """One call. Its handler notes here who called, and which query it was about."""

    def __init__(
        self, method: str, head: Head, places: CallPlaces, calls: OpenCalls, metrics: FlightMetrics
    ) -> None:
        super().__init__()
        self.method = method
        self.head = head
        self.bearer: str | None = None
        """A token that the client is to send from now on."""
        self.caller: str | None = None
        self.query_id: str | None = None
        self.command: str | None = None
        self._places = places
        self._calls = calls
        self._open: OpenCall | None = None
        self._metrics = metrics
        self._began_s = time.perf_counter()
        self._is_over = False

    def name(self, caller: str) -> None:
        """Notes the caller, who has a part of the places.

        Raises:
            FlightBusy: the caller's part is used up.
        """
        if self.caller is None:
            self._places.name(caller)
            self.caller = caller

    def connected(self, peer: str) -> None:
        """Notes the connection of a call whose caller is known, as gRPC names it."""
        if self._open is None:
            self._open = self._calls.begin(peer)

    def waiting(self) -> AbstractContextManager[None]:
        """Notes that the client has to read or to send something before the call goes on."""
        return nullcontext() if self._open is None else self._calls.waiting(self._open)

    def read_by_client(self, parts: Iterable[T]) -> Iterator[T]:
        """Yields the parts of an answer, and waits for the client after each."""
        for part in parts:
            with self.waiting():
                yield part

    def sending_headers(self) -> dict[str, str]:
        """Returns the headers of the answer."""
        return {} if self.bearer is None else {_AUTHORIZATION: f"Bearer {self.bearer}"}

    def call_completed(self, exception: BaseException | None) -> None:
        """Gives the place back, and counts and logs the call."""
        if self._is_over:
            return
        self._is_over = True
        self._places.give_back(self.caller)
        if self._open is not None:
            self._calls.end(self._open)
        seconds = time.perf_counter() - self._began_s
        outcome = self._metrics.ended(self.method, exception, seconds)
        _log.info(
            "flight_call",
            method=self.method,
            command=self.command,
            caller=self.caller,
            query_id=self.query_id,
            outcome=outcome,
            duration_ms=round(seconds * 1000),
        )


class CallFactory(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Begins every call: takes a place for it, or refuses it.

    Args:
        places: bounds the calls.
        calls: notes them by their connections.
        metrics: counts them.
        on_handshake: authenticates the call whose handler sees no headers; returns a token for its client.
    """

    def __init__(
        self,
        places: CallPlaces,
        calls: OpenCalls,
        metrics: FlightMetrics,
        on_handshake: Callable[[Head], str | None],
    ) -> None:
        super().__init__()
        self._places = places
        self._calls = calls
        self._metrics = metrics
        self._on_handshake = on_handshake
        self.is_closed = False

    def start_call(self, info: Any, headers: Mapping[str, Sequence[str | bytes]]) -> FlightCall:
        """Returns the call, which has a place."""
        method = str(info.method.name)
        try:
            return self._started(method, headers)
        except BaseException as error:  # noqa: BLE001 - the outermost edge: pyarrow would send the traceback
            self._metrics.refused(method)
            fail(error)

    def _started(self, method: str, headers: Mapping[str, Sequence[str | bytes]]) -> FlightCall:
        if self.is_closed:
            raise ShuttingDown
        head = head_of(headers)
        self._places.take()
        try:
            call = FlightCall(method, head, self._places, self._calls, self._metrics)
            if is_handshake(method):
                call.bearer = self._on_handshake(head)
        except BaseException:
            self._places.give_back(None)
            raise
        return call


def is_handshake(method: str) -> bool:
    """Whether a call is the one that only authenticates."""
    return method == "HANDSHAKE"


class NoHandshake(flight.ServerAuthHandler):  # type: ignore[misc]
    """Lets gRPC answer a handshake: the call's headers have been read before."""

    def authenticate(self, outgoing: Any, incoming: Any) -> None:
        """Does nothing."""

    def is_valid(self, token: bytes) -> bytes:  # noqa: ARG002
        """Takes all: the handlers find the caller by the headers."""
        return b""
