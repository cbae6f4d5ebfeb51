"""The chart ships the alerts and the dashboard unchanged, and the autoscaler names an existing metric."""

from __future__ import annotations

import json

import yaml

from service.model.query.query import QueryState
from tests.chart.manifests import path_of, rendered
from tests.deploy.shown_metrics import samples_by_name


def test_the_autoscalers_queue_is_shown() -> None:
    [metric] = [
        metric["pods"]["metric"]
        for metric in rendered("production").one("HorizontalPodAutoscaler")["spec"]["metrics"]
        if metric["type"] == "Pods"
    ]
    values = samples_by_name()[metric["name"]].label_values
    assert metric["selector"]["matchLabels"].keys() == values.keys()
    assert metric["selector"]["matchLabels"]["state"] == QueryState.QUEUED
    assert QueryState.QUEUED in values["state"]


def test_the_rules_are_what_the_file_is() -> None:
    made = rendered("production").one("PrometheusRule")
    assert made["spec"] == yaml.safe_load(path_of("files/alerts.yaml").read_text())


def test_the_monitor_finds_one_service_and_brings_a_token() -> None:
    made = rendered("production")
    monitor = made.one("ServiceMonitor")["spec"]
    wanted = monitor["selector"]["matchLabels"].items()
    found = [service for service in made.of("Service") if wanted <= service["metadata"]["labels"].items()]
    assert found == [made.one("Service")]
    [endpoint] = monitor["endpoints"]
    assert endpoint["port"] in {port["name"] for port in found[0]["spec"]["ports"]}
    assert endpoint["authorization"]["credentials"] == {"name": "sluice-monitoring", "key": "token"}


def test_the_dashboard_is_what_the_file_is() -> None:
    dashboard = rendered("production").one("ConfigMap", "-dashboard")
    assert json.loads(dashboard["data"]["sluice.json"]) == json.loads(
        path_of("files/dashboard.json").read_text()
    )


def test_monitoring_is_off_until_it_is_asked_for() -> None:
    kinds = {manifest["kind"] for manifest in rendered("smallest").manifests}
    assert not {"ServiceMonitor", "PrometheusRule", "Ingress", "HTTPRoute", "ConfigMap"} & kinds
