"""Tests the exit code and the message of each outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.client.cli.running import Cli
from tests.client.gateways import Served
from tests.client.hostile_server import answer, hostile, problem, succeeded

SQL = "SELECT d_year,\n       d_yeer\nFROM date_dim"


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("SQL_SYNTAX", 422, 1),
        ("TABLE_NOT_FOUND", 404, 1),
        ("NOT_AUTHENTICATED", 401, 3),
        ("NOT_ALLOWED", 403, 3),
        ("TOO_MANY_QUERIES", 429, 4),
        ("NOT_READY", 503, 4),
        ("INTERNAL_ERROR", 500, 1),
    ],
)
def test_a_problem_has_the_exit_code_of_its_kind(code: str, status: int, expected: int) -> None:
    with hostile(problem(code, status, queryId="00000000-0000-0000-0000-000000000001")) as server:
        ended = Cli(server.url).run("query", "SELECT 1")
    assert (ended.code, ended.out) == (expected, "")
    assert ended.err.splitlines()[0] == f"sluice: {code}: It is {code}."


def test_a_query_that_failed_while_it_ran_has_failed() -> None:
    failed = {
        "state": "FAILED",
        "error": {"code": "QUERY_FAILED", "detail": "Division by zero.", "errors": []},
        "queuedMs": 0,
        "elapsedMs": 1,
    }
    with hostile(succeeded(status=failed, manifest=None)) as server:
        ended = Cli(server.url).run("query", "SELECT 1")
    assert ended.code == 1
    assert ended.err.startswith("sluice: QUERY_FAILED: Division by zero.\n")


@pytest.mark.parametrize(
    "sent",
    [answer(b"<html>", 200, "text/html"), answer(b"no", 404, "text/plain"), b""],
    ids=["page", "proxy", "nothing"],
)
def test_another_server_is_no_gateway(sent: bytes) -> None:
    with hostile(sent) as server:
        ended = Cli(server.url).run("explain", "00000000-0000-0000-0000-000000000001")
    assert ended.code == 4
    assert ended.err.startswith("sluice: ")


def test_nobody_listens(cli: Cli) -> None:
    ended = cli.run("tables", "--url", "http://127.0.0.1:9")
    assert ended.code == 4
    assert "there is no connection" in ended.err


def faulty(**more: Any) -> bytes:
    entry = {"detail": "There is no column d_yeer.", "nearest": ["d_year"], **more}
    return problem("COLUMN_NOT_FOUND", 422, detail="There is no column d_yeer.", errors=[entry])


def test_the_place_in_the_sql_has_a_caret() -> None:
    with hostile(faulty(line=2, column=8)) as server:
        ended = Cli(server.url).run("query", SQL)
    assert ended.err.splitlines() == [
        "sluice: COLUMN_NOT_FOUND: There is no column d_yeer.",
        "  line 2:        d_yeer",
        "                 ^",
        "  nearest: d_year",
    ]


def test_the_place_in_a_file_counts_from_the_files_first_line(tmp_path: Path) -> None:
    path = tmp_path / "days.sql"
    path.write_text(f"\n\n{SQL};\n", "utf-8")
    with hostile(faulty(line=2, column=8)) as server:
        ended = Cli(server.url).run("query", "--file", str(path))
    assert ended.err.splitlines()[1:3] == ["  days.sql:4:        d_yeer", "                     ^"]


@pytest.mark.parametrize(
    ("line", "column"),
    [(0, 0), (99, 1), (2, 10_000), (-1, -1), (2, 0)],
)
def test_a_place_that_is_not_in_the_sql_does_no_harm(line: int, column: int) -> None:
    with hostile(faulty(line=line, column=column)) as server:
        ended = Cli(server.url).run("query", SQL)
    assert ended.code == 1
    assert "nearest: d_year" in ended.err


def test_a_long_line_is_shown_around_the_place() -> None:
    sql = "SELECT " + ", ".join(f"column_{number}" for number in range(100)) + ", d_yeer FROM t"
    with hostile(faulty(line=1, column=sql.index("d_yeer") + 1)) as server:
        ended = Cli(server.url).run("query", sql)
    _, shown, caret, _ = ended.err.splitlines()
    assert len(shown) < 100
    assert shown[caret.index("^") :].startswith("d_yeer")


def test_json_errors_are_the_problem_of_the_gateway(gateway: Served, cli: Cli) -> None:
    ended = cli.run("query", "SELECT nope FROM range(1)", "--json-errors")
    [query_id] = gateway.queries.by_id
    found = json.loads(ended.err)
    assert (found["code"], found["status"], found["queryId"]) == ("SQL_INVALID", 422, str(query_id))
    assert {"type", "title", "instance"} <= set(found)
    assert ended.code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["query", "SELECT 1", "--format", "xml"], "WRONG_USAGE", 2),
        (["tables", "--url", "http://127.0.0.1:9"], "CONNECTION_FAILED", 4),
    ],
)
def test_errors_of_the_client_have_the_same_form(
    cli: Cli, arguments: list[str], code: str, exit_code: int
) -> None:
    ended = cli.run(*arguments, "--json-errors")
    found = json.loads(ended.err)
    assert (found["code"], found["exitCode"], ended.code) == (code, exit_code, exit_code)


def test_a_message_of_the_gateway_cannot_move_the_cursor() -> None:
    with hostile(problem("X\x1b[2J", 422, detail="\x1b]0;title\x07\u202e", note="\x9b2J")) as server:
        ended = Cli(server.url).run("query", "SELECT '\x1b[31m'")
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(ended.err)
    assert "\\x1b]0;title\\x07\\u202e" in ended.err
