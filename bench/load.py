"""Load from processes of their own, so that the clients' Python never blocks the gateway's."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any

from bench.client import Client

Outcome = tuple[float, list[float], list[str]]
"""Seconds for all, milliseconds of each, and errors."""
Probe = tuple[float, float]
"""When it was sent, on the machine's monotonic clock, and the milliseconds that the answer took."""

SPAWN = get_context("spawn")


def send_all(url: str, clients: int, bodies: Sequence[dict[str, Any]]) -> Outcome:
    """Sends all bodies from `clients` clients at once, each the next one as soon as it has its answer."""
    waiting: SimpleQueue[dict[str, Any]] = SimpleQueue()
    for body in bodies:
        waiting.put(body)
    times_ms: list[float] = []
    errors: list[str] = []
    threads = [
        threading.Thread(target=_client, args=(url, waiting, times_ms, errors)) for _ in range(clients)
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - started, times_ms, errors


@contextmanager
def health_probes(url: str, interval_s: float) -> Iterator[Callable[[], list[Probe]]]:
    """Asks `/healthz` at this interval from another process, until the yielded function is called."""
    mine, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=_probe, args=(url, interval_s, theirs), daemon=True)
    process.start()
    try:
        mine.recv()

        def stop() -> list[Probe]:
            mine.send("stop")
            samples: list[Probe] = mine.recv()
            return samples

        yield stop
    finally:
        process.join(5)
        process.kill()


def _client(url: str, waiting: SimpleQueue[dict[str, Any]], times_ms: list[float], errors: list[str]) -> None:
    client = Client(url)
    while True:
        try:
            body = waiting.get_nowait()
        except Empty:
            client.close()
            return
        try:
            times_ms.append(client.timed_query_ms(body))
        except (RuntimeError, OSError, HTTPException) as failure:
            errors.append(str(failure))


def _probe(url: str, interval_s: float, stop: Connection) -> None:
    client = Client(url)
    samples: list[Probe] = []
    client.get("/healthz")
    stop.send("started")
    due = time.monotonic()
    while not stop.poll(max(0.0, due - time.monotonic())):
        sent = time.monotonic()
        client.get("/healthz")
        samples.append((sent, (time.monotonic() - sent) * 1000))
        due = max(due + interval_s, sent)
    stop.send(samples)
