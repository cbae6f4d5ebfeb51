"""The values that a collector exports."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client.registry import Collector


def shown(collector: Collector) -> Mapping[str, float]:
    """Returns each value by its name and label values."""
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in collector.collect()
        for sample in family.samples
    }
