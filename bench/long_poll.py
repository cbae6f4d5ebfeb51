"""A thousand clients wait for one slow query.

This measures the cost of a client that only waits. One query of about 20 s on one core is sent. 1,000 clients
in a process of their own, a connection each, ask for it with `GET /query/{id}?waitTimeout=50s`. Memory and
threads of the gateway's Python process are read every 50 ms from idle, after a warm-up, to a moment after the
last answer. The process needs as many open files as it has clients: the bench raises the limit; an operator
does so with `ulimit -n` or `LimitNOFILE`.
"""

from __future__ import annotations

import time
from collections import Counter
from multiprocessing.connection import Connection
from typing import Any

import orjson
import psutil
from matplotlib.figure import Figure

from bench.client import SELECT_1, Client
from bench.gateway_process import GatewayProcess, gateway_process
from bench.lakehouse import Lake
from bench.load import SPAWN
from bench.long_poll_clients import raise_file_limit, wait_together
from bench.measurement import Measurement, Row

CLIENTS, SLOW_S, SAMPLE_EVERY_S = 1000, 20.0, 0.05
CALIBRATION_ROWS = 2_000_000
TARGET_MB = 300.0
MB = 1024 * 1024

Sample = tuple[float, float, int]
"""Seconds since the first, resident MB, threads."""


def measure(lake: Lake) -> Measurement:
    """Returns memory over idle, threads, and which clients got the answer."""
    limit = raise_file_limit()
    count = min(CLIENTS, limit - 100)
    with gateway_process(lake.environment()) as gateway:
        client = Client(gateway.url)
        rows = _rows_of_a_slow_query(client)
        idle = _sample(gateway, time.monotonic())
        query = orjson.loads(client.query({"sql": _sql(rows), "waitTimeout": "0s"})[1])
        samples, waiting_at_s, answers = _observe(gateway, f"{query['links']['self']}?waitTimeout=50s", count)
        client.close()
    remarks = () if count == CLIENTS else (f"Only {count} clients: more files may not be open here.",)
    return Measurement(
        _rows(idle, samples, waiting_at_s, answers, count),
        {"idle": idle, "samples": samples, "waiting_at_s": waiting_at_s},
        remarks,
    )


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws memory and threads over time."""
    memory = figure.subplots()
    samples = measurement.samples["samples"]
    times = [sample[0] for sample in samples]
    memory.plot(times, [sample[1] for sample in samples], label="resident memory, MB")
    memory.plot(times, [sample[2] for sample in samples], label="threads")
    memory.axhline(measurement.samples["idle"][1], color="grey", linestyle=":", label="idle")
    memory.axvline(measurement.samples["waiting_at_s"], color="grey", linewidth=0.5)
    memory.set(xlabel="s (the line: all have asked)", ylim=(0, None))
    memory.legend()


def _sql(rows: int) -> str:
    return f"SELECT max(sha2(CAST(id AS STRING), 256)) FROM range(0, {rows}, 1, 1)"


def _rows_of_a_slow_query(client: Client) -> int:
    for _ in range(20):
        client.timed_query_ms(SELECT_1)
    times_ms = [client.timed_query_ms({"sql": _sql(CALIBRATION_ROWS)}) for _ in range(3)]
    return int(CALIBRATION_ROWS * SLOW_S * 1000 / times_ms[-1])


def _observe(
    gateway: GatewayProcess, path: str, count: int
) -> tuple[list[Sample], float, list[tuple[str, float]]]:
    mine, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=wait_together, args=(gateway.url, path, count, theirs), daemon=True)
    process.start()
    started = time.monotonic()
    samples: list[Sample] = []
    _receive(mine, gateway, started, samples)
    waiting_at_s = time.monotonic() - started
    answers: list[tuple[str, float]] = _receive(mine, gateway, started, samples)
    for _ in range(20):
        mine.poll(SAMPLE_EVERY_S)
        samples.append(_sample(gateway, started))
    process.join(10)
    return samples, waiting_at_s, [(state, at - started) for state, at in answers]


def _receive(mine: Connection, gateway: GatewayProcess, started: float, samples: list[Sample]) -> Any:
    while not mine.poll(SAMPLE_EVERY_S):
        samples.append(_sample(gateway, started))
    return mine.recv()


def _sample(gateway: GatewayProcess, started: float) -> Sample:
    process: psutil.Process = gateway.process
    return time.monotonic() - started, process.memory_info().rss / MB, process.num_threads()


def _rows(
    idle: Sample, samples: list[Sample], waiting_at_s: float, answers: list[tuple[str, float]], count: int
) -> list[Row]:
    times = [at for _, at in answers]
    waiting = [sample for sample in samples if waiting_at_s <= sample[0] < min(times)]
    over = max(sample[1] for sample in samples) - idle[1]
    threads = max(sample[2] for sample in samples) - idle[2]
    answered = Counter(state for state, _ in answers)["SUCCEEDED"]
    added = max((measured[1] for measured in waiting), default=idle[1]) - idle[1]
    return [
        Row("resident memory, idle", idle[1], "MB"),
        Row("over idle, while all wait", added, "MB"),
        Row("over idle, at most (answers included)", over, "MB", target="< 300 MB", is_met=over < TARGET_MB),
        Row("per waiting client", added * 1024 / count, "kB"),
        Row("threads, idle", idle[2], ""),
        Row("threads more, at most", threads, "", target="not one per client", is_met=threads < count / 10),
        Row("clients that got the answer", answered, "", target=f"all {count}", is_met=answered == count),
        Row("all waited for", min(times) - waiting_at_s, "s"),
        Row("from the first answer to the last", max(times) - min(times), "s"),
    ]
