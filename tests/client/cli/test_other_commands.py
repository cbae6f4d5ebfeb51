"""Tests `tables`, `advise`, `status`, `cancel`, `top`, `explain` and `completion`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from service.errors.query_errors import QueryFailed
from service.model.operations.health import PartHealth, PartState
from service.model.query.progress import QueuePlace
from service.model.query.query import QueryState
from sluice_client import connect
from tests.client.cli.running import Cli
from tests.client.gateways import Served
from tests.client.hostile_server import answer, hostile, ingest_answer, problem, query_answer
from tests.fakes.recorded_scans import record_scans

NOBODY = "00000000-0000-0000-0000-00000000000f"


def listed(*names: str) -> bytes:
    entries = [dict(zip(("catalog", "schema", "table"), name.split("."), strict=True)) for name in names]
    tables = [entry | {"name": ".".join(entry.values())} for entry in entries]
    return answer(json.dumps({"tables": tables, "missingCatalogs": ["shop\x1b[m"]}).encode())


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ([], ["date_dim", "item", "line_item"]),
        (["ITEM"], ["item", "line_item"]),
        (["*_dim"], ["date_dim"]),
        (["lake.tpcds.*"], ["date_dim", "item"]),
        (["none"], []),
    ],
)
def test_tables_are_listed_by_a_pattern(pattern: list[str], expected: list[str]) -> None:
    with hostile(listed("lake.tpcds.date_dim", "lake.tpcds.item", "lake.shop.line_item")) as server:
        ended = Cli(server.url).run("tables", *pattern)
    assert [line.rpartition(",")[2] for line in ended.out.splitlines()[1:]] == expected
    assert f"{len(expected)} of 3 tables" in ended.err
    assert "shop\\x1b[m does not answer" in ended.err


def test_a_full_name_shows_the_columns(cli: Cli) -> None:
    ended = cli.run("tables", "lake.tpcds.store_returns")
    assert ended.out == "column,type,nullable,comment\r\nsr_returned_date_sk,long,true,\r\n"
    assert "287,867 rows, 2,003 files of 24.4 MiB" in ended.err
    missing = cli.run("tables", "lake.tpcds.gone")
    assert (missing.code, "TABLE_NOT_FOUND" in missing.err) == (1, True)


def test_advice_is_a_list_and_says_how_to_follow_it(cli: Cli, gateway: Served) -> None:
    nothing = cli.run("advise", "lake.tpcds.store_returns")
    assert "No scan of the table is recorded" in nothing.err
    record_scans(gateway.gateway)
    ended = cli.run("advise", "lake.tpcds.store_returns", "--days", "7")
    head, *rows = ended.out.splitlines()
    assert head == "kind,columns,bytes_before,bytes_after,saved,files_before,files_after"
    assert any(row.startswith("SORT,day,") for row in rows)
    assert "CALL `lake`.system.rewrite_data_files(" in ended.err
    assert "2 recorded scans" in ended.err
    whole = json.loads(cli.run("advise", "lake.tpcds.store_returns", "--json").out)
    assert [advice["kind"] for advice in whole["advice"]] == [row.partition(",")[0] for row in rows]
    missing = cli.run("advise", "lake.tpcds.gone")
    assert (missing.code, "TABLE_NOT_FOUND" in missing.err) == (1, True)


def test_advice_is_tried_and_predicted_is_compared_with_seen(cli: Cli, gateway: Served) -> None:
    nothing = cli.run("advise", "lake.tpcds.store_returns", "--apply")
    assert (nothing.code, "There is no advice" in nothing.err) == (1, True)
    record_scans(gateway.gateway)
    ended = cli.run("advise", "lake.tpcds.store_returns", "--apply", "--kind", "sort")
    head, whole, *rows = ended.out.splitlines()
    assert head == "filter,scans,bytes_now,predicted,seen,difference"
    assert whole.startswith("all scans,2,32000,")
    assert [row.partition(",")[0] for row in rows] == ["day"]
    assert "rewrites the files of a copy" in ended.err or "finds the advice" in ended.err
    assert "the table is as it was" in ended.err
    best = json.loads(cli.run("advise", "lake.tpcds.store_returns", "--apply", "--json").out)
    assert best["state"] == "SUCCEEDED"
    failed = cli.run("advise", "lake.tpcds.store_returns", "--apply", "--kind", "COMPACTION")
    assert (failed.code, "no advice of this kind" in failed.err) == (1, True)


@pytest.mark.parametrize("asked", ["table", "json", "jsonl", "markdown", "vertical", "csv"])
def test_lists_have_every_format_of_text(cli: Cli, asked: str) -> None:
    ended = cli.run("tables", "--catalog", "lake", "--schema", "tpcds", "--format", asked)
    assert ended.code == 0
    assert "store_returns" in ended.out.replace("\\", "")
    assert cli.run("tables", "--format", "parquet").code == 2


def test_the_gateways_parts_are_listed(cli: Cli, gateway: Served) -> None:
    assert cli.run("status").out.splitlines()[-1] == f"ready: {gateway.url}"
    gateway.gateway.parts = (
        PartHealth("engine", PartState.STARTING, is_required=True, detail="It starts."),
        PartHealth("filter cache", PartState.UP, is_required=False),
    )
    try:
        ended = cli.run("status")
        assert ended.code == 4
        assert ended.out.splitlines()[2].split(" │ ") == ["engine      ", "STARTING", "It starts."]
        assert ended.out.splitlines()[-1] == f"not ready: {gateway.url}"
        assert json.loads(cli.run("status", "--json").out)["parts"]["engine"]["state"] == "STARTING"
    finally:
        gateway.gateway.parts = (PartHealth("engine", PartState.UP, is_required=True),)


def test_a_query_has_a_state(cli: Cli, gateway: Served) -> None:
    gateway.queries.failures["SELECT 2"] = QueryFailed("Division by zero.")
    gateway.queries.unfinished.add("SELECT 3")
    with connect(gateway.url) as connection:
        done = connection.query("SELECT 1").query_id
        failed = connection.submit("SELECT 3").query_id
        gateway.queries.failures["SELECT 3"] = QueryFailed("Division by zero.")
    ended = cli.run("status", str(done))
    assert ended.code == 0
    assert ended.out.splitlines() == [
        f"query {done}: succeeded in 0.01 s",
        "1 row of 1 column",
        "366 of 2,003 files, 1 filter applied",
    ]
    assert cli.run("status", str(failed)).out == f"query {failed}: running for 0 s\n"
    gateway.queries.finish(failed)
    ended = cli.run("status", str(failed), "--wait")
    assert ended.code == 1
    assert "QUERY_FAILED: Division by zero." in ended.out
    found = json.loads(cli.run("status", str(failed), "--json").out)
    assert (found["state"], found["error"]["code"]) == ("FAILED", "QUERY_FAILED")


def test_progress_and_place_are_shown_if_the_gateway_says_them() -> None:
    running = {
        "state": "RUNNING",
        "error": None,
        "queuedMs": 0,
        "elapsedMs": 9000,
        "progress": {"percent": 41.7},
        "queue": {"position": 3, "estimatedWaitMs": 1800, "group": "global"},
    }
    with hostile(answer(json.dumps(query_answer(status=running, manifest=None)).encode())) as server:
        ended = Cli(server.url).run("status", NOBODY)
        found = json.loads(Cli(server.url).run("status", NOBODY, "--json").out)
    place = "place 3 in the queue, about 2 s to wait"
    assert ended.out == f"query {query_answer()['queryId']}: running for 9 s, {place}, 42 %\n"
    assert found["percent"] == 41.7
    assert (found["queuePosition"], found["estimatedWaitMs"], found["resourceGroup"]) == (3, 1800, "global")


@pytest.mark.parametrize(("state", "code"), [("COMMITTED", 0), ("ACCEPTED", 0), ("FAILED", 1)])
def test_an_ingest_has_a_state(state: str, code: int) -> None:
    found = answer(json.dumps(ingest_answer(state)).encode())
    with hostile(problem("QUERY_NOT_FOUND", 404), found) as server:
        ended = Cli(server.url).run("status", NOBODY)
    assert ended.code == code
    assert ended.out.splitlines()[0].endswith(f"{state.lower()}, ingest {ingest_answer(state)['ingestId']}")


def test_an_id_that_nobody_knows_is_an_error(cli: Cli) -> None:
    for command in ("status", "cancel", "explain"):
        ended = cli.run(command, NOBODY)
        assert (ended.code, "QUERY_NOT_FOUND" in ended.err) == (1, True)
    assert cli.run("status", "no-id").code == 2


def test_queries_are_canceled_also_beside_one_that_is_not_there(cli: Cli, gateway: Served) -> None:
    gateway.queries.unfinished |= {"SELECT 1", "SELECT 2"}
    with connect(gateway.url) as connection:
        first, second = connection.submit("SELECT 1").query_id, connection.submit("SELECT 2").query_id
    ended = cli.run("cancel", str(first), NOBODY, str(second))
    assert ended.code == 1
    assert ended.out.splitlines() == [f"query {first}: asked to end", f"query {second}: asked to end"]
    assert {str(query.record.state) for query in gateway.queries.by_id.values()} == {"CANCELED"}
    assert cli.run("cancel", str(first)).code == 0


def test_top_shows_where_queries_wait_in_the_order_of_their_turns(cli: Cli, gateway: Served) -> None:
    gateway.queries.unfinished |= {f"SELECT {number}" for number in range(3)}
    with connect(gateway.url) as connection:
        sent = [connection.submit(f"SELECT {number}").query_id for number in range(3)]
    for query_id in sent[:2]:
        query = gateway.queries.by_id[query_id]
        query.record = replace(query.record, state=QueryState.QUEUED)
    gateway.queries.place = QueuePlace(2, 1800, "global")
    lines = [
        [cell.strip() for cell in line.split(" │ ")] for line in cli.run("top", "--once").out.splitlines()
    ]
    assert lines[2][0] == str(sent[2])
    assert [line[2] for line in lines[2:]] == ["running", *["queued, place 2, about 2 s"] * 2]
    gateway.queries.place = QueuePlace(0, None, "global")
    assert cli.run("top", "--once").out.count("queued, being planned") == 2


def test_top_lists_queries_that_have_not_ended(cli: Cli, gateway: Served) -> None:
    gateway.queries.unfinished.add("SELECT\n  7 -- \x1b[2J")
    with connect(gateway.url) as connection:
        running = connection.submit("SELECT\n  7 -- \x1b[2J").query_id
        connection.query("SELECT 1")
    ended = cli.run("top", "--once")
    header, _, line = ended.out.splitlines()
    assert header.split() == ["query", "│", "caller", "│", "state", "│", "seconds", "│", "done", "│", "sql"]
    assert [cell.strip() for cell in line.split(" │ ")] == [
        str(running),
        "anonymous",
        "running",
        "0.0",
        "NULL",
        "SELECT 7 -- \\x1b[2J",
    ]


def test_an_explanation_is_text_json_or_a_page(cli: Cli, gateway: Served) -> None:
    assert cli.run("query", "SELECT 1").code == 0
    [query_id] = map(str, gateway.queries.by_id)
    assert "366" in cli.run("explain", query_id).out
    assert json.loads(cli.run("explain", query_id, "--format", "json").out)["queryId"] == query_id
    assert cli.run("explain", query_id, "--format", "html").out.startswith("<!")
    planned = cli.run("explain", "SELECT :n;", "-p", "n=1", "--catalog", "lake", "--format", "json")
    assert json.loads(planned.out)["state"] == "PLANNED"
    assert cli.run("explain", standard_input="SELECT 1").code == 0
    for wrong in (["--format", "xml"], ["SELECT 1; SELECT 2"], [" "]):
        assert cli.run("explain", *wrong).code == 2


def test_a_page_is_opened_from_a_file_that_only_this_user_may_read(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = home / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {home}/opened\n', "utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    ended = cli.process("explain", "SELECT 1", "--open")
    assert (ended.code, ended.out) == (0, "")
    [page] = Path(home / "tmpdir").glob("sluice-explain-*.html")
    assert page.stat().st_mode & 0o077 == 0
    assert page.read_text("utf-8").startswith("<!")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(cli: Cli, shell: str) -> None:
    ended = cli.run("completion", shell)
    assert ended.code == 0
    assert "_COMPLETE=complete_" in ended.out
    assert cli.run("completion", "tcsh").code == 2


def test_a_shell_gets_commands_and_options(cli: Cli) -> None:
    asked = {"COMP_WORDS": "sluice-client t", "COMP_CWORD": "1"}
    found = cli.process(variables={"_SLUICE_CLIENT_COMPLETE": "complete_bash", **asked})
    assert found.out.split() == ["tables", "top"]
