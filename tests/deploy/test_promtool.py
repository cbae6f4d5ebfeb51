"""Prometheus' own tool accepts the rules, the dashboard's expressions and `/metrics`: `make alerts-test`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.deploy.expressions import ALERTS, CASES, expressions
from tests.deploy.shown_metrics import fullest_text

pytestmark = pytest.mark.skipif(
    "SLUICE_TEST_PROMTOOL" not in os.environ, reason="`make alerts-test` runs it, where promtool is installed"
)


def promtool(*arguments: str, text: str = "") -> None:
    """Runs promtool, and fails with its output."""
    ran = subprocess.run(
        ["promtool", *arguments], input=text, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_rules_are_rules() -> None:
    promtool("check", "rules", str(ALERTS))


def test_each_alert_begins_and_ends_as_its_case_says() -> None:
    promtool("test", "rules", str(CASES))


def test_every_expression_parses(tmp_path: Path) -> None:
    # The tool reads expressions only in rules; Grafana replaces its variable with a duration.
    rules = [
        {"record": f"expression:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(expressions().values())
    ]
    file = tmp_path / "expressions.yml"
    file.write_text(json.dumps({"groups": [{"name": "all", "rules": rules}]}))
    promtool("check", "rules", str(file))


def test_it_finds_no_fault_with_the_metrics() -> None:
    promtool("check", "metrics", text=fullest_text())
