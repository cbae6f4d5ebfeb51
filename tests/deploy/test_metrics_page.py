"""docs/reference/metrics.md lists exactly the metrics of `/metrics`, with the right bounds."""

from __future__ import annotations

import re

import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from tests.deploy.expressions import REPOSITORY
from tests.deploy.shown_metrics import ShownMetric, shown_metrics
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import client_of

PAGE = (REPOSITORY / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")


def row(metric: ShownMetric) -> str:
    labels = ", ".join(f"`{value}`" for value in sorted(metric.label_values)) or "–"
    return f"| `{metric.name}` | {metric.kind} | {labels} | {metric.series_count} | {metric.says} |"


@pytest.mark.parametrize("metric", shown_metrics(), ids=lambda metric: metric.name)
def test_the_page_has_each_metric_as_it_is(metric: ShownMetric) -> None:
    assert row(metric) in PAGE.splitlines()


def test_the_page_has_no_other_metric() -> None:
    listed = re.findall(r"^\| `(\w+)` \| (?:counter|gauge|histogram) \|", PAGE, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == {metric.name for metric in shown_metrics()}


def test_the_page_has_each_label_with_its_bound() -> None:
    listed = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\d+) \|", PAGE, re.MULTILINE)
    bounds = {
        (label, metric.name): str(len(values))
        for metric in shown_metrics()
        for label, values in metric.label_values.items()
        if label != "le"
    }
    assert {(label, name): bound for label, name, bound in listed} == bounds


def test_the_page_says_how_many_series_a_gateway_has_at_most() -> None:
    shown = sum(metric.series_count for metric in shown_metrics())
    assert f"at most {shown:,} series" in PAGE


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_gateway_shows_these_metrics() -> None:
    gateway = FakeGateway()
    async with client_of(create_app(Settings(), lambda: gateway)) as client:
        text = (await client.get("/metrics")).text
    named = re.findall(r"^# TYPE (\w+) \w+$", text, re.MULTILINE)
    # Without any event, these metrics have no series. The parser omits them, but the text names them.
    assert set(named) == {metric.name for metric in shown_metrics()}
