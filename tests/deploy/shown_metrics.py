"""The largest possible output of `/metrics`, from its registries: each metric with every label value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import get_args
from uuid import uuid4

from fastapi.routing import RouteContext, iter_route_contexts
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.middleware.authentication_metrics import NO_KIND
from api.http.middleware.process_metrics import ProcessMetrics
from api.http.problems.http_errors import STATUS
from service.errors.credential_errors import CredentialFault
from service.errors.every_kind import every_kind
from service.errors.gateway_error import GatewayError, PartDown
from service.ingest.committing.commit_round import Refusal
from service.model.authentication.principals import PrincipalKind
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterSource
from service.model.ingest.writing import Committable
from service.model.operations.health import PartHealth, PartState, Vitals
from service.model.query.query import QueryError, QueryState
from tests.fakes.gateway import FakeGateway
from tests.fakes.ingests import LOGS
from tests.fakes.query_records import applied, short_record
from tests.fakes.watched_metrics import watched_metrics

OF_PROMETHEUS = frozenset({"up"})
"""The metrics that Prometheus itself adds to each target."""


@dataclass(frozen=True, slots=True)
class ShownMetric:
    """A metric as the text names it; `label_values` has every value of each label."""

    name: str
    kind: str
    says: str
    label_values: Mapping[str, frozenset[str]]
    sample_names: frozenset[str]
    series_count: int


@cache
def fullest_text() -> str:
    """Returns the output of a gateway in which everything has happened."""
    codes = {error_type.code for error_type in STATUS}
    metrics = watched_metrics()
    for source, reason in product(FilterSource, Reason):
        found = replace(applied(), source=source, reason=reason)
        metrics.count(replace(short_record(), filters=(found,)))
    for code in codes:
        metrics.ingests.refused(code)
        metrics.streams.failed(code)
        metrics.count(replace(short_record(), state=QueryState.FAILED, error=QueryError(code, "")))
    # Rounds meet no errors of the protocols.
    down = [kind for kind in every_kind(PartDown) if kind.__module__.startswith("service.")]
    for code in {GatewayError.code, *(kind.code for kind in down)}:
        metrics.ingests.round_postponed(code)
    for refusal in get_args(Refusal):
        metrics.ingests.round_ended(Committable(LOGS, uuid4(), (uuid4(),), ()), refusal.code, 1)
    metrics.ingests.committed_after([1])
    is_open = {state: 1 for state in QueryState if not state.is_final}
    vitals = Vitals(PartHealth("engine", PartState.UP), 0)
    return (fullest_process().exposition(is_ready=True) + metrics.exposition(is_open, vitals)).decode()


def fullest_process() -> ProcessMetrics:
    """Returns the process metrics of a gateway whose routes have all answered in every way."""
    app = create_app(Settings(api_keys=True), FakeGateway)
    metrics: ProcessMetrics = app.state.app_context.process_metrics
    scopes: list[dict[str, object]] = [{"method": "GET"}]
    for route in iter_route_contexts(app.routes):
        scopes += [{"route": route, "method": method} for method in methods_of(route)]
    for scope, status in product(scopes, (200, 300, 400, 500, None)):
        metrics.http.begun()
        metrics.http.ended(scope, status, 0.01)
    for kind in PrincipalKind:
        metrics.authentication.accepted(kind)
    kinds = [NO_KIND, *(kind.value for kind in PrincipalKind if kind is not PrincipalKind.ANONYMOUS)]
    for kind_name, fault in product(kinds, CredentialFault):
        metrics.authentication.failed(kind_name, fault, is_throttled=True)
    return metrics


def methods_of(route: RouteContext) -> tuple[str, ...]:
    """Returns the methods that the route serves, and one that it does not."""
    return (*(route.methods or ()), "TRACE")


@cache
def shown_metrics() -> tuple[ShownMetric, ...]:
    """Returns each metric, in the order of the text."""
    return tuple(_reported(family) for family in _families())


@cache
def samples_by_name() -> Mapping[str, ShownMetric]:
    """Returns the metrics by the names that expressions use."""
    return {name: metric for metric in shown_metrics() for name in metric.sample_names}


def _families() -> Iterator[Metric]:
    return iter(text_string_to_metric_families(fullest_text()))


def _reported(family: Metric) -> ShownMetric:
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
