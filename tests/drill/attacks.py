"""Building blocks of hostile inputs."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count, islice
from typing import Any

import httpx

from tests.drill.hostile import Attack, Hostile

ATTACK_S = 12.0
PATIENCE_S = 60.0
PART_BYTES = 64 * 1024
JSON = {"Content-Type": "application/json"}


def queries(*texts: str, timeout_s: int = 5, **more: Any) -> Attack:
    """Sends all queries at once, each of them once."""
    body = {"timeout": f"{timeout_s}s", "waitTimeout": "40s"} | more
    return lambda hostile: at_once(
        [partial(_post, hostile, "/query", body | {"sql": text}) for text in texts]
    )


def plans(*texts: str, timeout_s: int = 5) -> Attack:
    """Plans all queries at once, without running them."""
    body = {"timeout": f"{timeout_s}s"}
    return lambda hostile: at_once(
        [partial(_post, hostile, "/explain", body | {"sql": text}) for text in texts]
    )


def posts(path: str, bodies: Sequence[bytes], headers: Mapping[str, str] = JSON) -> Attack:
    """Posts all bodies at once, unchanged."""

    def attack(hostile: Hostile) -> None:
        at_once([partial(_send, hostile, "POST", path, content=body, headers=headers) for body in bodies])

    return attack


def requests(call: Callable[[Hostile, int], object], number: int, at_a_time: int) -> Attack:
    """Makes this number of calls, each with its number, `at_a_time` together, within `PATIENCE_S`."""

    def attack(hostile: Hostile) -> None:
        numbers, until_s = islice(count(), number), time.monotonic() + PATIENCE_S
        lock = threading.Lock()

        def work() -> None:
            while time.monotonic() < until_s:
                with lock:
                    at = next(numbers, None)
                if at is None:
                    return
                with contextlib.suppress(httpx.HTTPError, OSError):
                    call(hostile, at)

        at_once([work] * at_a_time)

    return attack


def flood(text: str, number: int, timeout: str = "30s", at_a_time: int = 1) -> Attack:
    """Sends the same query many times, without waiting for results."""
    body = {"sql": text, "timeout": timeout, "waitTimeout": "0s"}
    return requests(lambda hostile, _: hostile.client.post("/query", json=body), number, at_a_time)


def sockets(number: int, opening: bytes, more: Iterable[bytes] = (), at_a_time: int = 1) -> Attack:
    """Opens connections that send `opening`, then `more`, and nothing else."""
    return opened(number, lambda _: opening, more, at_a_time)


def opened(
    number: int, opening: Callable[[Hostile], bytes], more: Iterable[bytes] = (), at_a_time: int = 8
) -> Attack:
    """Opens connections with the token; they are held for a while, and nothing is read from them."""

    def attack(hostile: Hostile) -> None:
        with contextlib.ExitStack() as stack:
            lock = threading.Lock()

            def work() -> None:
                for _ in range(number // at_a_time):
                    with contextlib.suppress(OSError):
                        connection = socket.create_connection(hostile.address, 10)
                        with lock:
                            stack.enter_context(connection)
                        connection.sendall(opening(hostile))
                        for chunk in more:
                            connection.sendall(chunk)

            at_once([work] * at_a_time)
            threading.Event().wait(ATTACK_S)

    return attack


def hang_up(hostile: Hostile, head: bytes, body: bytes) -> None:
    """Sends a request, and closes the connection before its answer."""
    with socket.create_connection(hostile.address, 10) as connection:
        connection.sendall(head + body)


def at_once(calls: Sequence[Callable[[], object]]) -> None:
    """Makes each call in a thread of its own, and returns after a bounded time in any case."""
    threads = [threading.Thread(target=call, daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    until_s = time.monotonic() + PATIENCE_S
    for thread in threads:
        thread.join(max(0.0, until_s - time.monotonic()))


def _post(hostile: Hostile, path: str, body: Mapping[str, Any]) -> None:
    _send(hostile, "POST", path, json=body)


def _send(hostile: Hostile, method: str, path: str, **sent: Any) -> None:
    with contextlib.suppress(httpx.HTTPError):
        hostile.client.request(method, path, **sent)
