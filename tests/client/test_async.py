"""Tests the async twin: it gives what the blocking connection gives, and cancels what nobody awaits."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sluice_client import (
    AsyncConnection,
    AsyncResult,
    Connection,
    ConnectionClosed,
    Result,
    SqlInvalid,
    errors,
)
from tests.client.gateways import Served

pytestmark = pytest.mark.anyio
TABLE = "lake.logs.events"
FIVE = "SELECT range AS n FROM range(5)"
ROWS = [(0,), (1,), (2,), (3,), (4,)]


async def test_a_query_returns_its_rows_in_each_form(async_connection: AsyncConnection) -> None:
    result = await async_connection.query(FIVE)
    assert await result.rows() == ROWS
    assert [row async for row in result] == ROWS
    assert [batch.num_rows async for batch in result.batches()] == [2, 2, 1]
    assert (await result.arrow()).column("n").to_pylist() == [0, 1, 2, 3, 4]
    assert (await result.explain()).query_id == result.query_id


async def test_many_queries_run_at_once(async_connection: AsyncConnection) -> None:
    results = await asyncio.gather(*(async_connection.query(f"SELECT {number}") for number in range(20)))
    assert [await result.rows() for result in results] == [[(number,)] for number in range(20)]


async def test_an_error_is_the_same(async_connection: AsyncConnection) -> None:
    with pytest.raises(SqlInvalid, match="SQL_INVALID"):
        await async_connection.query("SELECT nothing FROM range(1)")


async def test_a_task_that_is_canceled_cancels_its_query(
    gateway: Served, async_connection: AsyncConnection
) -> None:
    gateway.queries.unfinished.add(FIVE)
    task = asyncio.create_task(async_connection.query(FIVE))
    await asyncio.to_thread(gateway.queries.is_waited_for.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [query.record.state for query in gateway.queries.by_id.values()] == ["CANCELED"]


@pytest.mark.parametrize("how", ["records", "table", "path", "open"])
async def test_data_is_written(
    gateway: Served, async_connection: AsyncConnection, tmp_path: Path, how: str
) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text('{"user_id": 1}\n')
    with path.open("rb") as file:
        data: dict[str, Any] = {
            "records": iter([{"user_id": 1}]),
            "table": pa.table({"user_id": [1]}),
            "path": path,
            "open": file,
        }
        result = await async_connection.ingest(TABLE, data[how], write_schema=["user_id"])
    assert gateway.written() == [{"user_id": 1}]
    assert (await async_connection.ingest_status(result.ingest_id, wait=True)).state == "COMMITTED"


async def test_a_query_can_be_sent_awaited_and_canceled(
    gateway: Served, async_connection: AsyncConnection
) -> None:
    gateway.queries.unfinished.add(FIVE)
    first, second = await async_connection.submit(FIVE), await async_connection.submit(FIVE)
    gateway.queries.finish(first.query_id)
    assert await (await async_connection.result(first.query_id)).rows() == ROWS
    await async_connection.cancel(second.query_id)
    assert (await async_connection.status(second.query_id)).state == "CANCELED"
    with pytest.raises(errors.QueryCanceled):
        await async_connection.result(second.query_id)


async def test_a_text_is_explained(async_connection: AsyncConnection) -> None:
    assert (await async_connection.explain("SELECT 1")).state == "PLANNED"


async def test_a_closed_connection_is_an_error(async_connection: AsyncConnection) -> None:
    await async_connection.close()
    with pytest.raises(ConnectionClosed):
        await async_connection.query("SELECT 1")


@pytest.mark.parametrize(("one", "twin"), [(Connection, AsyncConnection), (Result, AsyncResult)])
def test_the_twins_have_the_same_calls(one: type, twin: type) -> None:
    def calls(kind: type) -> dict[str, list[str]]:
        found = inspect.getmembers(kind, inspect.isfunction)
        return {
            name: list(inspect.signature(call).parameters) for name, call in found if not name.startswith("_")
        }

    # A reader of Arrow blocks, so the twin has none.
    assert calls(one).keys() - calls(twin).keys() == ({"reader"} if one is Result else set())
    assert {name: calls(one)[name] for name in calls(twin)} == calls(twin)
