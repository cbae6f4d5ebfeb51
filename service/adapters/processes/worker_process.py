"""One child process that runs functions, as its owner sees it."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from service.adapters.processes import worker
from service.adapters.processes.worker import ASK, CALL, FAILED
from service.ports.bounded_calls import Answer, CallGivenUp

# Results are unpickled here, where every other thread waits for it.
_LONGEST_RESULT_BYTES = 8 * 1024**2
_START_S = 60.0


class WorkerProcess:
    """For one thread at a time. After a `CallGivenUp` it cannot be used any more."""

    def __init__(self, cpu_s: int, memory_bytes: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-P", "-m", worker.__name__, str(theirs.fileno())]
            self._process = subprocess.Popen(
                [*command, str(cpu_s), str(memory_bytes)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        self._connection = Connection(ours.detach())

    def warm(self, function: Callable[..., object], *arguments: object) -> None:
        """Returns once the process has started and made this call.

        Raises:
            CallGivenUp: it did not.
        """
        self.call(function, arguments, _nothing_to_ask, _START_S)

    def call(
        self, function: Callable[..., object], arguments: tuple[object, ...], answer: Answer, within_s: float
    ) -> object:
        """See `service.ports.bounded_calls.BoundedCalls`; the time in which `answer` runs does not count."""
        try:
            call = pickle.dumps((CALL, function, arguments), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
            raise CallGivenUp(f"it cannot be sent: {error}") from error
        try:
            self._connection.send_bytes(call)
            return self._result(answer, within_s)
        except (EOFError, OSError) as error:
            raise CallGivenUp("its process ended, by too much memory or time") from error

    def _result(self, answer: Answer, within_s: float) -> object:
        left_s = within_s
        while True:
            began = time.monotonic()
            if not self._connection.poll(max(left_s, 0.0)):
                raise CallGivenUp(f"it took more than {within_s:g} s")
            left_s -= time.monotonic() - began
            kind, value, asked = pickle.loads(self._connection.recv_bytes(_LONGEST_RESULT_BYTES))
            if kind == FAILED:
                raise CallGivenUp(f"it failed: {value}")
            if kind != ASK:
                result: object = value
                return result
            answered = pickle.dumps(answer(value, *asked), pickle.HIGHEST_PROTOCOL)
            self._connection.send_bytes(answered)

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self._connection.close()
        self._process.kill()
        self._process.wait()


def _nothing_to_ask(name: str, *_: object) -> object:
    raise CallGivenUp(f"it asks for {name} before anything was sent")
