"""Requests a second with 1, 8 and 64 clients.

This measures how much a gateway answers at most. Clients with a kept connection each, in a process of their
own on the same machine, send the next request as soon as they have an answer: `select 1`, which Spark runs
each time; the demo's question with `reuseResult: true`, which is answered from an earlier result; and `GET
/healthz`. The numbers of clients take turns, three rounds after a warm-up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from types import MappingProxyType

from matplotlib.figure import Figure

from api.cli.demonstration.demo import QUESTION
from bench.client import SELECT_1, Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.load import SPAWN
from bench.measurement import Measurement, Row, percentile, spread

COUNTS, ROUNDS, FOR_S = (1, 8, 64), 3, 10.0

Outcome = tuple[float, list[float]]
"""Seconds for all, and milliseconds of each."""


def _select_1(client: Client) -> int:
    return client.query(SELECT_1)[0]


def _reused(client: Client) -> int:
    return client.query({**QUESTION, "reuseResult": True})[0]


def _health(client: Client) -> int:
    return client.get("/healthz")[0]


ASKED: Mapping[str, Callable[[Client], int]] = MappingProxyType(
    {"select 1": _select_1, "reused result": _reused, "GET /healthz": _health}
)


def measure(lake: Lake) -> Measurement:
    """Returns the rates and times of each kind of request by the number of clients."""
    found: dict[str, dict[int, list[Outcome]]] = {name: {count: [] for count in COUNTS} for name in ASKED}
    with (
        gateway_process(lake.environment()) as gateway,
        ProcessPoolExecutor(1, mp_context=SPAWN) as clients,
    ):
        for name in ASKED:
            clients.submit(asked, gateway.url, name, max(COUNTS), FOR_S).result()
        for _ in range(ROUNDS):
            for name in ASKED:
                for count in COUNTS:
                    outcome = clients.submit(asked, gateway.url, name, count, FOR_S).result()
                    found[name][count].append(outcome)
    rates = {
        name: {str(count): [len(times) / took_s for took_s, times in of] for count, of in by_count.items()}
        for name, by_count in found.items()
    }
    return Measurement(_rows(found), rates)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the rates by the number of clients."""
    for axes, (name, by_count) in zip(
        figure.subplots(1, len(ASKED)), measurement.samples.items(), strict=True
    ):
        axes.boxplot(list(by_count.values()), tick_labels=list(by_count))
        axes.set(title=name, xlabel="clients")
        axes.set_ylim(bottom=0)
    figure.axes[0].set_ylabel("requests/s")


def asked(url: str, name: str, clients: int, for_s: float) -> Outcome:
    """Asks from so many clients at once for so long.

    Raises:
        RuntimeError: a request failed.
    """
    times_ms: list[float] = []
    failures: list[str] = []
    began = time.monotonic()
    arguments = (url, ASKED[name], began + for_s, times_ms, failures)
    threads = [threading.Thread(target=_client, args=arguments) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise RuntimeError(f"{len(failures)} of {len(times_ms)} requests failed: {failures[0]}")
    return time.monotonic() - began, times_ms


def _client(
    url: str, ask: Callable[[Client], int], until_s: float, times_ms: list[float], failures: list[str]
) -> None:
    client = Client(url)
    while time.monotonic() < until_s:
        began = time.perf_counter()
        status = ask(client)
        times_ms.append((time.perf_counter() - began) * 1000)
        if status != 200:
            failures.append(str(status))
    client.close()


def _rows(found: Mapping[str, Mapping[int, list[Outcome]]]) -> list[Row]:
    rows = []
    for name, by_count in found.items():
        for count, outcomes in by_count.items():
            label = f"{name}, {count} {'client' if count == 1 else 'clients'}"
            times_ms = [time for _, times in outcomes for time in times]
            rows.append(spread(label, [len(times) / took_s for took_s, times in outcomes], "requests/s"))
            rows.append(Row(f"{label}: p95", percentile(times_ms, 95), "ms"))
    return rows
