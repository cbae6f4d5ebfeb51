"""Gauges and counters with current values."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily


def gauges(name: str, says: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    """Returns a gauge with a label, one sample for each of its values.

    >>> [sample.value for sample in gauges("free", "Free.", "of", {"a": 1, "b": 2}).samples]
    [1, 2]
    """
    family = GaugeMetricFamily(name, says, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def counters(name: str, says: str, label: str, values: Mapping[str, float]) -> CounterMetricFamily:
    """Returns a counter with a label, one sample for each of its values."""
    family = CounterMetricFamily(name, says, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family
