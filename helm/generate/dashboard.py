"""The chart's dashboard for Grafana: rows of panels, two in a line, each with one or more expressions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from helm.generate.dashboard_rows import ROWS
from helm.generate.panels import Panel

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT = 12, 8


@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable of the dashboard.

    `all_value` is for a label that may be missing: outside of Kubernetes there is no namespace.
    """

    label: str
    within: str
    all_value: str | None = None


VARIABLES = (
    _Variable("namespace", "sluice_ready", ".*"),
    _Variable("job", 'sluice_ready{namespace=~"$namespace"}'),
    _Variable("instance", 'sluice_ready{namespace=~"$namespace", job=~"$job"}'),
)


def dashboard() -> str:
    """Returns the dashboard as Grafana imports it."""
    made = {
        "title": "Sluice",
        "uid": "sluice",
        "tags": ["sluice"],
        "timezone": "browser",
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_datasource(), *map(_variable, VARIABLES)]},
        "panels": [{"id": number, **panel} for number, panel in enumerate(_panels(), 1)],
    }
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _panels() -> Iterator[dict[str, Any]]:
    top = 0
    for title, panels in ROWS.items():
        yield _at(0, top, width=24, height=1) | {
            "type": "row",
            "title": title,
            "collapsed": False,
            "panels": [],
        }
        top += 1
        for number, panel in enumerate(panels):
            line, column = divmod(number, 2)
            yield _at(column * WIDTH, top + line * HEIGHT, width=WIDTH, height=HEIGHT) | _panel(panel)
        top += (len(panels) + 1) // 2 * HEIGHT


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "title": panel.title,
        "description": panel.description,
        "type": "timeseries",
        "datasource": DATASOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": _targets(panel.expressions),
    }


def _targets(expressions: Mapping[str, str]) -> Sequence[Mapping[str, str]]:
    return [
        {"refId": chr(ord("A") + number), "expr": expression, "legendFormat": legend}
        for number, (legend, expression) in enumerate(expressions.items())
    ]


def _at(x: int, y: int, *, width: int, height: int) -> dict[str, Any]:
    return {"gridPos": {"h": height, "w": width, "x": x, "y": y}}


def _datasource() -> Mapping[str, Any]:
    return {"name": "datasource", "type": "datasource", "query": "prometheus"}


def _variable(variable: _Variable) -> Mapping[str, Any]:
    query = f"label_values({variable.within}, {variable.label})"
    return {
        "name": variable.label,
        "type": "query",
        "datasource": DATASOURCE,
        "query": {"query": query, "refId": "A"},
        "refresh": 2,
        "includeAll": True,
        "allValue": variable.all_value,
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
    }
