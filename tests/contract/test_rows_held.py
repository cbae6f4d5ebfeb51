"""The contract of `HeldRows`, for every implementation."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pyarrow as pa
import pytest

from service.model.policies.decisions import FULL_ACCESS
from service.ports.engine.held_rows import HeldRows
from service.ports.engine.query_engine import Statement
from spark_session.engine.engine import SparkEngine
from spark_session.engine.engine_relations import EngineRelations
from tests.contract.conftest import RELATION_BYTES
from tests.fakes.held_rows import FakeHeldRows

ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "name": ["é", None]})


@pytest.fixture(params=["fake", pytest.param("spark", marks=pytest.mark.integration)])
def held(request: pytest.FixtureRequest) -> HeldRows:
    if request.param == "fake":
        return FakeHeldRows(max_bytes=RELATION_BYTES)
    return EngineRelations(request.getfixturevalue("engine"))


def test_rows_that_fit_are_taken(held: HeldRows) -> None:
    assert held.hold("a", ROWS, 10_000)
    assert held.hold("b", ROWS.slice(0, 0), 10_000)
    for fingerprint in ("a", "b", "a", "never"):
        held.let_go(fingerprint)
    assert held.hold("a", ROWS, 10_000)
    held.let_go("a")


def test_rows_that_are_too_large_are_not_taken(held: HeldRows) -> None:
    large = pa.table({"id": pa.array(range(1_000), pa.int64())})
    assert not held.hold("a", large, 1_000)
    assert not held.hold("a", pa.table({"id": pa.array(range(RELATION_BYTES // 4), pa.int64())}), 1 << 30)


@pytest.mark.integration
def test_a_statement_reads_them_until_they_are_let_go(engine: SparkEngine) -> None:
    sql = "SELECT id, name FROM __rows ORDER BY id"
    statement = Statement(uuid4(), sql, {}, None, None, 10, 1 << 20, lambda: False, FULL_ACCESS)
    held = EngineRelations(engine)
    assert held.hold("held", ROWS, 10_000)
    read = engine.run(replace(statement, relations={"__rows": "held"}))
    assert read.rows.to_pylist() == ROWS.to_pylist()
    held.let_go("held")
