"""The command line: what it says, and what it tries before a start."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from api.checks import Check, Finding, tried
from service.errors import CannotStart
from tests.integration.running import run_sluice

HEAVY = ("pyspark", "pyiceberg", "pyarrow", "fastapi", "sqlalchemy", "sqlglot", "pydantic")


@pytest.mark.parametrize("asked", ["--help", "--version"])
def test_it_answers_without_importing_what_only_its_commands_need(asked: str) -> None:
    program = f"import sys; sys.argv = ['sluice', {asked!r}]; from api.cli import main\n"
    program += f"try: main()\nexcept SystemExit: print([each for each in {HEAVY!r} if each in sys.modules])"
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
        Finding("one", is_fine=True, text="answers"),
        Finding("two", is_fine=False, text="Set it."),
        Finding("three", is_fine=False, text="It does not answer within 0.2 s."),
        Finding("four", is_fine=True, text="answers"),
    ]
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
