"""Gives requests access to the gateway, which is built while the server already answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import structlog
from anyio import CapacityLimiter, to_thread

from api.http.lane import Gone, Lane, LaneUse
from api.http.middleware.request_caller import calling
from api.http.shared_calls import SharedCalls
from api.http.waiting import ClientGone
from service.errors.gateway_error import CannotStart
from service.errors.ingest_errors import IngestCanceled, TooManyIngests
from service.errors.unavailable import EngineNotReady, GatewayBusy, ShuttingDown
from service.gateway import Gateway
from service.model.operations.health import Liveness, PartHealth, PartState, Readiness
from service.single_flight import SingleFlight

GatewayFactory = Callable[[], Gateway]
IsCanceled = Callable[[], bool]
OnFailedStart = Callable[[CannotStart], None]

_THREADS_PER_CALLER = 16
_SPARE_THREADS = 4
# A caller who retries sooner would meet the same long calls.
_LONG_RETRY_S = 10
_log = structlog.stdlib.get_logger("api.door")
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessBounds:
    """How many long calls of one caller run at once, and how long short and long calls wait for a place."""

    long_calls: int = 4
    wait_s: float = 30.0
    long_wait_s: float = 60.0


class GatewayAccess:
    """Holds the gateway once it is built. Its methods must be called on the event loop's thread."""

    def __init__(
        self, factory: GatewayFactory, on_failed_start: OnFailedStart, bounds: AccessBounds = AccessBounds()
    ) -> None:
        self._factory = factory
        self._on_failed_start = on_failed_start
        self._gateway: Gateway | None = None
        self._opening: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._is_leaving = False
        self._calls = Lane(_THREADS_PER_CALLER, bounds.wait_s, GatewayBusy, _SPARE_THREADS)
        self._long_ones = Lane(bounds.long_calls, bounds.long_wait_s, _too_many_long_ones, spare_places=1)
        # One at a time: each blocks the interpreter for a while, and the event loop runs in between.
        self._readers = Lane(1, bounds.wait_s, GatewayBusy)
        # Each reads a whole result, and no caller keeps another one from its own.
        self._file_writers = Lane(1, bounds.wait_s, GatewayBusy, spare_places=1)
        self._files: SharedCalls[Hashable, Any] = SharedCalls(
            self._file_writers, bounds.wait_s, _file_not_written
        )
        # In threads of their own, so that they are answered while every other thread waits for a catalog.
        self._probes: SingleFlight[str, Readiness] = SingleFlight()
        self._builders = CapacityLimiter(1)
        self._listeners: list[Callable[[], PartHealth | None]] = []

    @property
    def gateway(self) -> Gateway:
        """Returns the gateway.

        Raises:
            EngineNotReady: it is not built yet.
            ShuttingDown: it is closing.
        """
        if self._closing is not None:
            raise ShuttingDown
        if self._gateway is None:
            raise EngineNotReady("The engine is starting. Try again in a few seconds.")
        return self._gateway

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a blocking call in one of a bounded number of threads, in turns by caller.

        Raises:
            GatewayBusy: no thread was free in time.
        """
        return await self._calls.run(lambda: function(*args, **kwargs), caller=calling.get())

    async def read(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs the parsing of a large body in a thread, one at a time, in turns by caller.

        Raises:
            GatewayBusy: the call's turn did not come in time.
        """
        return await self._readers.run(lambda: function(*args, **kwargs), caller=calling.get())

    async def call_long(self, function: Callable[[IsCanceled], T], gone: Gone) -> T:
        """Runs a call that may take minutes and much memory: a few at once, without delaying other calls.

        The function can ask whether the client has hung up, and end early.

        Raises:
            TooManyIngests: no place was free in time.
            ClientGone: the client hung up before a place was free, or the function ended because of it.
        """
        left = threading.Event()
        watching = asyncio.create_task(gone())
        watching.add_done_callback(lambda _: left.set())
        try:
            return await self._long_ones.run(
                lambda: function(left.is_set), lambda: _ended(watching), calling.get()
            )
        except IngestCanceled:
            raise ClientGone from None
        finally:
            watching.cancel()

    async def write_file(self, key: Hashable, function: Callable[[], T], caller: str) -> T:
        """Runs the writing of a file of a result, one call for each key: requests share it.

        It goes on if its client hangs up.

        Raises:
            GatewayBusy: it was not done in time.
        """
        written: T = await self._files.run(key, function, caller)
        return written

    def lanes(self) -> Mapping[str, LaneUse]:
        """Counts the running and waiting calls of each lane."""
        lanes = {
            "calls": self._calls,
            "long_calls": self._long_ones,
            "readers": self._readers,
            "file_writers": self._file_writers,
        }
        return {name: lane.use for name, lane in lanes.items()}

    def liveness(self) -> Liveness:
        """Whether the process can still recover by itself. A start and a stop have bounds of their own."""
        if self._closing is not None or self._gateway is None:
            return Liveness()
        return self._gateway.liveness()

    async def readiness(self) -> Readiness:
        """Returns the state of the parts; while the gateway is built, only that its engine is starting."""
        if self._is_leaving or self._closing is not None:
            return _engine_is(PartState.DOWN, "The gateway is shutting down.")
        if self._gateway is None:
            return _engine_is(PartState.STARTING, "The engine is starting.")
        # Requests that come during a probe share its answer: a part that hangs does not build a queue.
        probe = self._probes.start("readiness", self._gateway.readiness)
        found = await asyncio.shield(asyncio.wrap_future(probe))
        listeners = (health() for health in self._listeners)
        return Readiness((*found.parts, *(part for part in listeners if part is not None)))

    def watch(self, health: Callable[[], PartHealth | None]) -> None:
        """Adds a listener of another protocol to the parts that `readiness` reports."""
        self._listeners.append(health)

    def fail(self, error: CannotStart) -> None:
        """Ends the process, because another part of its start has failed."""
        self._on_failed_start(error)

    def open(self) -> None:
        """Begins to build the gateway in a thread."""
        self._opening = asyncio.create_task(self._open())

    async def opened(self) -> None:
        """Waits until the gateway is built, or its start has failed."""
        if self._opening is not None:
            await asyncio.shield(self._opening)

    async def _open(self) -> None:
        try:
            self._gateway = await to_thread.run_sync(self._factory, limiter=self._builders)
        except CannotStart as error:
            self._on_failed_start(error)
        except ShuttingDown:
            _log.info("start_stopped")
        except Exception:  # noqa: BLE001
            # The outermost edge of the start: an unexpected error must end the process too, not leave it half
            # alive.
            _log.exception("start_crashed")
            self._on_failed_start(CannotStart("The gateway failed to start. The log has the cause."))

    @property
    def has_opened(self) -> bool:
        """Whether the gateway is built, so that requests may be sent to it."""
        return self._gateway is not None

    def leave(self) -> None:
        """Reports that the gateway is not ready, so that no more clients come. Requests are still served."""
        self._is_leaving = True

    def begin_drain(self) -> None:
        """Takes no more queries. Those that run go on, and their results can be read."""
        if self._gateway is not None:
            self._gateway.begin_drain()

    def is_drained(self) -> bool:
        """Whether there is nothing to wait for any more."""
        return self._gateway is None or self._gateway.is_drained()

    def begin_close(self, within_s: float | None = None) -> None:
        """Begins to close the gateway. Requests in progress go on.

        `within_s` is the time that queries still have to end.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(within_s))

    async def close(self) -> None:
        """Closes the gateway, after its start has ended: a start in a thread cannot be interrupted."""
        self.begin_close()
        if self._closing is not None:
            await asyncio.shield(self._closing)

    async def _close(self, within_s: float | None) -> None:
        if self._opening is not None:
            with suppress(asyncio.CancelledError):
                await self._opening
        if self._gateway is not None:
            gateway, self._gateway = self._gateway, None
            await to_thread.run_sync(gateway.close, within_s, limiter=self._builders)


def _engine_is(state: PartState, detail: str) -> Readiness:
    return Readiness((PartHealth("engine", state, detail, is_required=True),))


def _file_not_written() -> GatewayBusy:
    return GatewayBusy("The file of this result is still being written. Try again in a few seconds.")


async def _ended(task: asyncio.Task[None]) -> None:
    await asyncio.wait({task})


def _too_many_long_ones() -> TooManyIngests:
    return TooManyIngests(
        "This gateway is already writing as many large ingests as it accepts at once, and none ended in"
        " time. Try again later.",
        retry_after_s=_LONG_RETRY_S,
    )
