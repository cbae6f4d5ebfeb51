"""`select 1` of one caller beside 0, 1, 2, 4 and 8 heavy queries of others.

This measures whether heavy queries hold up another caller's short one. In each round, for each number of
heavy queries in turn, two callers start them, half each. They have thousands of tasks of about a second. A
third caller asks `select 1`, and then for a count over a thousand numbers, which needs a task and so a core.
Then the heavy queries are canceled. The gateway has its default settings, so of eight heavy queries five run
and three wait.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence

import orjson
from matplotlib.figure import Figure

from bench.client import SELECT_1, Client
from bench.gateway_process import POLL_S, gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, percentile

HEAVY_COUNTS = (0, 1, 2, 4, 8)
ROUNDS, SAMPLES, WARM_UP = 4, 15, 20
TARGET_MS = 2_000.0
AT_ONCE = 5
"""Heavy queries that run at once by default on two cores: four workers, and one place more."""
STARTED_WITHIN_S = 60.0
HEAVY = "SELECT sum(hash(id)) AS s FROM range(0, 1000000000000, 1, 10000)"
ONE_TASK = {"sql": "SELECT count(*) FROM range(0, 1000, 1, 1) WHERE id % 3 = 1"}
ASKED = {"select 1": SELECT_1, "one task": ONE_TASK}
TOKENS = {"heavy1": "bench-heavy-1", "heavy2": "bench-heavy-2", "light": "bench-light"}


def measure(lake: Lake) -> Measurement:
    """Returns the percentiles of both queries beside each number of heavy ones."""
    samples: dict[str, dict[int, list[float]]] = {
        name: {count: [] for count in HEAVY_COUNTS} for name in ASKED
    }
    hashes = {caller: hashlib.sha256(token.encode()).hexdigest() for caller, token in TOKENS.items()}
    tokens = {"SLUICE_API_TOKENS": orjson.dumps(hashes).decode()}
    with gateway_process(lake.environment() | tokens) as gateway:
        light = _client(gateway.url, "light")
        heavy = [_client(gateway.url, caller) for caller in ("heavy1", "heavy2")]
        for body in ASKED.values():
            for _ in range(WARM_UP):
                light.timed_query_ms(body)
        for _ in range(ROUNDS):
            for count in HEAVY_COUNTS:
                running = _start(heavy, count)
                for name, body in ASKED.items():
                    samples[name][count] += [light.timed_query_ms(body) for _ in range(SAMPLES)]
                _cancel(running)
        for client in (light, *heavy):
            client.close()
    by_text = {name: {str(count): of[count] for count in HEAVY_COUNTS} for name, of in samples.items()}
    return Measurement(_rows(samples), by_text)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the times of both queries by the number of heavy ones."""
    for axes, (name, by_count) in zip(
        figure.subplots(1, len(ASKED), sharey=True), measurement.samples.items(), strict=True
    ):
        axes.boxplot(list(by_count.values()), tick_labels=list(by_count), whis=(0, 95), showfliers=False)
        axes.axhline(TARGET_MS, color="grey", linestyle=":")
        axes.set(title=name, xlabel="heavy queries", yscale="log")
    figure.axes[0].set_ylabel("ms, up to p95")


def _rows(samples: dict[str, dict[int, list[float]]]) -> list[Row]:
    rows = []
    for name, by_count in samples.items():
        for count, of in by_count.items():
            p95, label = percentile(of, 95), f"{name}, {count} heavy"
            is_target = name == "select 1" and count == 4
            rows.append(Row(f"{label}: p50", percentile(of, 50), "ms", min(of), max(of)))
            rows.append(
                Row(f"{label}: p95", p95, "ms", target="≤ 2 s", is_met=p95 <= TARGET_MS)
                if is_target
                else Row(f"{label}: p95", p95, "ms")
            )
    return rows


def _client(url: str, caller: str) -> Client:
    return Client(url, {"Authorization": f"Bearer {TOKENS[caller]}"})


def _start(heavy: Sequence[Client], count: int) -> list[tuple[Client, str]]:
    """Starts so many heavy queries, and returns once as many run as may."""
    body = orjson.dumps({"sql": HEAVY, "waitTimeout": "0s"})
    started = []
    for number in range(count):
        client = heavy[number % len(heavy)]
        _, answer = client.post("/query", body)
        started.append((client, orjson.loads(answer)["queryId"]))
    deadline = time.monotonic() + STARTED_WITHIN_S
    while sum(_state(*one) == "RUNNING" for one in started) < min(count, AT_ONCE):
        if time.monotonic() > deadline:
            raise RuntimeError("The heavy queries do not run.")
        time.sleep(POLL_S)
    return started


def _cancel(started: Sequence[tuple[Client, str]]) -> None:
    for client, query_id in started:
        client.delete(f"/query/{query_id}")
    while any(_state(client, query_id) in ("QUEUED", "RUNNING") for client, query_id in started):
        time.sleep(POLL_S)


def _state(client: Client, query_id: str) -> str:
    state: str = orjson.loads(client.get(f"/query/{query_id}")[1])["status"]["state"]
    return state
