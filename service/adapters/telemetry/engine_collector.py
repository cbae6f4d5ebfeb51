"""The engine and its JVM, as of the last trial query."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import ProcessCollector
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import counters, gauges
from service.model.operations.engine_signs import EngineSigns, JvmSample

_NO_PROCESS = 0
"""A process id that does not exist."""


class EngineCollector(Collector):
    """Calls neither the engine nor its JVM: while they hang, the numbers are the earlier ones."""

    def __init__(self, signs: Callable[[], EngineSigns]) -> None:
        self._signs = signs
        self._process = ProcessCollector(
            "sluice_jvm", lambda: signs().process_id or _NO_PROCESS, registry=None
        )

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        signs = self._signs()
        yield counters(
            "sluice_engine_replaced",
            "Engines that the gateway replaced since its start, by reason.",
            "reason",
            {loss.value: count for loss, count in signs.losses.items()},
        )
        yield GaugeMetricFamily(
            "sluice_engine_silent_seconds",
            "Time for which the engine has not answered its trial query; 0 between two trial queries.",
            signs.silent_s,
        )
        if signs.collection_share is not None:
            yield GaugeMetricFamily(
                "sluice_jvm_gc_share",
                "Share of the last seconds in which garbage collection paused the JVM, 0 to 1.",
                signs.collection_share,
            )
        if signs.jvm is not None:
            yield from _of_jvm(signs.jvm)
        yield from self._process.collect()


def _of_jvm(sample: JvmSample) -> Iterable[Metric]:
    yield gauges(
        "sluice_jvm_memory_used_bytes",
        "Memory that the JVM uses, by its area.",
        "area",
        {
            "heap": sample.heap_used_bytes,
            "metaspace": sample.metaspace_used_bytes,
            "direct": sample.direct_used_bytes,
        },
    )
    bounds = {"heap": sample.heap_max_bytes, "metaspace": sample.metaspace_max_bytes}
    yield gauges(
        "sluice_jvm_memory_max_bytes",
        "Maximum size of an area; an area without a bound is not shown.",
        "area",
        {area: bound for area, bound in bounds.items() if bound},
    )
    yield GaugeMetricFamily("sluice_jvm_threads", "Threads of the JVM.", sample.thread_count)
    yield CounterMetricFamily(
        "sluice_jvm_gc_seconds",
        "Time for which garbage collection has paused the JVM since its start.",
        sample.collection_ms / 1000,
    )
