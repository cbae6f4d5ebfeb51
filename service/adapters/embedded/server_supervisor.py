"""Restarts a server that has died."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

LOOK_EVERY_S = 0.5
LONGEST_PAUSE_S = 30.0
STOP_WITHIN_S = 5.0

log = structlog.get_logger(__name__)


class ServerSupervisor:
    """Checks a server twice a second in its own thread, and restarts it when it has died.

    If the server does not start, it is tried again after pauses that double, up to half a minute. A
    `start_again` that fails with any of `errors` counts as one try.
    """

    def __init__(
        self,
        name: str,
        is_running: Callable[[], bool],
        start_again: Callable[[], None],
        errors: tuple[type[Exception], ...],
    ) -> None:
        self._name = name
        self._is_running = is_running
        self._start_again = start_again
        self._errors = errors
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"keep-{name}", daemon=True)
        self._thread.start()

    def is_stopped(self) -> bool:
        """Whether the server is no longer needed; one that started at that moment must be ended."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Returns once nothing will be started any more, or after a few seconds."""
        self._stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join(STOP_WITHIN_S)

    def _watch(self) -> None:
        pause_s = LOOK_EVERY_S
        while not self._stopped.wait(pause_s):
            if self._is_running():
                pause_s = LOOK_EVERY_S
                continue
            pause_s = LOOK_EVERY_S if self._has_started() else min(pause_s * 2, LONGEST_PAUSE_S)

    def _has_started(self) -> bool:
        log.error("embedded_server_died", server=self._name)
        try:
            self._start_again()
        except self._errors as error:
            log.error("embedded_server_not_started", server=self._name, reason=str(error))
            return False
        log.info("embedded_server_started_again", server=self._name)
        return True
