"""The names that `/metrics` shows, from the registries that make it."""

from __future__ import annotations

from functools import cache

from prometheus_client.parser import text_string_to_metric_families

from api.process_metrics import ProcessMetrics
from service.adapters.meters import RecordMeters
from service.model.health import PartHealth, PartState, Vitals


@cache
def shown_metrics() -> frozenset[str]:
    """Every sample's name, and those of counters that have labels and no sample yet."""
    vitals = Vitals(PartHealth("engine", PartState.UP), 0)
    text = ProcessMetrics().exposition(is_ready=True) + RecordMeters().exposition({}, vitals)
    families = list(text_string_to_metric_families(text.decode()))
    samples = {sample.name for family in families for sample in family.samples}
    return frozenset(
        samples
        | {f"{each.name}_total" for each in families if each.type == "counter"}
        | {each.name for each in families if each.type == "gauge"}
    )
