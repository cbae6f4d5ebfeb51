from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.probe_values.lakehouse import FakeProbeLakehouse, ProbeLakehouse, PyIcebergProbeLakehouse


@pytest.fixture
def pyiceberg_lakehouse(tmp_path: Path) -> Iterator[PyIcebergProbeLakehouse]:
    lakehouse = PyIcebergProbeLakehouse(tmp_path)
    yield lakehouse
    lakehouse.close()


@pytest.fixture(params=["fake", "pyiceberg"])
def lakehouse(request: pytest.FixtureRequest) -> ProbeLakehouse:
    if request.param == "fake":
        return FakeProbeLakehouse()
    real: PyIcebergProbeLakehouse = request.getfixturevalue("pyiceberg_lakehouse")
    return real
