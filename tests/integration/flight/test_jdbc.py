"""The JDBC driver of Arrow Flight SQL as it is, in a Java program on a real gateway."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from spark_session.jars.jars import resolve
from tests.engine_jars import JARS
from tests.integration.flight.conftest import NAME, PASSWORD, FlightGateway
from tests.polling import until

pytestmark = pytest.mark.integration

DRIVER = "org.apache.arrow:flight-sql-jdbc-driver:18.3.0"
PROGRAM = Path(__file__).with_name("JdbcSteps.java")
OPENS = "--add-opens=java.base/java.nio=org.apache.arrow.memory.core,ALL-UNNAMED"
WITHIN_S = 600
SEEN = {
    "product": "Sluice true",
    "quote": "`",
    "catalogs": "[lake]",
    "schemas": "shop, lake",
    "types of tables": "[TABLE][VIEW]",
    "tables": "sales",
    "columns": "amount",
    "primary keys": "",
    "imported keys": "",
    "valid": "true",
    "select": "[1, 10][2, 10][3, 10][4, 10]",
    "scalars": "[1, 2, 3, 4, 1.5, 2.5, 1.50, true, a, 2000-01-02,",
    "moments": "2024-07-01 12:00:00",
    "nested": "[1,2]",
    "prepared": "[9]",
    "prepared date": "[1]",
    "most rows": "[0][0]",
    "show": "sales",
    "use": "false [shop_archive]",
    "update": "[9]",
    "close": "true",
}
REFUSED = {
    "error": "COLUMN_NOT_FOUND",
    "insert": "STATEMENT_NOT_ALLOWED",
    "cancel": "",
    "timeout": "",
    "wrong password": "UNAUTHENTICATED",
}


def test_a_program_in_java(flight: FlightGateway) -> None:
    [jar] = resolve([DRIVER], JARS)
    url = f"jdbc:arrow-flight-sql://127.0.0.1:{flight.port}/?useEncryption=false"
    command = ["java", OPENS, "-Xmx512m", "-cp", str(jar), str(PROGRAM), url, NAME, PASSWORD]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)
    found = dict(re.findall(r"^((?:OK|FAILED) [^|]*) \| (.*)$", ran.stdout, re.MULTILINE))
    for name, text in SEEN.items():
        assert text in found.get(f"OK {name}", "nothing"), (name, ran.stdout, ran.stderr[-2_000:])
    for name, text in REFUSED.items():
        assert text in found.get(f"FAILED {name}", "nothing"), (name, ran.stdout)
    assert "Traceback" not in ran.stdout
    # Cancel and timeout have ended what they were for.
    until(lambda: {query["state"] for query in flight.queries()} <= {"SUCCEEDED", "FAILED", "CANCELED"})
