"""Tests signals, pipes and imports, with the command as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.cli.running import CLIENT, COMMAND, Cli
from tests.client.gateways import Served
from tests.integration.running import until

ENDLESS = "SELECT 'endless'"
HEAVY = ("pyarrow", "pandas", "numpy", "httpx", "prompt_toolkit", "rich.table", "rich.console")


def imported(*arguments: str, url: str) -> set[str]:
    """Returns those of `HEAVY` that a command imports."""
    program = (
        f"import sys, atexit; sys.argv = {['sluice-client', *arguments]!r}\n"
        f"atexit.register(lambda: print([name for name in {HEAVY!r} if name in sys.modules]))\n"
        "from sluice_client.cli.command_line import main\nmain()"
    )
    environment = os.environ | {"PYTHONPATH": str(CLIENT), "SLUICE_URL": url}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return set(eval(ended.stdout.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [["--help"], ["query", "--help"], ["completion", "bash"]])
def test_help_imports_nothing_that_is_slow(arguments: list[str]) -> None:
    assert imported(*arguments, url="") == set()


@pytest.mark.parametrize("asked", ["table", "csv", "json"])
def test_a_query_whose_output_is_text_imports_no_arrow(gateway: Served, asked: str) -> None:
    found = imported("query", "SELECT 1 AS n", "--format", asked, url=gateway.url)
    # httpx imports rich for a command of its own.
    assert not found & {"pyarrow", "pandas", "numpy", "prompt_toolkit"}


def test_ctrl_c_cancels_the_query_and_ends_with_130(gateway: Served, cli: Cli) -> None:
    gateway.queries.unfinished.add(ENDLESS)
    with cli.started("query", ENDLESS) as process:
        until(lambda: bool(gateway.queries.by_id))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"sluice: interrupted\n")
    assert [str(query.record.state) for query in gateway.queries.by_id.values()] == ["CANCELED"]


def test_a_reader_that_goes_away_ends_it_quietly(gateway: Served, cli: Cli) -> None:
    gateway.queries.chunk_rows = 1000
    with cli.started("query", "SELECT range AS n FROM range(300000)", "--format", "jsonl") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b'{"n": 0}\n'
        process.stdout.close()
        err = process.stderr.read()
        assert (process.wait(60), err) == (0, b"")
        process.stdout = None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here is always full")
def test_a_full_disk_is_a_failure(cli: Cli) -> None:
    ended = cli.process("query", "SELECT 1 AS n", "--output", "/dev/full")
    assert (ended.code, "No space left" in ended.err) == (1, True)
    script = ("/bin/sh", "-c", 'exec "$@" > /dev/full', "sh", *COMMAND)
    ended = cli.process("query", "SELECT 1 AS n", "--quiet", command=script)
    assert ended.code == 1
    assert [line.split(":")[0] for line in ended.err.splitlines()] == ["sluice"]


def test_streams_may_be_closed(cli: Cli) -> None:
    for closed in (">&-", "<&-"):
        script = ("/bin/sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND)
        ended = cli.process("query", command=script, standard_input="SELECT 1")
        assert (ended.code, "there is no standard" in ended.err) == (2, True)


def test_it_runs_as_a_module(cli: Cli) -> None:
    ended = cli.process("query", standard_input="SELECT 1 AS n")
    assert (ended.code, ended.out) == (0, "n\r\n1\r\n")
    assert cli.process("--version").out.startswith("sluice-client")


def test_top_prints_one_list_after_the_other_without_a_terminal(cli: Cli) -> None:
    with cli.started("top", "--interval", "0.1") as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().decode() for _ in range(8)]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert [line[8:] for line in lines if "running" in line] == [", 0 running, 0 queued\n"] * 2
    assert "\x1b" not in "".join(lines)
