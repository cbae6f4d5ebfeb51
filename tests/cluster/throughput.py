"""Queries per second through the balancer and from the single process, in turn."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from http.client import HTTPConnection, HTTPException
from multiprocessing import get_context
from typing import Any
from urllib.parse import urlsplit

import orjson
from rich.console import Console

from api.cli.demonstration.demo import QUESTION
from tests.cluster.findings import Finding
from tests.cluster.place import Place, step

BODIES: Mapping[str, dict[str, Any]] = {"select 1": {"sql": "SELECT 1"}, "demo's question": dict(QUESTION)}
CLIENTS = 4
WARM_UP_S, ROUND_S, ROUNDS = 8.0, 8.0, 5


def throughput(place: Place, console: Console) -> Iterator[Finding]:
    """Yields the medians of both and of the rounds' ratios, with their extremes."""
    urls = {"cluster": place.balancer.url, "one process": place.alone.url}
    tokens = list(place.tokens.values())
    with (
        step(console, f"throughput, {CLIENTS} clients") as say,
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as clients,
    ):

        def answered(way: str, body: dict[str, Any], seconds: float) -> float:
            return clients.submit(per_second, urls[way], tokens, body, seconds).result()

        for name, body in BODIES.items():
            found: dict[str, list[float]] = {way: [] for way in urls}
            for way in urls:
                answered(way, body, WARM_UP_S)
            for number in range(ROUNDS):
                say(f"{name}, round {number + 1} of {ROUNDS}")
                for way in reversed(urls) if number % 2 else urls:
                    found[way].append(answered(way, body, ROUND_S))
            yield from _findings(name, found)


def per_second(url: str, tokens: Sequence[str], body: dict[str, Any], seconds: float) -> float:
    """Returns queries per second, over clients that ask again as soon as they are answered.

    Raises:
        RuntimeError: a query did not succeed.
    """
    ended = time.monotonic() + seconds
    counts, faults = [0] * CLIENTS, []

    def ask(number: int) -> None:
        client = _Client(url, tokens[number % len(tokens)])
        try:
            while time.monotonic() < ended:
                client.ask(body)
                counts[number] += 1
        except (OSError, HTTPException, RuntimeError) as failure:
            faults.append(str(failure))
        finally:
            client.close()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise RuntimeError(faults[0])
    return sum(counts) / (time.monotonic() - began)


class _Client:
    """A minimal client, as it uses the same cores."""

    def __init__(self, url: str, token: str) -> None:
        address = urlsplit(url)
        self._connection = HTTPConnection(address.hostname or "", address.port, timeout=120)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, body: dict[str, Any]) -> None:
        sent = orjson.dumps({"waitTimeout": "50s", **body})
        self._connection.request("POST", "/query", sent, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {content[:500]!r}")

    def close(self) -> None:
        self._connection.close()


def _findings(name: str, found: Mapping[str, Sequence[float]]) -> Iterator[Finding]:
    for way, rates in found.items():
        yield Finding(f"{name}: {way}", f"{_spread(rates)} queries/s")
    ratios = [many / one for many, one in zip(found["cluster"], found["one process"], strict=True)]
    yield Finding(f"{name}: cluster to one process", f"{_spread(ratios)} times")


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.3g} ({min(values):.3g}-{max(values):.3g})"
