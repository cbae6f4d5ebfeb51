"""Tests `sluice ingest`: files, standard input, options, and what is printed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.client.cli.running import Cli
from tests.client.gateways import Served
from tests.client.hostile_server import answer, hostile, ingest_answer, problem

TABLE = "lake.logs.events"
COLUMNS = ["--write-schema", "log_type,user_id"]
LINES = '{"log_type": "http", "user_id": 1}\n{"log_type": "dns", "user_id": 2}\n'
ROWS = [{"log_type": "http", "user_id": 1}, {"log_type": "dns", "user_id": 2}]


def test_files_are_written_one_by_one(cli: Cli, gateway: Served, tmp_path: Path) -> None:
    first, second = tmp_path / "a.ndjson", tmp_path / "b.ndjson.gz"
    first.write_text(LINES, "utf-8")
    second.write_bytes(gzip.compress(b'{"log_type": "tls", "user_id": 3}\n'))
    ended = cli.run("ingest", TABLE, str(first), str(second), *COLUMNS)
    assert ended.code == 0, ended.err
    assert gateway.written() == [*ROWS, {"log_type": "tls", "user_id": 3}]
    lines = ended.out.splitlines()
    assert [line.split(":")[0] for line in lines] == [str(first), f"  {TABLE}", str(second), f"  {TABLE}"]
    assert "committed, ingest " in lines[0]
    assert "2 records in 1 file, snapshot " in lines[1]


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_needs_its_format(cli: Cli, gateway: Served, arguments: list[str]) -> None:
    ended = cli.run("ingest", TABLE, *arguments, *COLUMNS, "--format", "jsonl", standard_input=LINES)
    assert ended.code == 0, ended.err
    assert ended.out.startswith("standard input: committed")
    assert gateway.written() == ROWS
    refused = cli.run("ingest", TABLE, *arguments, *COLUMNS, standard_input=LINES)
    assert (refused.code, "--format" in refused.err) == (2, True)


def test_csv_has_the_format_of_its_name(cli: Cli, gateway: Served, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("log_type,user_id\nhttp,1\n", "utf-8")
    assert cli.run("ingest", TABLE, str(path), *COLUMNS).code == 0
    assert gateway.written() == ROWS[:1]


def test_the_answer_can_be_json(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text(LINES, "utf-8")
    [line] = cli.run("ingest", TABLE, str(path), *COLUMNS, "--json").out.splitlines()
    found = json.loads(line)
    assert (found["state"], found["commits"][0]["addedRecords"]) == ("COMMITTED", 2)


def test_records_that_do_not_fit_are_reported_with_their_places(
    cli: Cli, gateway: Served, tmp_path: Path
) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text('{"log_type": "http", "user_id": "x"}\n', "utf-8")
    ended = cli.run("ingest", TABLE, str(path), *COLUMNS)
    assert ended.code == 1
    assert ended.err.startswith("sluice: RECORDS_INVALID: ")
    assert "line 1" in ended.err
    assert gateway.written() == []


def test_the_files_after_one_that_failed_are_not_sent(cli: Cli, gateway: Served, tmp_path: Path) -> None:
    for name, text in (("a", LINES), ("b", "no json"), ("c", LINES)):
        (tmp_path / f"{name}.ndjson").write_text(text, "utf-8")
    files = [str(tmp_path / f"{name}.ndjson") for name in "abc"]
    ended = cli.run("ingest", TABLE, *files, *COLUMNS)
    assert ended.code == 1
    assert ended.out.startswith(f"{files[0]}: committed")
    assert gateway.written() == ROWS


def sent_with(*options: str, path: Path) -> dict[str, list[str]]:
    with hostile(answer(json.dumps(ingest_answer("COMMITTED")).encode())) as server:
        ended = Cli(server.url).run("ingest", TABLE, str(path), *options)
    assert ended.code == 0, ended.err
    [request] = server.requests
    return parse_qs(urlsplit(request.split()[1].decode()).query)


def test_options_are_sent(tmp_path: Path) -> None:
    path, schema = tmp_path / "a.ndjson", tmp_path / "schema.json"
    path.write_text(LINES, "utf-8")
    fields: dict[str, Any] = {"type": "struct", "fields": []}
    schema.write_text(json.dumps(fields), "utf-8")
    sent = sent_with(
        *[
            "--mode",
            "upsert",
            "--equality-fields",
            "log_type, user_id",
            "--branch",
            "b",
            "--wait",
            "accepted",
        ],
        *["--delete-when", "op=D,X", "--envelope", "debezium", "--order-by", "at", "--rest", "more"],
        *["--on-error", "dead-letter", "--schema", str(schema), "--create", "--evolve"],
        *["--request-id", "00000000-0000-0000-0000-000000000007", "--write-schema", "infer"],
        path=path,
    )
    assert {name: values[0] for name, values in sent.items()} == {
        "table": TABLE,
        "writeSchema": "infer",
        "branch": "b",
        "mode": "upsert",
        "equalityFields": "log_type,user_id",
        "deleteWhen": '{"field": "op", "values": ["D", "X"]}',
        "envelope": "debezium",
        "orderBy": "at",
        "rest": "more",
        "schema": json.dumps(fields),
        "evolve": "true",
        "create": "{}",
        "wait": "ACCEPTED",
        "onError": "DEAD_LETTER",
        "requestId": "00000000-0000-0000-0000-000000000007",
    }
    written = '{"type":"struct","fields":[]}'
    assert json.loads(sent_with("--write-schema", written, path=path)["writeSchema"][0]) == fields


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.ndjson"], "No such file"),
        (["a.ndjson", "--mode", "replace"], "--mode is one of"),
        (["a.ndjson", "--delete-when", "op"], "--delete-when is FIELD=VALUE"),
        (["a.ndjson", "--envelope", "maxwell"], "--envelope is one of"),
        (["a.ndjson", "--wait", "never"], "--wait is one of"),
        (["a.ndjson", "--on-error", "ignore"], "--on-error is one of"),
        (["a.ndjson", "--format", "xml"], "--format is one of"),
        (["a.ndjson", "--compression", "lzma"], "--compression is one of"),
        (["a.ndjson", "--create"], "--schema"),
        (["a.ndjson", "--schema", "nowhere.json"], "No such file"),
        (["a.ndjson", "--write-schema", "[1"], "not valid JSON"),
        (["a.txt"], "--format"),
        (["a.ndjson", "a.ndjson", "--request-id", "00000000-0000-0000-0000-000000000007"], "one file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_sends_nothing(
    cli: Cli,
    gateway: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.ndjson", "a.txt"):
        (tmp_path / name).write_text(LINES, "utf-8")
    ended = cli.run("ingest", TABLE, *arguments)
    assert ended.code == 2, ended.err
    assert says in ended.err
    assert gateway.written() == []


def test_a_lost_connection_says_how_to_send_it_again(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text(LINES, "utf-8")
    request_id = "00000000-0000-0000-0000-000000000007"
    with hostile(b"") as server:
        ended = Cli(server.url).run("ingest", TABLE, str(path), *COLUMNS, "--request-id", request_id)
    assert ended.code == 4
    assert f"--request-id {request_id}" in ended.err


def test_a_commit_that_failed_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text(LINES, "utf-8")
    accepted, failed = (answer(json.dumps(ingest_answer(state)).encode()) for state in ("ACCEPTED", "FAILED"))
    with hostile(accepted, failed) as server:
        ended = Cli(server.url).run("ingest", TABLE, str(path))
    assert ended.code == 1
    assert "TABLE_CHANGED" in ended.err
    with hostile(problem("WRITE_SCHEMA_INVALID", 422)) as server:
        assert Cli(server.url).run("ingest", TABLE, str(path)).code == 1
