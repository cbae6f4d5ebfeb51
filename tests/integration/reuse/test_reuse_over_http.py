"""Queries that are answered with earlier results, through a gateway as its operator runs it."""

from __future__ import annotations

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from tests.integration.asking import JsonObject, ask, explain, status
from tests.integration.lakehouse import RETURNS, make, returns_row

pytestmark = pytest.mark.integration

REUSE = {"reuseResult": True}


def reused(client: httpx.Client, sql: str, **body: object) -> JsonObject | None:
    """Returns what the answer says of an earlier result."""
    found: JsonObject | None = ask(client, sql, **(REUSE | body))["reused"]
    return found


@pytest.fixture
def table(lake: SqlCatalog, new_name: str) -> Table:
    table = make(lake, new_name, RETURNS)
    table.append(returns_row(1))
    return table


@pytest.fixture
def count(table: Table, new_name: str) -> str:
    assert table.current_snapshot()
    return f"SELECT count(*) AS n, max(return_id) AS newest FROM lake.{new_name}"


def test_an_equal_query_is_answered_with_the_earlier_result(gateway: httpx.Client, count: str) -> None:
    first = ask(gateway, count, **REUSE)
    again = ask(gateway, f"{count.replace(' FROM', '   FROM')} ; -- of a dashboard", **REUSE)
    assert first["reused"] is None
    assert again["reused"]["from"] == first["queryId"] != again["queryId"]
    assert again["reused"]["ageMs"] >= 0
    assert (again["result"]["rows"], again["manifest"]) == (first["result"]["rows"], first["manifest"])
    assert explain(gateway, again["queryId"])["reused"] == again["reused"]
    assert explain(gateway, first["queryId"])["reused"] is None
    assert status(gateway, again["queryId"])["result"]["rows"] == [[1, 1]]
    [scan] = explain(gateway, again["queryId"])["scans"]
    assert (scan["hasRun"], scan["bytes"]["selected"], scan["dataFiles"]["total"]) == (False, 0, 1)
