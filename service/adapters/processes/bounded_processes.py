"""A pool of processes that run functions for all threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar, cast

import structlog

from service.adapters.processes.worker_process import WorkerProcess
from service.model.operations.usage import PoolUse
from service.ports.bounded_calls import Answer, CallGivenUp, no_answer

R = TypeVar("R")
log = structlog.get_logger(__name__)
MEMORY_BYTES = 1536 * 1024**2


class BoundedProcesses:
    """Implements `service.ports.bounded_calls.BoundedCalls`.

    Processes start in the background. A process that was killed is replaced; in the meantime the others
    serve.

    Args:
        count: how many calls run at once.
        within_s: how long a call may take, and how long it may wait for its turn before.
        warm: called once by each process that starts, so that its modules are loaded.
        memory_bytes: address space of a process.
    """

    def __init__(
        self,
        count: int,
        within_s: float,
        warm: tuple[Callable[..., object], tuple[object, ...]],
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._within_s = within_s
        self._memory_bytes = memory_bytes
        self._warm = warm
        self._count = count
        self._starting = 0
        self._idle: queue.LifoQueue[WorkerProcess] = queue.LifoQueue()
        self._lock = threading.Lock()
        self._all: set[WorkerProcess] = set()
        self._is_closed = False
        for _ in range(count):
            self._start()

    @property
    def use(self) -> PoolUse:
        """The current use; a process that is starting counts as busy."""
        return PoolUse(max(self._count - self._idle.qsize(), 0), self._count)

    def call(self, function: Callable[..., R], *arguments: object, answer: Answer = no_answer) -> R:
        """See `service.ports.bounded_calls.BoundedCalls`."""
        try:
            process = self._idle.get(timeout=self._within_s)
        except queue.Empty:
            self._start_missing()
            raise CallGivenUp("no process was free in time", is_busy=True) from None
        try:
            result = process.call(function, arguments, answer, self._within_s)
        except BaseException:
            # The process may be in the middle of a call, so it is replaced.
            self._forget(process)
            self._start()
            raise
        self._idle.put(process)
        return cast(R, result)

    def close(self) -> None:
        """Ends all processes, whatever they are doing."""
        with self._lock:
            self._is_closed = True
            processes, self._all = self._all, set()
        for process in processes:
            process.end()

    def _start_missing(self) -> None:
        """Starts processes that failed to start, for example because the machine had no memory for them."""
        with self._lock:
            missing = self._count - len(self._all) - self._starting
        for _ in range(missing):
            self._start()

    def _start(self) -> None:
        with self._lock:
            self._starting += 1
        threading.Thread(target=self._started, name="start-process", daemon=True).start()

    def _started(self) -> None:
        process = self._process()
        with self._lock:
            self._starting -= 1
            is_wanted = not self._is_closed and process is not None
            if is_wanted and process is not None:
                self._all.add(process)
        if process is None:
            return
        if not is_wanted:
            process.end()
            return
        self._warm_up(process)

    def _process(self) -> WorkerProcess | None:
        try:
            return WorkerProcess(max(int(self._within_s) * 2, 2), self._memory_bytes)
        except OSError as error:
            log.warning("process_not_started", reason=str(error))
            return None

    def _warm_up(self, process: WorkerProcess) -> None:
        function, arguments = self._warm
        try:
            process.warm(function, *arguments)
        except CallGivenUp as failure:
            log.warning("process_not_started", reason=str(failure))
            self._forget(process)
            return
        self._idle.put(process)

    def _forget(self, process: WorkerProcess) -> None:
        with self._lock:
            is_ours = process in self._all
            self._all.discard(process)
        if is_ours:
            process.end()
