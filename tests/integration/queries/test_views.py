"""Queries over views through HTTP: fewer files are read, and the explanation says why."""

from __future__ import annotations

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import JsonObject, ask, explain, post
from tests.integration.lakehouse import DAYS, DAYS_PER_MONTH
from tests.integration.made_views import make_view

pytestmark = pytest.mark.integration

STAR = (
    "SELECT c.day, sum(s.paid) AS paid FROM {} AS s JOIN calendar AS k ON s.day = k.day_key"
    " JOIN {} AS c ON c.day = k.day_key WHERE k.month = :month GROUP BY c.day"
)
ALWAYS = {"dynamicFiltering": {"minTableBytes": 0, "verify": True}}
NEVER = {"dynamicFiltering": {"enabled": False}}
MARCH = {"parameters": {"month": 3}}


@pytest.fixture
def names(lake: SqlCatalog, new_name: str) -> tuple[str, str]:
    """The names of a view of a fact that renames columns, and of a view of a dimension."""
    sold, days = f"{new_name}_sold", f"{new_name}_days"
    make_view(lake, sold, "SELECT day_key, amount FROM sales -- all", {"day": "int", "paid": "decimal(7, 2)"})
    make_view(lake, days, "SELECT day_key FROM calendar", {"day": "int"})
    return sold, days


def rewrites(explanation: JsonObject) -> dict[str, str]:
    """Returns the expanded views with their details."""
    found = (rewrite for rewrite in explanation["rewrites"] if rewrite["rewrite"] == "VIEW_EXPANDED")
    return {rewrite["table"]: rewrite["detail"] for rewrite in found}


def test_files_behind_a_view_are_not_read_and_the_explanation_says_why(
    gateway: httpx.Client, names: tuple[str, str]
) -> None:
    query = STAR.format(*names)
    plain = ask(gateway, query, **MARCH, **NEVER)
    answer = ask(gateway, query, **MARCH, **ALWAYS)
    explanation = explain(gateway, answer["queryId"])
    assert sorted(answer["result"]["rows"]) == sorted(plain["result"]["rows"])
    assert len(plain["result"]["rows"]) == DAYS_PER_MONTH
    assert answer["manifest"]["columns"] == plain["manifest"]["columns"]
    probes = [filter_["probe"] for filter_ in explanation["filters"] if filter_["applied"]]
    assert {(probe["table"], *probe["columns"]) for probe in probes} == {("lake.shop.sales", "day_key")}
    [scan] = [scan for scan in explanation["scans"] if scan["table"] == "lake.shop.sales"]
    assert scan["dataFiles"]["total"] == DAYS
    assert 0 < scan["dataFiles"]["selected"] <= DAYS_PER_MONTH
    assert explanation["verification"] == "SAME"
    assert explanation["sql"] == query
    sold, days = names
    assert rewrites(explanation) == {
        f"lake.{sold}": "reads lake.shop.sales",
        f"lake.{days}": "reads lake.shop.calendar",
    }


def test_the_plan_before_a_run_opens_views_too(gateway: httpx.Client, names: tuple[str, str]) -> None:
    body = {"sql": STAR.format(*names), **MARCH, "dynamicFiltering": {"minTableBytes": 0}}
    response = gateway.post("/explain", json=body)
    assert response.status_code == 200, response.text
    assert len(rewrites(response.json())) == 2
    assert response.json()["plans"] is not None


def test_a_replaced_view_answers_again(
    gateway: httpx.Client, lake: SqlCatalog, names: tuple[str, str]
) -> None:
    _, days = names
    query = f"SELECT count(*) FROM sales s JOIN {days} d ON s.day_key = d.day"
    before = ask(gateway, query, **ALWAYS)["result"]["rows"]
    text = "SELECT day_key FROM calendar WHERE month = 2"
    make_view(lake, days, text, {"day": "int"}, is_new=False)
    answer = ask(gateway, query, **ALWAYS)
    assert answer["result"]["rows"] < before
    [applied] = [filter_ for filter_ in explain(gateway, answer["queryId"])["filters"] if filter_["applied"]]
    assert applied["build"]["predicate"] == "month = 2"


def test_an_error_is_reported_for_the_text_that_was_sent(
    gateway: httpx.Client, names: tuple[str, str]
) -> None:
    query = f"SELECT s.nothing\nFROM {names[0]} s JOIN calendar k ON s.day = k.day_key WHERE k.month = 3"
    response = post(gateway, query, **ALWAYS)
    plain = post(gateway, query, **NEVER)
    assert response.status_code == plain.status_code == 422
    reported, expected = response.json(), plain.json()
    assert {key: reported[key] for key in ("code", "detail")} == {
        key: expected[key] for key in ("code", "detail")
    }
