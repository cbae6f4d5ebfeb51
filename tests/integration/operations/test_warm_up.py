"""An engine that replaces a lost one runs what was asked before, and a commit has its keys collected."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, NestedField

from tests.integration.asking import ask, explain
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import make
from tests.integration.running import PRUNES_THOUGH_BUSY, RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

DAYS = Schema(NestedField(1, "day_key", IntegerType()))
YEARS = Schema(NestedField(1, "day_key", IntegerType()), NestedField(2, "year", IntegerType()))
FREQUENT = "SELECT id % 3 AS k, count(*) FROM range(100) GROUP BY 1"


@pytest.fixture(scope="module")
def warming(folder: Path) -> Iterator[RunningGateway]:
    settings = {
        **PRUNES_THOUGH_BUSY,
        "SLUICE_WARM_UP_QUERIES": "1",
        "SLUICE_DYNAMIC_FILTERING_MIN_TABLE_BYTES": "0",
        "SLUICE_LOCAL_RELATION_MAX_ROWS": "0",
        "SLUICE_DYNAMIC_FILTERING_PREFETCHED_SETS": "4",
        "SLUICE_DYNAMIC_FILTERING_PREFETCH_INTERVAL_S": "1",
    }
    gateway = RunningGateway.start(folder / "warming", settings)
    yield gateway
    gateway.stop()


def _prefetched(gateway: RunningGateway) -> int:
    return sum(line["sets"] for line in gateway.log_lines() if line["event"] == "keys_prefetched")


def _sources(gateway: RunningGateway, year: int) -> list[str]:
    sql = f"SELECT count(*) FROM facts JOIN years ON facts.day_key = years.day_key WHERE year = {year}"
    answer = ask(gateway.client, sql, catalog="lake", schema="warm")
    filters = explain(gateway.client, answer["queryId"])["filters"]
    return [found["source"] for found in filters if found["applied"]]


def _warmed(gateway: RunningGateway) -> list[int]:
    return [line["queries"] for line in gateway.log_lines() if line["event"] == "engine_warmed_up"]


def test_a_new_engine_runs_the_most_frequent_query(warming: RunningGateway) -> None:
    until(lambda: _warmed(warming) == [0])
    for sql in (FREQUENT, FREQUENT, "SELECT 1"):
        ask(warming.client, sql)
    jvm = warming.jvm()
    assert jvm is not None
    jvm.send_signal(signal.SIGKILL)
    until(lambda: _warmed(warming) == [0, 1], 120)
    # Callers did not ask it, and their list does not have it.
    listed = warming.client.get("/query").json()["queries"]
    assert [query["sql"] for query in listed] == ["SELECT 1", FREQUENT, FREQUENT]


def test_keys_of_a_table_are_collected_after_a_commit_to_it(warming: RunningGateway) -> None:
    with closing(embedded_catalog(warming.data_dir)) as lake:
        lake.create_namespace("warm")
        keys = pa.schema([pa.field("day_key", pa.int32())])
        facts = make(
            lake, "warm.facts", DAYS, PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "d"))
        )
        facts.append(pa.table({"day_key": list(range(6))}, schema=keys))
        years = make(lake, "warm.years", YEARS)
        rows = pa.schema([*keys, pa.field("year", pa.int32())])
        years.append(pa.table({"day_key": [1, 2], "year": [2000, 2000]}, schema=rows))
        assert _sources(warming, 2000) == ["COLLECTED"]
        assert _sources(warming, 2000) == ["CACHED"]
        before = until(lambda: _prefetched(warming), 120)
        # Removed rows may have had keys, so these cannot be carried over.
        years.overwrite(pa.table({"day_key": [2, 3, 4], "year": [2000, 2000, 2000]}, schema=rows))
        until(lambda: _prefetched(warming) > before, 120)
        assert _sources(warming, 2000) == ["CACHED"]
    outcomes = warming.client.get("/metrics").text
    assert 'sluice_filter_prefetch_total{outcome="COLLECTED"} 1.0' in outcomes
    assert 'sluice_filter_prefetch_total{outcome="CACHED"} 1.0' in outcomes
