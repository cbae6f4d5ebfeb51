"""The expressions of the alerts and of the dashboard, and the names in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[2]
ALERTS = REPOSITORY / "helm" / "sluice" / "files" / "alerts.yaml"
DASHBOARD = REPOSITORY / "helm" / "sluice" / "files" / "dashboard.json"
CASES = REPOSITORY / "tests" / "deploy" / "alerts.test.yml"

LABELS_OF_TARGETS = frozenset({"namespace", "pod", "job", "instance"})
_OPERATORS = frozenset({"and", "or", "unless", "offset", "bool"})
_TEXT = r'"[^"]*"'
_RANGE = r"\[[^\]]*\]"
_LABEL_LIST = r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)"
_MATCHERS = r"\{[^}]*\}"
_NAME = r"(?<![\w.$])[a-zA-Z_:][\w:]*"


def rules() -> list[dict[str, Any]]:
    """Returns all alerts, in order."""
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    """Returns the dashboard's panels and rows."""
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return found


def expressions() -> Mapping[str, str]:
    """Returns each expression by its place."""
    return dict(_expressions())


def metrics_in(expression: str) -> set[str]:
    """Returns the names that are used as metrics.

    >>> sorted(metrics_in('sum by (a) (rate(b_total{c="d"}[5m])) > 0.2e3 * f and on (g) h offset 15m'))
    ['b_total', 'f', 'h']
    """
    bare = expression
    for dropped in (_TEXT, _RANGE, _LABEL_LIST, _MATCHERS, r"\boffset\s+\w+"):
        bare = re.sub(dropped, " ", bare)
    functions = set(re.findall(rf"({_NAME})\s*\(", bare))
    # The labels of an aggregation stood between its name and its argument.
    return set(re.findall(_NAME, bare)) - functions - _OPERATORS


def labels_in(expression: str) -> set[str]:
    """Returns the labels that are matched, or by which series are grouped or joined.

    >>> sorted(labels_in('sum by (a, b) (c{d=~"e=f", g!="h"}) and on (i) j'))
    ['a', 'b', 'd', 'g', 'i']
    """
    bare = re.sub(_TEXT, '""', expression)
    listed = {label.strip() for found in re.findall(_LABEL_LIST, bare) for label in found.split(",")}
    return listed | set(re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*""', bare))


def values_in(expression: str) -> Iterator[tuple[str, str]]:
    """Yields each label with each value that it is compared with; `a|b` are two values.

    >>> list(values_in('a{b="c", d=~"e|f"}'))
    [('b', 'c'), ('d', 'e'), ('d', 'f')]
    """
    for label, value in re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"', expression):
        yield from ((label, alternative) for alternative in value.split("|"))


def _expressions() -> Iterator[tuple[str, str]]:
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel.get("targets", ()):
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for variable in json.loads(DASHBOARD.read_text())["templating"]["list"]:
        if variable["type"] == "query":
            [within] = re.findall(r"label_values\((.*), \w+\)", variable["query"]["query"])
            yield f"variable {variable['name']}", within
