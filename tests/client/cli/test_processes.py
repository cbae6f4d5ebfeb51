"""Tests signals and pipes, with the command as a process of its own."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.client.cli.running import COMMAND, Cli
from tests.client.gateways import Served
from tests.polling import until

ENDLESS = "SELECT 'endless'"


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
