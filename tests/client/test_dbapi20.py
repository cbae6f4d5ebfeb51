"""Runs the generic compliance suite of DB-API 2.0 on `sluice_client.dbapi`.

The suite creates tables and inserts rows. A gateway does not run such statements; the one behind these tests
does, since DuckDB is its engine.
"""

from __future__ import annotations

import unittest
from typing import Any

import dbapi20
import pytest

from sluice_client import dbapi
from tests.client.gateways import Served


class Compliance(dbapi20.DatabaseAPI20Test):  # type: ignore[misc]  # the suite has no types
    """The suite, with what PEP 249 leaves to drivers."""

    driver = dbapi
    # Pytest would collect it, too, without an address.
    __test__ = False

    def test_nextset(self) -> None:
        self._is_not_supported("nextset")

    def test_callproc(self) -> None:
        self._is_not_supported("callproc", "lower", ["FOO"])

    def test_executemany(self) -> None:
        # PEP 249 allows the exception for operations with rows, and there are no others.
        self._is_not_supported("executemany", "SELECT ?", [["a"]])

    def test_setoutputsize(self) -> None:
        with self._connect() as connection:
            connection.cursor().setoutputsize(1, 0)

    def _is_not_supported(self, name: str, *arguments: Any) -> None:
        with self._connect() as connection, pytest.raises(dbapi.NotSupportedError):
            getattr(connection.cursor(), name)(*arguments)


_NAMES = unittest.TestLoader().getTestCaseNames(Compliance)


@pytest.fixture
def case(request: pytest.FixtureRequest, gateway: Served) -> unittest.TestCase:
    made: unittest.TestCase = Compliance(request.param)
    vars(made)["connect_args"] = (gateway.url,)
    return made


@pytest.mark.parametrize("case", _NAMES, indirect=True)
def test_the_suite_passes(case: unittest.TestCase) -> None:
    result = case.run()
    assert result is not None
    assert result.testsRun == 1
    assert [*result.failures, *result.errors, *result.skipped] == []


def test_the_suite_is_whole() -> None:
    assert len(_NAMES) == 36
