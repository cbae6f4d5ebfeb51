"""Scans that choose their files from kept entries of manifests read what Iceberg's own planning reads."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, Phase, given, note, reject, seed, settings
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, LongType, StringType

from service.errors.query_errors import QueryFailed
from service.gateway import Gateway
from service.model.operations.usage import CacheUse
from service.query.filtering.pruned_query import PrunedQuery
from spark_session.engine.engine import SparkEngine
from spark_session.engine.engine_caches import EngineCache
from tests.equivalence.generated_checks import TIMEOUT_S, seed_of_run
from tests.equivalence.generator import queries
from tests.equivalence.harness import EngineGaveUp, Harness, different_rows, selected_by
from tests.equivalence.lakehouse import SCHEMA, Layout, append, created
from tests.soak import SOAK
from tests.thorough import IS_THOROUGH

COUNT = 25
ROUNDS = 40 if IS_THOROUGH else 8
NOTED = f"lake.{SCHEMA}.noted"
SPEC_CHANGES_IN = 3
QUERIES = (
    "SELECT count(*) AS n, sum(f.v) AS v, min(f.name) AS first FROM noted f WHERE f.k BETWEEN 2 AND 5",
    "SELECT f.k, f.name FROM noted f WHERE f.v > 40 OR f.name = 'b'",
    "SELECT f.k, count(*) AS n FROM noted f JOIN dim d ON f.k = d.k WHERE d.year = 1999 GROUP BY f.k",
    "SELECT count(*) AS n FROM noted f WHERE f.k IS NULL",
    "SELECT count(*) AS n FROM noted f JOIN noted g ON f.k = g.k AND f.v = g.v WHERE g.name LIKE 'a%'",
)


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.skipif(SOAK is not None, reason="a soak plans from memory with SLUICE_TEST_PLANS_FROM_MEMORY=1")
def test_generated_queries_have_the_same_rows_from_the_same_files(
    by_iceberg: Harness, from_memory: Harness, gateway: Gateway
) -> None:
    before = _use(gateway)

    @seed(seed_of_run())
    @settings(
        max_examples=COUNT,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    @given(queries())
    def check(sql: str) -> None:
        note(sql)
        try:
            by_iceberg.written(sql)
        except (EngineGaveUp, QueryFailed):
            reject()
        _assert_alike(by_iceberg, from_memory, sql)

    check()
    assert (_use(gateway).hits or 0) > (before.hits or 0) + COUNT, "nothing was kept, so nothing is proven"


def test_each_scan_selects_the_same_after_commits_of_all_kinds(
    by_iceberg: Harness, from_memory: Harness, lake: SqlCatalog, gateway: Gateway
) -> None:
    columns = {"k": IntegerType(), "v": LongType(), "name": StringType()}
    noted = created(lake, "noted", columns, Layout((("k", IdentityTransform()),)))
    append(noted, [{"k": key, "v": key and key * 10, "name": "a"} for key in (*range(8), None)])
    chosen = random.Random(3)
    before = _use(gateway)
    for number in range(ROUNDS):
        _spark(gateway, _change(chosen, number))
        for sql in QUERIES:
            _assert_alike(by_iceberg, from_memory, sql)
    assert (_use(gateway).hits or 0) > (before.hits or 0) + ROUNDS


def _change(chosen: random.Random, number: int) -> str:
    if number == SPEC_CHANGES_IN:
        return f"ALTER TABLE {NOTED} ADD PARTITION FIELD bucket(4, v)"
    if number == 1:
        return f"ALTER TABLE {NOTED} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')"
    match chosen.randint(0, 5):
        case 0 | 1:
            return f"DELETE FROM {NOTED} WHERE v % 7 = {chosen.randint(0, 6)}"
        case 2:
            return f"CALL lake.system.rewrite_manifests('{SCHEMA}.noted')"
        case _:
            values = ", ".join(
                f"({chosen.choice(('NULL', *range(8)))}, {chosen.randint(0, 80)}, '{chosen.choice('abc')}')"
                for _ in range(3)
            )
            return f"INSERT INTO {NOTED} VALUES {values}"


def _assert_alike(by_iceberg: Harness, from_memory: Harness, sql: str) -> None:
    """Asserts that rows are equal, and what each scan has selected, as written and pruned."""
    for pruned in (PrunedQuery(sql), by_iceberg.prune(sql)):
        expected, found = (each.run(pruned.sql, pruned=pruned) for each in (by_iceberg, from_memory))
        assert not different_rows(expected.rows, found.rows), pruned.sql
        assert selected_by(expected.scans) == selected_by(found.scans), pruned.sql


def _spark(gateway: Gateway, sql: str) -> None:
    session = _engine(gateway).session
    assert session is not None
    session.root.sql(sql).collect()


def _use(gateway: Gateway) -> CacheUse:
    engine = _engine(gateway)
    assert engine.session is not None
    engine.session.manifest_entries.update()
    return engine.caches.use(EngineCache.MANIFEST_ENTRIES)


def _engine(gateway: Gateway) -> SparkEngine:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    return engine
