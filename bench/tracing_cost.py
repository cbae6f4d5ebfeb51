"""`select 1` without traces, with traces that are not sampled, and with each recorded.

One gateway process is asked by one client with one kept connection. The three ways take turns, each round in
another order: 300 rounds after a warm-up. *Off*: no tracer, as without `SLUICE_TRACES_ENDPOINT`. *Not
sampled*: the caller's `traceparent` says so. *Recorded*: every span goes to a collector in a process of its
own, which drops it. Each sample begins when the work that follows the previous answer is done. *Back to back*
is the same without that pause, in turns of 50. The cost of an unrecorded step is measured alone, a hundred
thousand times, and multiplied by the spans of one query.
"""

from __future__ import annotations

import secrets
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import orjson
from matplotlib.figure import Figure
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from api.bootstrap.settings import Settings
from api.bootstrap.tracing.exporting import Exporting
from bench.client import SELECT_1, Client
from bench.discarding_collector import discarding_collector
from bench.hosted_gateway import HostedGateway, hosted_gateway
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from service import tracing
from service.tracing import step

WARM_UP, ROUNDS, HASTY, HASTY_TURNS, STEPS = 150, 300, 50, 6, 100_000
OFF, UNSAMPLED, RECORDED = "off", "not sampled", "recorded"
MOST_OFF_PERCENT = 0.5
Ask = Callable[[], float]


def measure(lake: Lake) -> Measurement:
    """Returns the medians and their ratios."""
    with discarding_collector() as endpoint, _exporting(endpoint) as (exporting, counter):
        with hosted_gateway(lake) as hosted:
            client = Client(hosted.url)
            ways = _ways(exporting, hosted, client)
            for _ in range(WARM_UP):
                for way in ways.values():
                    way()
            samples = _in_turns(ways, ROUNDS)
            hasty = _in_turns(_ways(exporting, None, client), HASTY_TURNS, HASTY)
            tracing.use(exporting.tracer)
            span_count = _spans_of_one(hosted, client, counter)
            tracing.use(None)
            client.close()
        step_us = _step_us()
    off = statistics.median(samples[OFF])
    percent = span_count * step_us / (off * 1000) * 100
    rows = [
        *(spread(name, samples[name]) for name in ways),
        _ratio(UNSAMPLED, samples),
        _ratio(RECORDED, samples),
        *(spread(f"back to back: {name}", hasty[name]) for name in ways),
        _ratio(UNSAMPLED, hasty, "back to back: "),
        _ratio(RECORDED, hasty, "back to back: "),
        Row("spans of one query", span_count, ""),
        Row("off: one step", step_us, "µs"),
        Row(
            "off: all steps of a query, of its time",
            percent,
            "%",
            None,
            None,
            "≤ 0.5 %",
            percent <= MOST_OFF_PERCENT,
        ),
    ]
    return Measurement(rows, {"alone": samples, "back to back": hasty})


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the three ways, with and without a pause."""
    for axes, name in zip(figure.subplots(1, 2), ("alone", "back to back"), strict=True):
        ways = measurement.samples[name]
        axes.boxplot(list(ways.values()), tick_labels=list(ways), showfliers=False)
        axes.set_title(name)
        axes.set_ylabel("ms")
        axes.set_ylim(bottom=0)


class _Counter(SpanProcessor):
    def __init__(self) -> None:
        self.ended = 0

    def on_end(self, span: ReadableSpan) -> None:  # noqa: ARG002
        self.ended += 1


@contextmanager
def _exporting(endpoint: str) -> Iterator[tuple[Exporting, _Counter]]:
    exporting, counter = Exporting.start(Settings(traces_endpoint=endpoint)), _Counter()
    exporting._provider.add_span_processor(counter)
    try:
        yield exporting, counter
    finally:
        tracing.use(None)
        exporting.stop(5)


def _ways(exporting: Exporting, hosted: HostedGateway | None, client: Client) -> Mapping[str, Ask]:
    def asked(tracer: tracing.Tracer | None, headers: Callable[[], Mapping[str, str]]) -> float:
        tracing.use(tracer)
        return _ask(hosted, client, headers())

    return {
        OFF: lambda: asked(None, dict),
        UNSAMPLED: lambda: asked(exporting.tracer, _unsampled),
        RECORDED: lambda: asked(exporting.tracer, dict),
    }


def _in_turns(ways: Mapping[str, Ask], rounds: int, at_once: int = 1) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            samples[name] += [ways[name]() for _ in range(at_once)]
    return samples


def _unsampled() -> Mapping[str, str]:
    return {"traceparent": f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"}


def _ask(hosted: HostedGateway | None, client: Client, headers: Mapping[str, str]) -> float:
    began = time.perf_counter()
    status, body = client.query(SELECT_1, headers)
    took_ms = (time.perf_counter() - began) * 1000
    if status != 200:
        raise RuntimeError(f"{status}: {body[:500]!r}")
    if hosted is not None:
        hosted.wait_until_recorded(orjson.loads(body)["queryId"])
    return took_ms


def _spans_of_one(hosted: HostedGateway, client: Client, counter: _Counter) -> int:
    """Returns the number of spans, with those after the answer: of its record, and of its jobs."""
    time.sleep(2)
    before = counter.ended
    _ask(hosted, client, {})
    time.sleep(2)
    return counter.ended - before


def _step_us() -> float:
    began = time.perf_counter()
    for _ in range(STEPS):
        with step("sluice.query.validate"):
            pass
    return (time.perf_counter() - began) / STEPS * 1_000_000


def _ratio(way: str, samples: Mapping[str, Sequence[float]], prefix: str = "") -> Row:
    """Returns the ratio of the medians, with extremes over thirds of the run: single samples say little."""
    size = len(samples[OFF]) // 3
    thirds = [
        statistics.median(samples[way][begin : begin + size])
        / statistics.median(samples[OFF][begin : begin + size])
        for begin in range(0, 3 * size, size)
    ]
    value = statistics.median(samples[way]) / statistics.median(samples[OFF])
    return Row(f"{prefix}{way} / off", value, "times", min(thirds), max(thirds))
