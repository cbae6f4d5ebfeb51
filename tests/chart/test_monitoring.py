"""Alerts, the dashboard and the autoscaler name metrics that `/metrics` shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
import yaml

from api.process_metrics import ProcessMetrics
from service.adapters.meters import RecordMeters
from service.model.health import PartHealth, PartState, Vitals
from service.model.query import QueryState
from tests.chart.manifests import path_of, rendered

METRIC = re.compile(r"\b(?:sluice|process)_[a-z_]+\b")
LABELS_OF_PROMETHEUS = frozenset({"namespace", "pod", "job", "le"})


@pytest.fixture(scope="module")
def shown() -> dict[str, set[str]]:
    """The names of all samples, each with its labels."""
    vitals = Vitals(PartHealth("engine", PartState.UP), 0)
    meters = RecordMeters()
    # Children of these come with their first refusal.
    meters.ingests.refused("CODE")
    meters.ingests._rounds._refused.labels("CODE")
    meters._filters.labels("CACHED", "APPLIED")
    text = ProcessMetrics().exposition(True) + meters.exposition({QueryState.QUEUED: 1}, vitals)
    found: dict[str, set[str]] = {}
    for line in text.decode().splitlines():
        if not line.startswith("#"):
            name, _, labels = line.partition("{")
            found.setdefault(name.split()[0], set()).update(re.findall(r"(\w+)=", labels))
    return found


def expressions() -> Iterator[str]:
    for group in yaml.safe_load(path_of("files/alerts.yaml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads(path_of("files/dashboard.json").read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.mark.parametrize("expression", sorted(expressions()))
def test_expressions_name_metrics_that_are_shown(expression: str, shown: dict[str, set[str]]) -> None:
    metrics = set(METRIC.findall(expression))
    assert metrics
    assert metrics <= shown.keys()
    known = LABELS_OF_PROMETHEUS.union(*(shown[each] for each in metrics))
    used = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", expression))
    for grouped in re.findall(r"by \(([^)]*)\)", expression):
        used |= {each.strip() for each in grouped.split(",")}
    assert used <= known


def test_the_autoscalers_queue_is_shown(shown: dict[str, set[str]]) -> None:
    [metric] = [
        each["pods"]["metric"]
        for each in rendered("production").one("HorizontalPodAutoscaler")["spec"]["metrics"]
        if each["type"] == "Pods"
    ]
    assert set(metric["selector"]["matchLabels"]) == shown[metric["name"]]
    assert metric["selector"]["matchLabels"]["state"] == QueryState.QUEUED


def test_each_alert_says_what_it_means_and_what_to_do() -> None:
    made = rendered("production").one("PrometheusRule")
    for rule in made["spec"]["groups"][0]["rules"]:
        assert re.fullmatch(r"Sluice[A-Za-z]+", rule["alert"])
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert {"summary", "description"} <= rule["annotations"].keys()


def test_the_monitor_finds_one_service_and_brings_a_token() -> None:
    made = rendered("production")
    monitor = made.one("ServiceMonitor")["spec"]
    wanted = monitor["selector"]["matchLabels"].items()
    found = [each for each in made.of("Service") if wanted <= each["metadata"]["labels"].items()]
    assert found == [made.one("Service")]
    [endpoint] = monitor["endpoints"]
    assert endpoint["port"] in {each["name"] for each in found[0]["spec"]["ports"]}
    assert endpoint["authorization"]["credentials"] == {"name": "sluice-monitoring", "key": "token"}


def test_the_dashboard_is_what_the_file_is() -> None:
    dashboard = rendered("production").one("ConfigMap", "-dashboard")
    assert json.loads(dashboard["data"]["sluice.json"]) == json.loads(
        path_of("files/dashboard.json").read_text()
    )


def test_monitoring_is_off_until_it_is_asked_for() -> None:
    kinds = {each["kind"] for each in rendered("smallest").manifests}
    assert not {"ServiceMonitor", "PrometheusRule", "Ingress", "HTTPRoute", "ConfigMap"} & kinds
