"""The demo's ingest: several log types in one request, each with its own write schema, and one commit."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from api.cli.demonstration.demo_scans import show_scans
from service.errors.gateway_error import CannotStart

LOG_TABLE = "logs.events"
"""The table's name in the default catalog."""
DAYS = 3
RECORDS_OF_A_TYPE = 300
ACTIVE_COLUMNS = 40
SHARED = ("event_time", "log_type", "user_id")
TYPES = ("http", "auth", "db", "cache", "queue")
QUESTION = "SELECT count(*) AS requests, max(http_01) AS largest\n  FROM {table}\n WHERE http_01 >= 900"


def show_ingest(client: httpx.Client, console: Console, catalog: str) -> None:
    """Sends the records, shows the commit, and runs a query whose scan skips files without its column.

    Raises:
        CannotStart: the ingest or the query failed.
    """
    table = f"{catalog}.{LOG_TABLE}"
    console.print(f"\n[bold]POST {_address(client)}/ingest[/]", highlight=False)
    console.print(
        f"  {len(TYPES)} log types for {table}, a table of 500 columns; each with a writeSchema of "
        f"{ACTIVE_COLUMNS} of them and {RECORDS_OF_A_TYPE} records:",
        highlight=False,
        soft_wrap=True,
    )
    body = {"writes": [_write(table, log_type) for log_type in TYPES]}
    first = body["writes"][0]
    console.print(
        f'  {{"table": "{table}", "writeSchema": ["event_time", "log_type", "user_id", "http_00", …], '
        f'"records": [{{"event_time": "{first["records"][0]["event_time"]}", …}}, …]}}, …',
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    started = time.perf_counter()
    answer = _succeeded(client.post("/ingest", json=body))
    took_ms = (time.perf_counter() - started) * 1000
    [commit] = answer["commits"]
    _show_commit(console, commit, took_ms)
    _show_question(client, console, table)


def _write(table: str, log_type: str) -> Mapping[str, Any]:
    chance = random.Random(log_type)
    columns = [f"{log_type}_{number:02}" for number in range(ACTIVE_COLUMNS - len(SHARED))]
    records = [_record(number, log_type, columns, chance) for number in range(RECORDS_OF_A_TYPE)]
    return {"table": table, "writeSchema": [*SHARED, *columns], "records": records}


def _record(number: int, log_type: str, columns: Sequence[str], chance: random.Random) -> Mapping[str, Any]:
    minutes = number * DAYS * 24 * 60 // RECORDS_OF_A_TYPE
    moment = f"2026-01-{1 + minutes // 1440:02}T{minutes // 60 % 24:02}:{minutes % 60:02}:00Z"
    values = (
        (chance.choice(("a", "b", "c")), chance.randrange(1000), round(chance.random(), 3))
        for _ in range(len(columns) // 3 + 1)
    )
    flat = [value for three in values for value in three]
    shared = {"event_time": moment, "log_type": log_type, "user_id": chance.randrange(100)}
    return shared | dict(zip(columns, flat, strict=False))


def _show_commit(console: Console, commit: Mapping[str, Any], took_ms: float) -> None:
    table = Table(title="One snapshot, files with 40 columns each", title_justify="left")
    for name in ("write schema", "columns", "records", "data files"):
        table.add_column(name, justify="right")
    for log_type, target in zip(TYPES, commit["writeTargets"], strict=True):
        columns = len(target["writeSchemaColumnIds"])
        table.add_row(log_type, str(columns), str(target["records"]), str(target["dataFiles"]))
    console.print(table)
    console.print(
        f"[bold]{took_ms:.0f} ms[/] until snapshot {commit['snapshotId']} was committed: "
        f"{commit['addedRecords']:,} records, {commit['addedDataFiles']} files, "
        f"{commit['addedBytes']:,} bytes.\n",
        highlight=False,
        soft_wrap=True,
    )


def _show_question(client: httpx.Client, console: Console, table: str) -> None:
    sql = QUESTION.format(table=table)
    console.print(f"[bold]POST {_address(client)}/query[/]", highlight=False)
    console.print("    " + sql.replace("\n", "\n    "), highlight=False, markup=False)
    answer = _succeeded(client.post("/query", json={"sql": sql, "waitTimeout": "50s"}))
    [row] = answer["result"]["rows"]
    console.print(
        f"  {row[0]} requests. The manifests list which columns a file has, so the scan skips files"
        " without the column:",
        highlight=False,
    )
    show_scans(console, client.get(answer["links"]["explain"]).raise_for_status().json())


def _address(client: httpx.Client) -> str:
    return str(client.base_url).rstrip("/")


def _succeeded(response: httpx.Response) -> dict[str, Any]:
    answer: dict[str, Any] = response.json()
    state = answer.get("state") or answer.get("status", {})
    if response.is_error or (state if isinstance(state, str) else state["state"]) not in (
        "COMMITTED",
        "SUCCEEDED",
    ):
        raise CannotStart(f"The demo's ingest failed: {response.text[:1000]}")
    return answer
