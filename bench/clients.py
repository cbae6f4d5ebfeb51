"""Sixteen clients at once against four, and whether the gateway still answers its probe.

This measures whether more clients than workers slow the gateway down or make it fall silent. Four and 16
clients in turn, three rounds of each, send the same 48 queries (three times `select 1`, then the demo's
question, and so on) from a process of their own. At the same time, another process asks `/healthz` every 20
ms. The ratio of throughputs is the median over the rounds.
"""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ProcessPoolExecutor

from matplotlib.figure import Figure

from api.cli.demonstration.demo import QUESTION
from bench.client import SELECT_1
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.load import SPAWN, Outcome, Probe, health_probes, send_all
from bench.measurement import Measurement, Row, percentile, spread

FEW, MANY = 4, 16
ROUNDS, QUERIES = 3, 48
PROBE_EVERY_S, IDLE_S = 0.02, 3.0
TARGET_HEALTH_MS = 50.0


def measure(lake: Lake) -> Measurement:
    """Returns the throughput of both, errors, and the probe's percentiles."""
    bodies = [SELECT_1, SELECT_1, SELECT_1, QUESTION] * (QUERIES // 4)
    windows: dict[int, list[tuple[float, float]]] = {0: [], FEW: [], MANY: []}
    outcomes: dict[int, list[Outcome]] = {FEW: [], MANY: []}
    with (
        gateway_process(lake.environment()) as gateway,
        ProcessPoolExecutor(1, mp_context=SPAWN) as clients,
    ):
        clients.submit(send_all, gateway.url, MANY, bodies).result()
        with health_probes(gateway.url, PROBE_EVERY_S) as stop_probes:
            started = time.monotonic()
            time.sleep(IDLE_S)
            windows[0].append((started, time.monotonic()))
            for _ in range(ROUNDS):
                for count in (FEW, MANY):
                    started = time.monotonic()
                    outcomes[count].append(clients.submit(send_all, gateway.url, count, bodies).result())
                    windows[count].append((started, time.monotonic()))
            probes = stop_probes()
    health = {count: _within(probes, window) for count, window in windows.items()}
    samples = {
        "health_ms": {str(count): took_ms for count, took_ms in health.items()},
        "per_s": {str(count): [len(o[1]) / o[0] for o in outcome] for count, outcome in outcomes.items()},
        "errors": [error for outcome in outcomes.values() for o in outcome for error in o[2]],
    }
    return Measurement(_rows(outcomes, health), samples)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the throughput per round, and the probe's times."""
    left, right = figure.subplots(1, 2)
    for count, values in measurement.samples["per_s"].items():
        left.plot(range(1, len(values) + 1), values, "o-", label=f"{count} clients")
    left.set(xlabel="round", ylabel="queries/s")
    left.set_ylim(bottom=0)
    left.legend()
    for count, values in measurement.samples["health_ms"].items():
        ordered = sorted(values)
        shares = [100 * (position + 1) / len(ordered) for position in range(len(ordered))]
        right.plot(ordered, shares, label=f"{count} clients" if count != "0" else "idle")
    right.axvline(TARGET_HEALTH_MS, color="grey", linestyle=":")
    right.set(xscale="log", xlabel="/healthz, ms", ylabel="percent answered")
    right.legend()


def _within(probes: list[Probe], windows: list[tuple[float, float]]) -> list[float]:
    return [took_ms for sent, took_ms in probes if any(begin <= sent <= end for begin, end in windows)]


def _rows(outcomes: dict[int, list[Outcome]], health: dict[int, list[float]]) -> list[Row]:
    per_s = {count: [len(outcome[1]) / outcome[0] for outcome in of] for count, of in outcomes.items()}
    ratios = [many / few for many, few in zip(per_s[MANY], per_s[FEW], strict=True)]
    ratio = statistics.median(ratios)
    errors = sum(len(outcome[2]) for of in outcomes.values() for outcome in of)
    p99 = percentile(health[MANY], 99)
    return [
        *(spread(f"throughput, {count} clients", per_s[count], "queries/s") for count in (FEW, MANY)),
        Row("throughput, 16 to 4", ratio, "", min(ratios), max(ratios), "not below 1", ratio >= 1),
        Row("errors", errors, "", target="none", is_met=errors == 0),
        *(
            spread(f"a query, {count} clients", [ms for o in outcomes[count] for ms in o[1]])
            for count in outcomes
        ),
        Row("/healthz p50, idle", percentile(health[0], 50), "ms"),
        Row("/healthz p99, idle", percentile(health[0], 99), "ms"),
        Row("/healthz p99, 4 clients", percentile(health[FEW], 99), "ms"),
        Row("/healthz p50, 16 clients", percentile(health[MANY], 50), "ms"),
        Row("/healthz p99, 16 clients", p99, "ms", target="< 50 ms", is_met=p99 < TARGET_HEALTH_MS),
    ]
