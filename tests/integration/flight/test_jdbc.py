"""The JDBC driver of Arrow Flight SQL as it is, in a Java program on a real gateway."""

from __future__ import annotations

import pytest

from tests.drivers.expected_steps import FLIGHT, FLIGHT_REFUSED
from tests.drivers.jdbc_program import UTC, flight_driver, run_steps
from tests.integration.flight.conftest import NAME, PASSWORD, FlightGateway
from tests.polling import until

pytestmark = pytest.mark.integration


def test_a_program_in_java(flight: FlightGateway) -> None:
    url = f"jdbc:arrow-flight-sql://127.0.0.1:{flight.port}/?useEncryption=false"
    seen = run_steps(flight_driver(), url, NAME, PASSWORD, zone=UTC)
    seen.check(FLIGHT, FLIGHT_REFUSED | {"insert": "STATEMENT_NOT_ALLOWED"})
    # Cancel and timeout have ended what they were for.
    until(lambda: {query["state"] for query in flight.queries()} <= {"SUCCEEDED", "FAILED", "CANCELED"})
