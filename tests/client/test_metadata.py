"""Tests what a connection says about catalogs, schemas, tables and queries that do not run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.model.tables.contents import SchemaEntry
from sluice_client import AsyncConnection, Connection, NotFound, SqlInvalid, connect
from tests.client.gateways import Served
from tests.client.hostile_server import answer, hostile
from tests.fakes.contents import FakeContents
from tests.fakes.recorded_scans import record_scans


def test_catalogs_and_schemas(gateway: Served, connection: Connection) -> None:
    gateway.gateway.contents = FakeContents([SchemaEntry("lake", "empty", "nothing yet")])
    assert connection.catalogs() == ("lake",)
    found = connection.schemas("lake")
    assert ("lake.empty", "nothing yet") in {(entry.name, entry.comment) for entry in found}
    assert found.missing_catalogs == ()


def test_tables_with_and_without_columns(connection: Connection) -> None:
    [entry] = connection.tables("lake", "tpcds")
    assert (entry.name, entry.kind, entry.columns) == ("lake.tpcds.store_returns", "TABLE", None)
    [entry] = connection.tables(columns=True)
    assert entry.columns is not None
    assert [(column.name, column.type) for column in entry.columns] == [("sr_returned_date_sk", "long")]
    assert len(connection.tables("nowhere")) == 0


def test_one_table(connection: Connection) -> None:
    table = connection.table("lake.tpcds.store_returns")
    assert (table.record_count, table.partitions) == (287_867, ("sr_returned_date_sk",))
    with pytest.raises(NotFound):
        connection.table("lake.tpcds.nope")


def test_advice_on_a_table(gateway: Served, connection: Connection) -> None:
    record_scans(gateway.gateway)
    found = connection.advise("lake.tpcds.store_returns", days=7)
    assert (found.table, found.scan_count) == ("lake.tpcds.store_returns", 2)
    best = found.advice[0]
    assert best.files_after < best.files_before
    assert 0 < best.saved_share < 1
    assert best.statements
    assert found.raw["workload"]["columns"][0]["column"] == "day"
    with pytest.raises(NotFound):
        connection.advise("lake.tpcds.nope")


def test_advice_is_tried(gateway: Served, connection: Connection) -> None:
    record_scans(gateway.gateway)
    begun = connection.begin_trial("lake.tpcds.store_returns", "SORT", days=7)
    assert (begun.kind, begun.is_ended) == ("SORT", False)
    gateway.gateway.layout_trials.wait()
    found = connection.trial("lake.tpcds.store_returns", begun.trial_id)
    assert (found.state, found.is_ended) == ("SUCCEEDED", True)
    assert found.report is not None
    assert found.report.bytes.difference == (found.report.bytes.predicted - 1_000) / 1_000
    assert found.report.filters[0].columns == ("day",)
    assert found in connection.trials("lake.tpcds.store_returns")
    assert connection.cancel_trial("lake.tpcds.store_returns", begun.trial_id) == found
    with pytest.raises(NotFound):
        connection.begin_trial("lake.tpcds.nope", "SORT")


def test_a_query_is_described_without_a_run(gateway: Served, connection: Connection) -> None:
    described = connection.describe("SELECT d_moy FROM t WHERE d_year = :year", timeout_s=5)
    assert [(column.name, column.type) for column in described.columns] == [("d_moy", "INT")]
    assert [(parameter.name, parameter.type) for parameter in described.parameters] == [("year", "INT")]
    assert gateway.queries.by_id == {}
    [asked] = gateway.queries.described
    assert asked.timeout_ms == 5000
    from service.errors.statement_errors import SqlSyntaxError

    gateway.queries.failures["SELEC"] = SqlSyntaxError("It is not SQL.")
    with pytest.raises(SqlInvalid):
        connection.describe("SELEC")


@pytest.mark.anyio
async def test_the_async_twin_says_the_same(
    connection: Connection, async_connection: AsyncConnection
) -> None:
    assert await async_connection.catalogs() == connection.catalogs()
    assert await async_connection.schemas() == connection.schemas()
    assert await async_connection.tables(columns=True) == connection.tables(columns=True)
    name = "lake.tpcds.store_returns"
    assert await async_connection.table(name) == connection.table(name)
    assert await async_connection.describe("SELECT 1") == connection.describe("SELECT 1")


def page(*names: str, token: str | None) -> bytes:
    tables: list[dict[str, Any]] = [
        {"name": f"a.b.{name}", "catalog": "a", "schema": "b", "table": name} for name in names
    ]
    document = {"tables": tables, "missingCatalogs": ["c"], "nextPageToken": token}
    return answer(json.dumps(document).encode())


def test_all_pages_are_read() -> None:
    with (
        hostile(page("x", "y", token="1"), page("z", token=None)) as server,
        connect(server.url) as connection,
    ):
        found = connection.tables()
    assert [entry.table for entry in found] == ["x", "y", "z"]
    assert found.missing_catalogs == ("c",)
    assert b"pageToken=1" in server.requests[1]


def test_an_empty_page_is_the_last_one() -> None:
    with hostile(page(token="1")) as server, connect(server.url) as connection:
        assert len(connection.tables()) == 0
    assert len(server.requests) == 1
