"""What a collector shows, by name and labels."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client.registry import Collector


def shown(collector: Collector) -> Mapping[str, float]:
    """Each number, under its name and the values of its labels."""
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in collector.collect()
        for sample in family.samples
    }
