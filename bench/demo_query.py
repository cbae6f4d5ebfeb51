"""The demo's question, cold and warm, and how long a start takes.

This measures what a newcomer sees. *First ever* is the time from `sluice serve` on an empty data directory
until `/readyz` says yes (PostgreSQL is initialized and the metrics store created; the jars are already
there). *Again* is the same with that directory. Then three fresh gateways on the demo's lakehouse are asked
the demo's question once each (cold), and the last one 20 times more (warm).
"""

from __future__ import annotations

import shutil

from matplotlib.figure import Figure

from api.cli.demonstration.demo import QUESTION
from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake, clean_environment, share_jars
from bench.measurement import Measurement, Row, spread

STARTS, COLD, WARM = 2, 3, 20
TARGET_START_S = 20.0


def measure(lake: Lake) -> Measurement:
    """Returns seconds to ready, and milliseconds to the answer."""
    cold: list[float] = []
    on_the_lake: list[float] = []
    for _ in range(COLD):
        with gateway_process(lake.environment()) as gateway:
            client = Client(gateway.url)
            on_the_lake.append(gateway.ready_s)
            cold.append(client.timed_query_ms(QUESTION))
            warm = [client.timed_query_ms(QUESTION) for _ in range(WARM)] if len(cold) == COLD else []
            client.close()
    first, *again = _starts(lake)
    return Measurement(
        _rows(first, again, cold, warm), {"first": first, "again": again, "cold": cold, "warm": warm}
    )


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the question's times in order, and the starts."""
    left, right = figure.subplots(1, 2)
    samples = measurement.samples
    times = [samples["cold"][-1], *samples["warm"]]
    left.bar(range(1, len(times) + 1), times, color=["tab:orange"] + ["tab:blue"] * len(samples["warm"]))
    left.set(xlabel="the demo's question, nth time", ylabel="ms")
    starts = [samples["first"], *samples["again"]]
    right.bar([f"start {index + 1}" for index in range(len(starts))], starts)
    right.axhline(TARGET_START_S, color="grey", linestyle=":")
    right.set_ylabel("s until ready")


def _starts(lake: Lake) -> list[float]:
    folder = lake.data_dir / "first-start"
    shutil.rmtree(folder, ignore_errors=True)
    share_jars(lake.data_dir, folder)
    ready_s = []
    for _ in range(1 + STARTS):
        with gateway_process(clean_environment(folder)) as gateway:
            ready_s.append(gateway.ready_s)
    shutil.rmtree(folder, ignore_errors=True)
    return ready_s


def _rows(first: float, again: list[float], cold: list[float], warm: list[float]) -> list[Row]:
    second = again[0]
    return [
        Row("start to ready, first ever", first, "s"),
        Row("start to ready, second", second, "s", target="< 20 s", is_met=second < TARGET_START_S),
        spread("start to ready, all but the first", again, "s"),
        spread("the demo's question, cold", cold),
        spread("the demo's question, warm", warm),
        Row("cold to warm", spread("", cold).value / spread("", warm).value, "times"),
    ]
