"""The command line: its messages, and its checks before a start."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from api.cli.part_checks import Check, Finding, Found, State, tried
from service.errors.gateway_error import CannotStart
from service.errors.unavailable import MetricsStoreDown
from tests.integration.running import run_sluice

HEAVY = ("opentelemetry", "pyspark", "pyiceberg", "pyarrow", "fastapi", "sqlalchemy", "sqlglot", "pydantic")


@pytest.mark.parametrize("asked", ["--help", "--version"])
def test_it_answers_without_importing_what_only_its_commands_need(asked: str) -> None:
    program = f"import sys; sys.argv = ['sluice', {asked!r}]; from api.cli import main\n"
    program += (
        f"try: main()\nexcept SystemExit: print([module for module in {HEAVY!r} if module in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout.splitlines()[-1] == "[]"
    assert "sluice" in ended.stdout


def test_each_part_is_tried_and_one_that_hangs_holds_nobody_up() -> None:
    def fails() -> str:
        raise CannotStart("Set it.")

    hangs = threading.Event()
    checks = [
        Check("one", lambda: "answers"),
        Check("two", fails),
        Check("three", lambda: str(hangs.wait())),
        Check("four", lambda: "answers"),
    ]
    assert list(tried(checks, within_s=0.2)) == [
        Finding("one", State.OK, "answers"),
        Finding("two", State.FAILED, "Set it."),
        Finding("three", State.FAILED, "It does not answer within 0.2 s."),
        Finding("four", State.OK, "answers"),
    ]
    hangs.set()


def test_what_needs_a_part_that_failed_is_skipped_and_says_so() -> None:
    asked: list[str] = []

    def fails() -> str:
        raise CannotStart("Set it.")

    def noted(name: str, state: State = State.OK) -> Found:
        asked.append(name)
        return Found(name, state)

    checks = [
        Check("store", fails, cure="Start it."),
        Check("schema", lambda: noted("schema"), needs=("store",)),
        Check("records", lambda: noted("records"), needs=("cache", "schema")),
        Check("cache", lambda: noted("cache", State.WARNING)),
        Check("keys", lambda: noted("keys"), needs=("cache", "nothing of this name")),
    ]
    begun: list[str] = []
    assert list(tried(checks, on_begin=begun.append)) == [
        Finding("store", State.FAILED, "Set it.", "Start it."),
        Finding("schema", State.SKIPPED, "It needs store, which failed."),
        Finding("records", State.SKIPPED, "It needs schema, which was skipped."),
        Finding("cache", State.WARNING, "cache"),
        Finding("keys", State.OK, "keys"),
    ]
    assert asked == ["cache", "keys"]
    assert begun == ["store", "schema", "records", "cache", "keys"]


def test_a_check_that_fails_in_a_new_way_stops_no_other_and_shows_no_address() -> None:
    def breaks() -> str:
        raise RuntimeError("nobody at postgresql://user:s3cret@host/db")

    found = list(tried([Check("one", breaks), Check("two", lambda: "answers")]))
    assert [finding.state for finding in found] == [State.FAILED, State.OK]
    assert found[0].text == "RuntimeError: nobody at postgresql:…"


def test_an_error_that_cannot_say_what_it_is_fails_its_own_line() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ConnectionRefusedError

    def breaks() -> str:
        raise Mute

    [found] = tried([Check("one", breaks)])
    assert (found.state, found.text) == (State.FAILED, "Mute")


def test_a_part_that_is_down_says_why_without_its_address() -> None:
    def refuses() -> str:
        raise MetricsStoreDown from OSError("redis://user:s3cret@host refused the connection")

    [found] = tried([Check("store", refuses)])
    assert found.text == "The metrics store does not answer. OSError: redis:… refused the connection"


def test_a_part_that_may_take_longer_has_a_bound_of_its_own() -> None:
    hangs = threading.Event()
    check = Check("one", lambda: str(hangs.wait(60)), within_s=0.1)
    assert [finding.state for finding in tried([check], within_s=60)] == [State.FAILED]
    hangs.set()


def test_the_check_names_each_part_that_would_keep_the_gateway_from_working(tmp_path: Path) -> None:
    lake = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake.db", "warehouse": str(tmp_path)}
    catalogs = {"lake": lake, "none": {"type": "nope"}, "rest": {"type": "rest"}}
    ended = run_sluice(
        "check",
        tmp_path / "data",
        {
            "SLUICE_CATALOGS": json.dumps(catalogs),
            "SLUICE_METRICS_STORE_URL": "postgresql+psycopg://user:s3cret@127.0.0.1:9/sluice",
            "SLUICE_FILTER_CACHE_URL": "redis://:s3cret@127.0.0.1:9/0",
            "COLUMNS": "200",
        },
    )
    assert ended.returncode == 1
    assert "s3cret" not in ended.stderr
    lines = [" ".join(line.split()) for line in ended.stderr.splitlines()]
    for expected in (
        "metrics store fails The metrics store does not answer.",
        "filter cache fails The filter cache does not answer.",
        "catalog lake fails Spark has no JDBC driver for it: add org.xerial:sqlite-jdbc:3.50.3.0",
        "catalog none fails Catalog none: property type must be one of sql, rest, hive, glue.",
        "catalog rest fails Catalog rest: property uri is missing.",
    ):
        assert any(line.startswith(expected) for line in lines), ended.stderr
