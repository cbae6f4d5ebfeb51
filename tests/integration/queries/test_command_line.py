"""The client's command line on a real gateway: every command once."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyiceberg.table import Table

from sluice_client import connect
from tests.client.cli.running import Cli
from tests.integration.log_tables import ids, named
from tests.integration.running import ENDLESS, RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration


@pytest.fixture
def cli(running: RunningGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("SLUICE_TOKEN", "SLUICE_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return Cli(running.url)


def test_records_are_written_found_and_read(cli: Cli, log_table: Table, tmp_path: Path) -> None:
    table, path, rows = named(log_table), tmp_path / "a.ndjson", tmp_path / "rows.parquet"
    path.write_text('{"id": 1, "kind": "a"}\n{"id": 2, "kind": null}\n', "utf-8")
    written = cli.run("ingest", table, str(path), "--write-schema", "id,kind")
    assert written.code == 0, written.err
    assert "2 records in 1 file, snapshot" in written.out
    assert ids(log_table) == [1, 2]
    sql = f"SELECT id, kind FROM {table} WHERE id >= :least ORDER BY id"
    assert cli.run("query", sql, "-p", "least=1").out == "id,kind\r\n1,a\r\n2,\r\n"
    shown = cli.run("query", sql, "-p", "least=2", "--format", "table")
    assert shown.out.splitlines()[0] == "id │ kind"
    assert shown.out.splitlines()[2] == " 2 │ NULL"
    assert "1 of 1 files" in shown.err
    assert cli.run("query", sql, "-p", "least=1", "--output", str(rows)).code == 0
    assert pq.read_table(rows).column("id").to_pylist() == [1, 2]
    name = table.rpartition(".")[2]
    assert [found["table"] for found in json.loads(cli.run("tables", name, "--format", "json").out)] == [name]
    assert cli.run("tables", table).out.startswith("column,type,nullable,comment\r\nid,")


def test_a_large_result_is_whole_in_every_format(cli: Cli) -> None:
    sql = "SELECT id FROM range(25000)"
    for asked, lines in (("csv", 25_001), ("jsonl", 25_000)):
        ended = cli.run("query", sql, "--row-limit", "25000", "--format", asked)
        assert len(ended.out.splitlines()) == lines
    refused = cli.run("query", sql)
    assert (refused.code, refused.out) == (1, "")
    assert "--row-limit" in refused.err


def test_an_error_has_its_place(cli: Cli) -> None:
    ended = cli.run("query", "SELECT id,\n  nothing\nFROM range(1)")
    assert ended.code == 1
    assert ended.err.startswith("sluice: COLUMN_NOT_FOUND: ")
    assert "  line 2:   nothing\n" in ended.err
    assert json.loads(cli.run("query", "SELEC 1", "--json-errors").err)["code"] == "SQL_SYNTAX"


def test_a_running_query_is_seen_canceled_and_explained(cli: Cli) -> None:
    with connect(cli.url) as connection:
        query_id = connection.submit(ENDLESS).query_id
    try:
        until(lambda: str(query_id) in cli.run("top", "--once").out, 60)
        assert f"query {query_id}: running" in cli.run("status", str(query_id)).out
    finally:
        assert cli.run("cancel", str(query_id)).code == 0
    ended = cli.run("status", str(query_id), "--wait")
    assert (ended.code, "canceled" in ended.out) == (1, True)
    assert cli.run("explain", str(query_id)).code == 0


def test_sql_is_explained_without_a_run(cli: Cli) -> None:
    ended = cli.run("explain", "SELECT count(*) FROM range(5)", "--format", "json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["state"] == "PLANNED"


def test_the_gateway_is_ready(cli: Cli) -> None:
    ended = cli.run("status")
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == f"ready: {cli.url}"
