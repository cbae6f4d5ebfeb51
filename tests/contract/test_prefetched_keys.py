"""Two replicas prefetch the keys that a query would collect, on a real catalog, PostgreSQL and Valkey."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, NestedField
from sqlalchemy import create_engine, text

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.clock import SystemClock
from service.adapters.embedded.embedded_valkey import EmbeddedValkey
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.adapters.keys.key_carrier import ArrowKeyCarrier, CarryBounds
from service.adapters.keys.key_collector import ArrowKeyCollector
from service.adapters.postgres.query_records.metrics_store import PostgresQueryStore
from service.adapters.postgres.query_records.query_history import PostgresQueryHistory
from service.model.filters.key_set import FilterSource
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.prefetch import PrefetchOutcome
from service.model.query.query import QueryRequest, QueryState
from service.query.filtering.asked_requests import AskedRequests
from service.query.filtering.collector_threads import CollectorThreads
from service.query.filtering.prune import Pruner
from service.query.filtering.pruned_query import PrunedQuery
from service.query.prefetch.frequent_sets import FrequentBounds, FrequentSets
from service.query.prefetch.key_prefetch import KeyPrefetch, PrefetchBounds, PrefetchParts
from service.query.prefetch.rights import PrefetchRights
from service.query.prefetch.watched_tables import WatchedTables
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.pruner import pruner
from tests.fakes.query_records import short_record

SALES = Schema(NestedField(1, "day_key", IntegerType()))
DAYS = pa.schema({"k": "int32", "year": "int32"})
SQL = "SELECT count(*) FROM lake.shop.sales AS f JOIN lake.shop.days AS d ON f.day_key = d.k WHERE d.year = "
YEARS = (2000, 2001)
COMMITS = 8
CARRIES = CarryBounds(max_snapshots=20, max_files=64, max_filter_bytes=1 << 20)


class Replica:
    """One gateway's pruner and prefetch. Its engine collects nothing."""

    def __init__(self, folder: Path, store_url: str, cache_url: str, stack: ExitStack) -> None:
        clock = SystemClock()
        lake = {"type": "sql", "uri": f"sqlite:///{folder}/lake.db", "warehouse": f"file://{folder}"}
        self.catalogs = PyIcebergCatalogs({"lake": lake}, clock, facts_timeout_s=20)
        stack.callback(self.catalogs.close)
        self.cache = RedisFilterCache(cache_url, clock, FilterCacheBounds(answer_within_s=10))
        stack.callback(self.cache.close)
        self.store, history = PostgresQueryStore(store_url), PostgresQueryHistory(store_url)
        stack.callback(self.store.close)
        stack.callback(history.close)
        self.threads = CollectorThreads(2)
        self.reader = ArrowKeyCollector(self.catalogs.opened, max_filter_bytes=1 << 20, max_files=64)
        self.asked = AskedRequests(clock, 1 << 20)
        self.pruner = pruner(
            self.catalogs,
            FakeEngine(),
            self.cache,
            clock,
            is_enabled=True,
            reader=self.reader,
            executor=self.threads,
            rewrites=frozenset(),
            asked=self.asked,
            carrier=ArrowKeyCarrier(self.catalogs.opened, CARRIES),
        )
        bounds = FrequentBounds(history=timedelta(hours=1), tables=8, sets_per_table=8, read_every_ms=0)
        # A clock that stands still: looks need no rest.
        self.prefetch = KeyPrefetch(
            PrefetchParts(
                sets=self.pruner.prefetched,
                frequent=FrequentSets(history, clock, bounds),
                tables=WatchedTables(self.catalogs),
                rights=PrefetchRights(self.asked, 3_600_000, is_governed=False),
                collectors=lambda: self.threads.use,
                is_taking=lambda: True,
                check=lambda _: None,
                clock=(looking := FakeClock()),
            ),
            PrefetchBounds(sets_per_table=8, round_s=60, interval_s=1),
        )
        self.looking = looking

    def look(self) -> None:
        self.looking.advance(timedelta(minutes=1))
        self.prefetch.look()

    def ask(self, year: int) -> PrunedQuery:
        return asked(self.pruner, year)

    def without_cache(self) -> Pruner:
        """A pruner that collects all keys itself."""
        clock = SystemClock()
        return pruner(
            self.catalogs,
            FakeEngine(),
            FakeFilterCache(clock),
            clock,
            is_enabled=True,
            reader=self.reader,
            executor=self.threads,
            rewrites=frozenset(),
        )


def asked(by: Pruner, year: int) -> PrunedQuery:
    return by.prune(QueryRequest(f"{SQL}{year}", (), "lake", "shop"), FULL_ACCESS, lambda: False)


def source(pruned: PrunedQuery) -> FilterSource:
    [found] = [record for record in pruned.filters if record.is_candidate]
    return found.source


@pytest.fixture
def replicas(tmp_path: Path, metrics_url: str, valkey: EmbeddedValkey) -> Iterator[list[Replica]]:
    engine = create_engine(metrics_url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE queries CASCADE"))
    engine.dispose()
    with ExitStack() as stack:
        found = [Replica(tmp_path, metrics_url, valkey.url, stack) for _ in range(2)]
        found[0].cache.forget(None)
        yield found


def test_prefetched_keys_are_those_that_a_query_collects(replicas: list[Replica], tmp_path: Path) -> None:
    draw = random.Random(80)
    lake = {"uri": f"sqlite:///{tmp_path}/lake.db", "warehouse": f"file://{tmp_path}"}
    writer = SqlCatalog("lake", **lake)
    writer.create_namespace("shop")
    by_day = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "day_key"))
    sales = writer.create_table("shop.sales", SALES, partition_spec=by_day)
    sales.append(pa.table({"day_key": pa.array(range(20), pa.int32())}))
    days = writer.create_table("shop.days", DAYS)
    days.append(pa.table({"k": [1, 2, 3], "year": [2000, 2000, 2001]}, schema=DAYS))
    for year in YEARS:
        pruned = replicas[0].ask(year)
        assert source(pruned) is FilterSource.COLLECTED
        record = replace(
            short_record(SystemClock().now()),
            sql=f"{SQL}{year}",
            catalog="lake",
            schema="shop",
            state=QueryState.SUCCEEDED,
            filters=pruned.filters,
        )
        replicas[0].store.record([record, replace(record, query_id=short_record().query_id)])
    for _ in range(COMMITS):
        rows = pa.table(
            {"k": draw.sample(range(20), 3), "year": [draw.choice(YEARS) for _ in range(3)]}, schema=DAYS
        )
        present = days.refresh().scan().to_arrow()["k"].to_pylist()
        kind = draw.choice(("append", "overwrite", "delete")) if present else "append"
        if kind == "delete":
            days.delete(f"k = {draw.choice(present)}")
        else:
            getattr(days, kind)(rows)
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(Replica.look, replicas))
        for year in YEARS:
            expected = asked(replicas[0].without_cache(), year)
            assert source(expected) is FilterSource.COLLECTED
            for replica in replicas:
                found = replica.ask(year)
                assert (source(found), found.rewritten_sql) == (FilterSource.CACHED, expected.rewritten_sql)
    outcomes = [replica.prefetch.outcomes for replica in replicas]
    assert {each[PrefetchOutcome.FAILED] + each[PrefetchOutcome.LATE] for each in outcomes} == {0}
    # No set is collected by both.
    found_first = (PrefetchOutcome.COLLECTED, PrefetchOutcome.CARRIED_OVER)
    assert sum(each[kind] for each in outcomes for kind in found_first) <= len(YEARS) * COMMITS
    assert sum(each[PrefetchOutcome.COLLECTED] for each in outcomes) > 0
