"""Gauges with the values of now."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily


def gauges(name: str, says: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    """One gauge with a label, by its values.

    >>> [each.value for each in gauges("free", "Free.", "of", {"a": 1, "b": 2}).samples]
    [1, 2]
    """
    family = GaugeMetricFamily(name, says, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def counters(name: str, says: str, label: str, values: Mapping[str, float]) -> CounterMetricFamily:
    """The same of a counter."""
    family = CounterMetricFamily(name, says, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family
