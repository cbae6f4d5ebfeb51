"""Each rewrite is made where it may be, keeps the rows, and can be switched off by itself."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from math import nan

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType, IcebergType, IntegerType

from service.gateway import Gateway
from service.model.query.rewrites import RewriteKind
from service.query.filtering.prune import Pruner
from service.query.filtering.pruned_query import PrunedQuery
from tests.equivalence.harness import Harness, rows_of
from tests.equivalence.lakehouse import Layout, append, created

FILTERED = "FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999"
QUERIES = {
    RewriteKind.JOIN_ELIMINATED: f"SELECT f.id, f.name {FILTERED}",
    RewriteKind.LOCAL_RELATION: f"SELECT f.id, d.name {FILTERED}",
    RewriteKind.NATIVE_PRUNING_OFF: f"SELECT f.id {FILTERED}",
    RewriteKind.READ_OPTIONS: f"SELECT f.id, d.year {FILTERED}",
}
NOT_ELIMINATED = {
    "a key is there twice": "SELECT f.id FROM by_k f JOIN tiny t ON f.k = t.k WHERE t.year > 0",
    "another of its columns is asked for": f"SELECT f.id, d.name {FILTERED}",
    "another of its columns is compared": f"SELECT f.id {FILTERED} AND d.name < f.name",
    "its rows are counted": f"SELECT count(d.k) {FILTERED}",
    "a function takes all of its columns": f"SELECT f.id, hash(*) {FILTERED}",
    "a struct has all of its columns": f"SELECT x.s FROM (SELECT to_json(struct(*)) AS s {FILTERED}) x",
    "rows are told apart by all of its columns": f"SELECT count(DISTINCT *) {FILTERED}",
    "the facts without it are asked for, too": (
        "SELECT f.id FROM by_k f LEFT JOIN dim d ON f.k = d.k AND d.year = 1999"
    ),
}


def kinds(pruned: PrunedQuery) -> set[RewriteKind]:
    return {rewrite.kind for rewrite in pruned.rewrites}


def known(harness: Harness, sql: str) -> PrunedQuery:
    """Prunes the query once more after a check, with its keys cached and its local relations in memory."""
    harness.check(sql)
    return harness.prune(sql)


@pytest.fixture
def pruner(gateway: Gateway, harness: Harness) -> Pruner:  # noqa: ARG001
    return gateway.queries.ports.pruner


@pytest.mark.parametrize("kind", QUERIES)
def test_it_is_made_keeps_the_rows_and_can_be_switched_off(
    kind: RewriteKind, harness: Harness, pruner: Pruner
) -> None:
    sql = QUERIES[kind]
    assert kind in kinds(known(harness, sql))
    bounds = pruner._bounds
    without = replace(bounds.rewrites, kinds=bounds.rewrites.kinds - {kind})
    pruner._bounds = replace(bounds, rewrites=without)
    try:
        pruned = harness.prune(sql)
        assert pruned.rewritten_sql is not None
        assert kind not in kinds(pruned)
        assert rows_of(harness.run(pruned.sql, (), pruned).rows) == rows_of(harness.run(sql).rows)
    finally:
        pruner._bounds = bounds


@pytest.mark.parametrize("sql", NOT_ELIMINATED.values(), ids=NOT_ELIMINATED)
def test_a_join_that_says_more_than_its_keys_stays(sql: str, harness: Harness) -> None:
    assert RewriteKind.JOIN_ELIMINATED not in kinds(known(harness, sql))
    harness.check(sql)


def test_an_eliminated_join_leaves_as_many_rows_as_there_were(harness: Harness) -> None:
    pruned = known(harness, QUERIES[RewriteKind.JOIN_ELIMINATED])
    assert "dim" not in pruned.sql
    found = rows_of(harness.run(pruned.sql, (), pruned).rows)
    expected = rows_of(harness.run(QUERIES[RewriteKind.JOIN_ELIMINATED]).rows)
    assert found == expected != Counter()


def test_what_an_eliminated_join_leaves_is_not_answered_from_statistics(
    harness: Harness, lake: SqlCatalog
) -> None:
    """The statistics of PyIceberg's files do not count NaN."""
    columns: dict[str, IcebergType] = {"k": IntegerType(), "weight": DoubleType()}
    table = created(lake, "weighed", columns, Layout((("k", IdentityTransform()),)))
    append(table, [{"k": key, "weight": weight} for key, weight in ((2, nan), (2, 5.0), (3, 7.0))])
    sql = f"SELECT CAST(max(f.weight) AS STRING) {FILTERED.replace('by_k', 'weighed')}"
    assert RewriteKind.JOIN_ELIMINATED in kinds(known(harness, sql))
    assert harness.run(sql).rows.column(0).to_pylist() == ["NaN"]


@pytest.mark.parametrize(
    "second",
    ["(SELECT k FROM by_k) g", "(SELECT g.k FROM by_k g JOIN dim e ON g.k = e.k WHERE e.year = 2000) g"],
    ids=["read whole", "pruned otherwise"],
)
def test_all_references_of_one_snapshot_are_cut_alike(second: str, harness: Harness) -> None:
    sql = f"SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k JOIN {second} ON f.k = g.k WHERE d.year = 1999"
    pruned = known(harness, sql)
    options = re.findall(r"by_k VERSION AS OF \d+ WITH \(([^)]*)\)", pruned.sql)
    assert len(options) == 2
    assert len(set(options)) == 1
