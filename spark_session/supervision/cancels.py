"""Delivers cancellations without blocking callers, even if the JVM does not answer."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from uuid import UUID

import structlog

from spark_session.java.jvm import UNREACHABLE

log = structlog.get_logger(__name__)


class Cancels:
    """Delivers one query's cancellation after the other, in a thread of its own.

    A repeated request for a query that still waits for delivery adds nothing.
    """

    def __init__(self, cancel: Callable[[str], None]) -> None:
        self._cancel = cancel
        self._lock = threading.Lock()
        self._waiting: set[UUID] = set()
        self._queue: queue.SimpleQueue[UUID | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="engine-cancels", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends after the waiting cancellations; a call that hangs ends with its JVM."""
        self._queue.put(None)

    def ask(self, query_id: UUID) -> None:
        """Queues the cancellation and returns at once."""
        with self._lock:
            if query_id in self._waiting:
                return
            self._waiting.add(query_id)
        self._queue.put(query_id)

    def _run(self) -> None:
        while (query_id := self._queue.get()) is not None:
            with self._lock:
                self._waiting.discard(query_id)
            try:
                self._cancel(str(query_id))
            except UNREACHABLE as failure:
                # A dead JVM runs nothing that could be canceled.
                log.info("cancel_not_delivered", error=type(failure).__name__)
