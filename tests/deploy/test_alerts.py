"""Alerts and dashboard use only existing metrics; each alert has a test case and a runbook entry."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from api.bootstrap.settings import Settings
from helm.generate.dashboard import dashboard
from tests.deploy.expressions import (
    CASES,
    DASHBOARD,
    LABELS_OF_TARGETS,
    REPOSITORY,
    expressions,
    labels_in,
    metrics_in,
    panels,
    rules,
    values_in,
)
from tests.deploy.shown_metrics import OF_PROMETHEUS, samples_by_name

RUNBOOK = (REPOSITORY / "docs" / "operations" / "runbook.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### (\w+)$", RUNBOOK, re.MULTILINE)
TESTS = yaml.safe_load(CASES.read_text())["tests"]
PARTS = ("**Means.** ", "**Look at.** ", "**Do.** ")

each_rule = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
each_expression = pytest.mark.parametrize("expression", expressions().values(), ids=expressions().keys())


@each_expression
def test_an_expression_names_metrics_that_are_shown(expression: str) -> None:
    found = metrics_in(expression)
    assert found
    assert found <= samples_by_name().keys() | OF_PROMETHEUS


@each_expression
def test_an_expression_names_labels_and_values_that_are_there(expression: str) -> None:
    named = [samples_by_name()[metric] for metric in metrics_in(expression) - OF_PROMETHEUS]
    known = {label: values for metric in named for label, values in metric.label_values.items()}
    assert labels_in(expression) <= LABELS_OF_TARGETS | known.keys()
    for label, value in values_in(expression):
        assert value in known.get(label, {value}), f"{label} is never {value}"


@each_expression
def test_an_expression_names_no_job_and_no_port(expression: str) -> None:
    compared = {(label, value) for label, value in values_in(expression) if label in LABELS_OF_TARGETS}
    assert all(value == f"${label}" for label, value in compared)


def test_no_two_alerts_have_one_name() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)


@each_rule
def test_an_alert_says_how_bad_it_is_and_what_to_do(rule: dict[str, Any]) -> None:
    assert re.fullmatch(r"Sluice[A-Za-z]+", rule["alert"])
    assert rule["labels"] in ({"severity": "critical"}, {"severity": "warning"})
    assert rule["annotations"].keys() == {"summary", "action", "runbook"}
    assert all(rule["annotations"].values())


@each_rule
def test_an_alert_has_an_entry_in_the_runbook(rule: dict[str, Any]) -> None:
    assert rule["annotations"]["runbook"] == f"docs/operations/runbook.md#{rule['alert'].lower()}"
    [entry] = re.findall(rf"^### {rule['alert']}\n(.*?)(?=^##|\Z)", RUNBOOK, re.MULTILINE | re.DOTALL)
    assert [entry.count(part) for part in PARTS] == [1, 1, 1]
    assert f"({rule['labels']['severity']}" in entry


def test_the_runbook_has_the_alerts_in_their_order_and_no_other() -> None:
    assert [rule["alert"] for rule in rules()] == HEADINGS


def test_the_runbook_names_settings_and_metrics_that_exist() -> None:
    settings = set(re.findall(r"SLUICE_([A-Z_]+)", RUNBOOK))
    assert settings
    assert {setting.lower() for setting in settings} <= Settings.model_fields.keys()
    metrics = set(re.findall(r"`((?:sluice|process)_[a-z_]+)", RUNBOOK))
    assert metrics
    assert metrics <= samples_by_name().keys()


def test_the_runbook_names_events_that_are_logged() -> None:
    sources = [
        path for room in ("api", "service", "spark_session") for path in (REPOSITORY / room).rglob("*.py")
    ]
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    logged = set(re.findall(r'\.(?:info|warning|error|exception)\(\s*"(\w+)"', text))
    labels = [pair for sample in samples_by_name().values() for pair in sample.label_values.items()]
    of_metrics = set(samples_by_name()).union(*({label} | values for label, values in labels))
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", RUNBOOK)) - of_metrics - {"api_tokens"}
    assert named
    assert named <= logged


@each_rule
def test_an_alert_has_a_case_in_which_it_begins_and_ends(rule: dict[str, Any]) -> None:
    [checks] = [
        case["alert_rule_test"]
        for case in TESTS
        if {check["alertname"] for check in case["alert_rule_test"]} == {rule["alert"]}
    ]
    is_on = [bool(check.get("exp_alerts")) for check in checks]
    assert is_on[0] is is_on[-1] is False
    assert any(is_on)


def test_every_case_is_of_an_alert() -> None:
    named = [check["alertname"] for case in TESTS for check in case["alert_rule_test"]]
    assert set(named) == {rule["alert"] for rule in rules()}


def test_the_dashboard_is_what_make_chart_writes() -> None:
    assert DASHBOARD.read_text(encoding="utf-8") == dashboard(), "run `make chart`"


def test_the_dashboard_has_a_row_for_each_part() -> None:
    rows = [panel["title"] for panel in panels() if panel["type"] == "row"]
    assert rows == [
        *("Traffic and latency", "Pruning", "Ingest", "Streams and maintenance"),
        *("Engine", "Room", "Caches"),
    ]


def test_no_panel_lies_over_another_one() -> None:
    places = [panel["gridPos"] for panel in panels()]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in panels()}) == len(panels())
