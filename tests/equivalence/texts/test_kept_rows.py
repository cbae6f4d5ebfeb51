"""Queries return the same rows if they read what earlier queries have made of rows in memory."""

from __future__ import annotations

from collections import Counter
from threading import Event, Thread

import pytest

from service.gateway import Gateway
from service.model.operations.usage import CacheUse
from spark_session.engine.engine import SparkEngine
from spark_session.engine.engine_caches import EngineCache
from tests.equivalence.generated_checks import TIMEOUT_S, check_generated, seed_of_run
from tests.equivalence.harness import Harness
from tests.soak import SOAK

COUNT = 40
"""For each of the two ways to run."""
PAUSE_S = 0.05

JOINS = [
    "SELECT f.id, d.name FROM by_k f JOIN dim d ON f.k = d.k",
    "SELECT f.id, d.name FROM by_k f JOIN dim d ON f.k = d.k AND d.name <> f.name WHERE f.b > 1",
    "SELECT f.id, d.name FROM by_k f LEFT JOIN dim d ON f.k = d.k AND d.year > 1969",
    "SELECT f.id, d.name FROM by_k f LEFT JOIN dim d ON f.k = d.k AND d.name <> f.name",
    "SELECT f.id FROM by_k f LEFT SEMI JOIN dim d ON f.k = d.k AND d.year > 1969",
    "SELECT f.id FROM by_k f LEFT ANTI JOIN dim d ON f.k = d.k AND d.year > 1969",
    "SELECT f.id, d.big_k FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year > 1969",
    "SELECT f.id, d.big_k FROM dim d RIGHT JOIN by_k f ON f.k = d.k AND f.name = d.name",
    "SELECT f.id FROM by_k f WHERE f.k IN (SELECT d.k FROM dim d WHERE d.year > 1969)",
    "SELECT f.id FROM by_k f WHERE f.k NOT IN (SELECT d.k FROM dim d WHERE d.k IS NOT NULL)",
    "SELECT count(*), min(d.name) FROM by_day f JOIN dim d ON f.day = d.day WHERE d.k < 5",
    "SELECT f.id, t.name FROM by_k f JOIN tiny t ON f.k = t.k JOIN dim d ON f.name = d.name WHERE d.k > 1",
]


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.skipif(SOAK is not None, reason="a soak reads kept rows with SLUICE_SOAK_KEEPS_ROWS=1")
def test_generated_queries_have_the_same_rows_from_kept_rows(keeping: Harness, gateway: Gateway) -> None:
    before = use(gateway)
    check_generated(keeping, COUNT, seed_of_run(), compares_files=False)
    after = use(gateway)
    assert (after.misses or 0) > (before.misses or 0), "nothing was kept, so nothing is proven"


def test_all_kinds_of_joins_read_kept_rows(keeping: Harness, gateway: Gateway) -> None:
    for sql in JOINS:
        keeping.check(sql, compares_files=False)
    before = use(gateway)
    for sql in JOINS:
        keeping.check(sql, compares_files=False)
    assert (use(gateway).hits or 0) > (before.hits or 0)


def test_caches_that_are_emptied_while_queries_run_change_no_rows(keeping: Harness, gateway: Gateway) -> None:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    is_over = Event()
    forgotten: Counter[EngineCache] = Counter()

    def empty() -> None:
        while not is_over.wait(PAUSE_S):
            # A gateway runs a query as written if its local relations are gone; this harness does not.
            for cache in set(EngineCache) - {EngineCache.LOCAL_RELATIONS}:
                forgotten[cache] += engine.caches.empty(cache)

    emptying = Thread(target=empty)
    emptying.start()
    try:
        for sql in JOINS:
            keeping.check(sql, compares_files=False)
    finally:
        is_over.set()
        emptying.join()
    assert forgotten[EngineCache.KEPT_ROWS] > 0
    for cache in EngineCache:
        engine.caches.empty(cache)
        assert engine.caches.use(cache).entries == 0


def use(gateway: Gateway) -> CacheUse:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    engine.session.kept_rows.update()
    return engine.caches.use(EngineCache.KEPT_ROWS)
