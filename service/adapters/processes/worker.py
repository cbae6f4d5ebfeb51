"""The child process: runs the functions that it receives, one after the other."""

from __future__ import annotations

import pickle
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection

CALL, ASK, DONE, FAILED = "call", "ask", "done", "failed"
# Syntax trees are as deep as the nesting of their text, and pickling them is recursive.
_STACK_BYTES = 256 * 1024**2
_DEEPEST = 50_000


def serve(connection: Connection, cpu_s: int, memory_bytes: int) -> None:
    """Answers until the other side is gone. A call that exceeds its CPU time ends the process."""
    _limit(resource.RLIMIT_AS, memory_bytes)
    while True:
        try:
            _, function, arguments = pickle.loads(connection.recv_bytes())
        except EOFError:
            return
        _limit_cpu(cpu_s)
        connection.send_bytes(_outcome(connection, function, arguments))


def _outcome(connection: Connection, function: Callable[..., object], arguments: tuple[object, ...]) -> bytes:
    def ask(name: str, *asked: object) -> object:
        connection.send_bytes(pickle.dumps((ASK, name, asked), pickle.HIGHEST_PROTOCOL))
        return pickle.loads(connection.recv_bytes())

    try:
        return pickle.dumps((DONE, function(ask, *arguments), ()), pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001
        # The outermost edge of this process: the other side reports the error.
        return pickle.dumps((FAILED, traceback.format_exc(limit=-5), ()))


def _limit_cpu(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    # If the gateway was killed in the meantime, nothing else would end this process.
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + seconds)


def _limit(resource_id: int, wanted: int) -> None:
    """Sets a limit, as far as the operator's own limit for all processes of the gateway permits it."""
    _, hard = resource.getrlimit(resource_id)
    resource.setrlimit(resource_id, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def main() -> None:
    """Serves the file descriptor in the first argument."""
    descriptor, cpu_s, memory_bytes = map(int, sys.argv[1:4])
    # Ctrl-C in a terminal is for the gateway, which stops this process in its own order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.setrecursionlimit(_DEEPEST)
    threading.stack_size(_STACK_BYTES)
    thread = threading.Thread(target=serve, args=(Connection(descriptor), cpu_s, memory_bytes))
    thread.start()
    thread.join()


if __name__ == "__main__":
    main()
