"""The settings of one query do not affect another one."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.integration.asking import post, rows
from tests.integration.guarded import Guarded

pytestmark = pytest.mark.integration

WHERE = "SELECT current_catalog(), current_schema(), current_timezone()"


def test_names_without_a_catalog_belong_to_the_requests_own(guarded: Guarded) -> None:
    assert rows(guarded.alice, WHERE)[0][0] == "lake"
    assert rows(guarded.alice, WHERE, catalog="rest", schema="shop") == [["rest", "shop", "UTC"]]
    assert rows(guarded.alice, WHERE, catalog="lake", schema="shop") == [["lake", "shop", "UTC"]]
    assert rows(guarded.alice, WHERE)[0][0] == "lake"


def test_a_schema_resolves_names_of_one_part(guarded: Guarded) -> None:
    sql = "SELECT count(*) FROM returns"
    for catalog in ("lake", "rest"):
        assert rows(guarded.alice, sql, catalog=catalog, schema="shop")[0][0] >= 1
    assert post(guarded.alice, sql).status_code == 404


def test_a_catalog_or_schema_that_is_not_there_is_the_callers_mistake(guarded: Guarded) -> None:
    for body in ({"catalog": "no_such"}, {"catalog": "lake", "schema": "no_such"}):
        response = post(guarded.alice, "SELECT 1", **body)
        assert response.status_code in (404, 422), response.text


def test_a_mix_of_queries_at_once_gives_each_its_own(gateway: httpx.Client) -> None:
    schemas: list[tuple[str, Any]] = [("shop", 40), ("shop_archive", None)]
    chosen = [random.choice(schemas) for _ in range(48)]
    disturbing = [
        "SET spark.sql.session.timeZone = Asia/Tokyo",
        "USE shop_archive",
        "SET TIME ZONE 'Asia/Tokyo'",
        "CREATE TEMPORARY VIEW calendar AS SELECT 1",
        "DECLARE VARIABLE x = 1",
    ]

    def one(schema: tuple[str, Any]) -> tuple[str, Any]:
        if random.random() < 0.3:
            refused = post(gateway, random.choice(disturbing)).json()["code"]
            assert refused in ("SESSION_REQUIRED", "STATEMENT_NOT_ALLOWED")
        body = {"catalog": "lake", "schema": schema[0]}
        where = rows(gateway, WHERE, **body)
        assert where == [["lake", schema[0], "UTC"]]
        count = post(gateway, "SELECT count(day_key) FROM calendar", **body)
        return schema[0], count.json()["result"]["rows"][0][0] if count.status_code == 200 else None

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, chosen)) == chosen


def test_a_hint_or_a_common_table_expression_ends_with_its_query(gateway: httpx.Client) -> None:
    assert rows(gateway, "WITH calendar AS (SELECT 1 AS one) SELECT * FROM calendar") == [[1]]
    assert rows(gateway, "SELECT count(day_key) FROM calendar") == [[40]]
