"""What `/metrics` shows at most, from its registries: each metric with every value of its labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import get_args
from uuid import uuid4

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from api.errors import STATUS
from api.process_metrics import ProcessMetrics
from service.adapters.meters import RecordMeters
from service.ingest.committing.commit_round import Refusal
from service.model.filtering import FilterSource, Reason
from service.model.health import PartHealth, PartState, Vitals
from service.model.query import QueryState
from service.model.writing import Committable
from tests.fakes.ingests import LOGS
from tests.fakes.query_records import applied, short_record

OF_PROMETHEUS = frozenset({"up"})
"""What it adds to each target by itself."""


@dataclass(frozen=True, slots=True)
class ShownMetric:
    """One metric as the text names it; `label_values` has every value that a label takes."""

    name: str
    kind: str
    says: str
    label_values: Mapping[str, frozenset[str]]
    sample_names: frozenset[str]
    series_count: int


@cache
def fullest_text() -> str:
    """The answer of a gateway in which everything has happened."""
    meters = RecordMeters()
    for source, reason in product(FilterSource, Reason):
        found = replace(applied(), source=source, reason=reason)
        meters.count(replace(short_record(), filters=(found,)))
    for code in {each.code for each in STATUS}:
        meters.ingests.refused(code)
    for refusal in get_args(Refusal):
        meters.ingests.round_ended(Committable(LOGS, uuid4(), (uuid4(),), ()), refusal.code, 1)
    is_open = {each: 1 for each in QueryState if not each.is_final}
    vitals = Vitals(PartHealth("engine", PartState.UP), 0)
    return (ProcessMetrics().exposition(is_ready=True) + meters.exposition(is_open, vitals)).decode()


@cache
def shown_metrics() -> tuple[ShownMetric, ...]:
    """Each metric, in the order of the text; without when a counter began (`…_created`)."""
    return tuple(_told(each) for each in _families() if not each.name.endswith("_created"))


@cache
def samples_by_name() -> Mapping[str, ShownMetric]:
    """The metrics by the names that expressions use."""
    return {name: metric for metric in shown_metrics() for name in metric.sample_names}


def began_count() -> int:
    """Series that only say since when something is counted."""
    return sum(len(each.samples) for each in _families() if each.name.endswith("_created"))


def _families() -> Iterator[Metric]:
    return iter(text_string_to_metric_families(fullest_text()))


def _told(family: Metric) -> ShownMetric:
    values: dict[str, set[str]] = {}
    for sample in family.samples:
        for label, value in sample.labels.items():
            values.setdefault(label, set()).add(value)
    return ShownMetric(
        name=f"{family.name}_total" if family.type == "counter" else family.name,
        kind=family.type,
        says=family.documentation,
        label_values={label: frozenset(found) for label, found in values.items()},
        sample_names=frozenset(sample.name for sample in family.samples),
        series_count=len(family.samples),
    )
