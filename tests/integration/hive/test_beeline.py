"""Tests that Spark's own beeline, with Hive's JDBC driver, connects as it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyspark
import pytest

from tests.integration.hive.conftest import NAME, PASSWORD, HiveGateway

pytestmark = pytest.mark.integration
JARS = Path(pyspark.__file__).parent / "jars"
STATEMENTS = "SELECT count(*) AS c, CAST(1.50 AS DECIMAL(5,2)) AS d FROM sales; SHOW TABLES IN shop_archive;"


def beeline(url: str, sql: str) -> str:
    options = ["--outputformat=csv2", "-n", NAME, "-p", PASSWORD, "-u", url, "-e", sql]
    command = ["java", "-Xmx256m", "-cp", f"{JARS}/*", "org.apache.hive.beeline.BeeLine", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("mode", ["binary", "http"])
def test_beeline_connects(hive: HiveGateway, mode: str) -> None:
    url = f"jdbc:hive2://127.0.0.1:{hive.port}/shop"
    if mode == "http":
        url = f"jdbc:hive2://127.0.0.1:{hive.http_port}/shop;transportMode=http;httpPath=cliservice"
    answered = beeline(url, STATEMENTS)
    assert "Connected to: Spark SQL" in answered
    assert "1180,1.50" in answered
    assert "shop_archive,sales_2019,false" in answered


def test_beeline_shows_errors_with_their_state(hive: HiveGateway) -> None:
    answered = beeline(f"jdbc:hive2://127.0.0.1:{hive.port}/shop", "SELECT amonut FROM sales")
    assert "COLUMN_NOT_FOUND: There is no column amonut" in answered
    assert "state=42S22" in answered
