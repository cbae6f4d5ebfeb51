"""Tests the command on a terminal: tables, colours, progress, and the interactive mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.client.cli.running import Cli, Terminal
from tests.client.gateways import Served
from tests.polling import until

ENDLESS = "SELECT 'endless'"
HOSTILE = "SELECT chr(27) || ']0;title' || chr(7) AS \"na\x1b[2Jme\""
PLAIN = {"NO_COLOR": "1"}
_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[=>]|\r")


def plain(text: str) -> str:
    """Returns the text without the sequences of the terminal."""
    return _SEQUENCE.sub("", text)


def test_a_table_is_the_format_of_a_terminal(cli: Cli) -> None:
    with cli.terminal("query", "SELECT 1 AS n, NULL AS nothing") as terminal:
        assert terminal.wait() == 0
    assert terminal.output.startswith("\x1b[1mn\x1b[0m │ \x1b[1mnothing")
    assert "\x1b[2mNULL" in terminal.output
    assert "n │ nothing\n──┼────────\n1 │ NULL" in plain(terminal.output)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_there_may_be_no_colours(cli: Cli, variables: dict[str, str]) -> None:
    with cli.terminal("query", "SELECT 1 AS n, NULL AS nothing", variables=variables) as terminal:
        assert terminal.wait() == 0
    assert "\x1b" not in terminal.output


@pytest.mark.parametrize("asked", ["table", "vertical", "csv", "json", "markdown"])
def test_a_hostile_value_is_shown_and_not_obeyed(cli: Cli, asked: str) -> None:
    with cli.terminal("query", HOSTILE, "--format", asked, variables=PLAIN) as terminal:
        assert terminal.wait() == 0
    assert not {"\x1b", "\x07"} & set(terminal.output)
    assert "title" in terminal.output


def test_a_wide_table_fits_the_terminal(cli: Cli) -> None:
    columns = ", ".join(f"'a value of some length' AS column_{number}" for number in range(9))
    with cli.terminal("query", f"SELECT {columns}", columns=60, variables=PLAIN) as terminal:
        assert terminal.wait() == 0
    lines = terminal.output.splitlines()
    assert max(map(len, lines[:3])) <= 60
    assert lines[3].startswith("(5 of 9 columns fit: --format vertical shows all")


def test_bytes_are_not_written_to_a_terminal(cli: Cli, gateway: Served) -> None:
    with cli.terminal("query", "SELECT 1", "--format", "parquet") as terminal:
        assert terminal.wait() == 2
    assert not gateway.queries.by_id


def test_progress_is_shown_and_removed(cli: Cli, gateway: Served) -> None:
    gateway.queries.unfinished.add(ENDLESS)
    with cli.terminal("query", ENDLESS, variables=PLAIN) as terminal:
        terminal.read_until("running for")
        [query_id] = gateway.queries.by_id
        gateway.queries.finish(query_id)
        assert terminal.wait() == 0
    assert terminal.output.rpartition("running")[2].count("\r") >= 2


def test_the_bytes_of_an_ingest_are_counted_while_they_are_sent(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / f"{'long' * 20}\x1b[2J.ndjson"
    path.write_text('{"log_type": "http"}\n', "utf-8")
    arguments = ["ingest", "lake.logs.events", str(path), "--write-schema", "log_type"]
    with cli.terminal(*arguments, variables=PLAIN) as terminal:
        assert terminal.wait() == 0
    assert ": sending, 0 B of 21 B" in terminal.output
    assert ": sent, waiting for its commit" in terminal.output
    assert "\x1b" not in terminal.output


def test_top_is_refreshed_in_place(cli: Cli, gateway: Served) -> None:
    gateway.queries.unfinished.add(ENDLESS)
    with cli.terminal("top", "--interval", "0.1") as terminal:
        terminal.read_until("0 running")
        terminal.type("\x03")
        assert terminal.wait() == 0
    assert terminal.output.startswith("\x1b[?1049h")
    assert terminal.output.count("\x1b[H") >= 1
    assert "\x1b[?1049l" in terminal.output


@contextmanager
def shell(cli: Cli, *arguments: str) -> Iterator[Terminal]:
    with cli.terminal("query", *arguments, variables=PLAIN) as terminal:
        terminal.read_until("sluice>")
        yield terminal


def test_statements_of_several_lines_are_run_at_their_semicolon(cli: Cli, gateway: Served) -> None:
    with shell(cli) as terminal:
        terminal.type("SELECT 40\r")
        terminal.read_until("->")
        terminal.type("+ 2 AS answer;\r")
        assert "42" in terminal.read_until("366 of 2,003 files")
        terminal.type("\\q\r")
        assert terminal.wait() == 0
    [query] = gateway.queries.by_id.values()
    assert query.request.sql == "SELECT 40\n+ 2 AS answer"


def test_an_error_ends_nothing(cli: Cli) -> None:
    with shell(cli) as terminal:
        for text, expected in (
            ("SELECT nope;\r", "SQL_INVALID"),
            ("\\nonsense\r", "there is no command"),
            ("SELECT 'still ' || 'here' AS x;\r", "still here"),
        ):
            terminal.type(text)
            terminal.read_until(expected)
            terminal.read_until("sluice>")
        terminal.type("\x04")
        assert terminal.wait() == 0


def test_ctrl_c_cancels_the_query_and_not_the_program(cli: Cli, gateway: Served) -> None:
    gateway.queries.unfinished.add(ENDLESS)
    with shell(cli) as terminal:
        terminal.type(f"{ENDLESS};\r")
        terminal.read_until("running for")
        terminal.type("\x03")
        terminal.read_until("canceled")
        terminal.read_until("sluice>")
        assert [str(query.record.state) for query in gateway.queries.by_id.values()] == ["CANCELED"]
        terminal.type("SELECT half of a text\x03")
        terminal.read_until("sluice>")
        terminal.type("SELECT 'go' || 'es on' AS x;\r")
        terminal.read_until("goes on")
        terminal.type("\\q\r")
        assert terminal.wait() == 0


def test_commands_list_tables_and_columns(cli: Cli) -> None:
    with shell(cli) as terminal:
        terminal.type("\\?\r")
        terminal.read_until("this list")
        terminal.type("\\d\r")
        terminal.read_until("1 of 1 tables")
        terminal.type("\\d lake.tpcds.store_returns\r")
        terminal.read_until("287,867 rows")
        terminal.type("\\x\r")
        terminal.read_until("sluice>")
        terminal.type("SELECT 7 AS seven;\r")
        terminal.read_until("seven │ 7")
        terminal.type("\\q\r")
        assert terminal.wait() == 0


def test_tables_columns_and_keywords_are_completed(cli: Cli, gateway: Served) -> None:
    with shell(cli) as terminal:
        terminal.type("SELECT * FROM store_re\t")
        terminal.read_until("lake.tpcds.store_returns")
        # Only what is new is written to the terminal.
        terminal.type(" WHERE sr_ret\t")
        terminal.read_until("urned_date_sk")
        terminal.type(" > 0 limi\t")
        terminal.read_until("t")
        terminal.type(" 5;\r")
        until(lambda: bool(gateway.queries.by_id))
        terminal.read_until("TABLE_NOT_FOUND")
        terminal.type("\\q\r")
        assert terminal.wait() == 0
    [query] = gateway.queries.by_id.values()
    assert query.request.sql == (
        "SELECT * FROM lake.tpcds.store_returns WHERE sr_returned_date_sk > 0 limit 5"
    )


def test_the_history_is_this_users_alone(cli: Cli, home: Path, gateway: Served) -> None:
    path = home / "xdg_state_home" / "sluice" / "history"
    path.parent.mkdir()
    path.write_text("\n# 2026-01-01\n+SELECT 'from ' || 'before' AS x;\n", "utf-8")
    path.chmod(0o644)
    with shell(cli) as terminal:
        terminal.type("\x10\r")
        terminal.read_until("from before")
        terminal.type("SELECT 8 AS eight;\r")
        terminal.read_until("eight")
        terminal.type("\\q\r")
        assert terminal.wait() == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert "+SELECT 8 AS eight;" in path.read_text("utf-8")
    assert len(gateway.queries.by_id) == 2


def test_the_interactive_mode_has_no_output_file(cli: Cli) -> None:
    with cli.terminal("query", "--output", "x.csv") as terminal:
        assert terminal.wait() == 2
