"""The contract of `Relations`, for every implementation."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from service.errors.gateway_error import GatewayError
from service.model.filters.dynamic_filter import Build
from service.model.filters.relations import RelationBounds, RelationQuery
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import Parameter
from service.ports.engine.relations import Relations
from spark_session.engine.engine import SparkEngine
from spark_session.engine.engine_relations import EngineRelations
from tests.contract.conftest import RELATION_BYTES
from tests.fakes.relations import FakeRelations

NOTHING = Build((), (), "", ())
BOUNDS = RelationBounds(max_rows=10, max_bytes=10_000)


@pytest.fixture(params=["fake", pytest.param("spark", marks=pytest.mark.integration)])
def relations(request: pytest.FixtureRequest) -> Relations:
    if request.param == "fake":
        fake = FakeRelations(max_bytes=RELATION_BYTES)
        fake.row_counts = {"small": 3, "large": 11, "given": 2} | {f"r{number}": 10 for number in range(4)}
        return fake
    return EngineRelations(request.getfixturevalue("engine"))


def rows(key: str, count: int | str) -> RelationQuery:
    return RelationQuery(NOTHING, f"SELECT id FROM range({count})", key)


def test_what_was_not_fetched_is_not_cached(relations: Relations) -> None:
    assert relations.cached("never") is None


def test_fetched_rows_are_cached_and_counted(relations: Relations) -> None:
    cached = relations.fetch(rows("small", 3), {}, BOUNDS, FULL_ACCESS)
    assert cached is not None
    assert (cached.fingerprint, cached.row_count) == ("small", 3)
    assert 0 < cached.byte_count <= BOUNDS.max_bytes
    assert relations.cached("small") == cached


@pytest.mark.parametrize("bounds", [BOUNDS, RelationBounds(max_rows=100, max_bytes=100)])
def test_too_many_rows_or_bytes_are_not_cached(relations: Relations, bounds: RelationBounds) -> None:
    assert relations.fetch(rows("large", 11), {}, bounds, FULL_ACCESS) is None
    assert relations.cached("large") is None


def test_parameters_are_bound(relations: Relations) -> None:
    query = RelationQuery(NOTHING, "SELECT id FROM range(10) WHERE id < :n", "given", frozenset({"n"}))
    cached = relations.fetch(query, {"n": Parameter(2)}, BOUNDS, FULL_ACCESS)
    assert cached is not None
    assert cached.row_count == 2


def test_what_was_not_read_for_the_longest_makes_room(relations: Relations) -> None:
    for number in range(3):
        relations.fetch(rows(f"r{number}", 10), {}, BOUNDS, FULL_ACCESS)
    assert relations.cached("r0") is not None
    relations.fetch(rows("r3", 10), {}, BOUNDS, FULL_ACCESS)
    assert [relations.cached(f"r{number}") is not None for number in range(4)] == [True, False, True, True]


def table(count: int) -> pa.Table:
    return pa.table({"id": pa.array(range(count), pa.int64()), "name": ["é"] * count})


@pytest.mark.parametrize("count", [0, 3])
def test_rows_that_were_read_elsewhere_are_cached_like_fetched_ones(relations: Relations, count: int) -> None:
    cached = relations.put(rows("given", count), table(count), BOUNDS)
    assert cached is not None
    assert (cached.fingerprint, cached.row_count) == ("given", count)
    assert 0 <= cached.byte_count <= BOUNDS.max_bytes
    assert relations.cached("given") == cached


@pytest.mark.parametrize("bounds", [BOUNDS, RelationBounds(max_rows=100, max_bytes=1_000)])
def test_too_many_rows_or_bytes_from_elsewhere_are_not_cached(
    relations: Relations, bounds: RelationBounds
) -> None:
    assert relations.put(rows("too large", 11), table(11), bounds) is None
    assert relations.cached("too large") is None


@pytest.mark.integration
def test_a_relation_that_cannot_be_read_is_an_error_of_the_gateways(engine: SparkEngine) -> None:
    broken: Any = RelationQuery(NOTHING, "SELECT id FROM nowhere", "broken")
    with pytest.raises(GatewayError):
        EngineRelations(engine).fetch(broken, {}, BOUNDS, FULL_ACCESS)
