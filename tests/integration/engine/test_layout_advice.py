"""Spark rewrites a table as advised, and the same queries read what was predicted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from pyiceberg.table import StaticTable

from service.adapters.catalogs.opened_tables import OpenedTable
from service.adapters.catalogs.table_facts import table_facts
from service.adapters.layouts.iceberg_layouts import IcebergLayouts
from service.advice.advice_options import AdviceOptions
from service.advice.advise import advise, filtered_columns
from service.model.query.layout_advice import AdviceKind, LayoutAdvice, ReadAmount, TableAdvice
from service.model.query.layout_trial import CountedReads, TrialWork
from service.model.query.scan_metrics import ScanRecord
from service.model.tables.tables import TableName
from service.ports.tables.table_layouts import LayoutBounds
from spark_session.engine.engine import SparkEngine
from spark_session.engine.spark_trials import SparkTrials
from tests.fakes.clock import FakeClock
from tests.integration.engine.test_engine import prepare, run

pytestmark = pytest.mark.integration

SALES = TableName("lake", "layouts", "sales")
BOUNDS = LayoutBounds(
    max_files=1_000,
    max_sampled_files=64,
    max_sampled_rows=20_000,
    timeout_s=60,
    max_rewritten_bytes=128 * 1024**2,
)
OPTIONS = AdviceOptions(min_file_bytes=400_000)
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
# Iceberg ends files as small as these sooner than at their length: it counts rows before compression.
WITHIN = 0.2
WORKLOAD = [
    *(
        f"SELECT count(text) FROM layouts.sales WHERE day BETWEEN DATE'2024-01-01' + {day} AND"
        f" DATE'2024-01-01' + {day + 9}"
        for day in range(0, 350, 14)
    ),
    "SELECT count(text) FROM layouts.sales WHERE day IN (DATE'2024-03-01', DATE'2024-03-02')",
    "SELECT count(text) FROM layouts.sales JOIN layouts.days USING (day) WHERE kind = 7",
]


@pytest.fixture(scope="module")
def engine(shared_engine: SparkEngine) -> SparkEngine:
    prepare(
        shared_engine,
        "CREATE NAMESPACE IF NOT EXISTS lake.layouts",
        "CREATE OR REPLACE TABLE layouts.days USING iceberg AS SELECT DATE'2024-01-01' + int(id) AS day,"
        " int(id / 30) AS kind FROM range(365)",
        "CREATE OR REPLACE TABLE layouts.sales USING iceberg"
        " TBLPROPERTIES ('write.target-file-size-bytes' = '1600000') AS"
        " SELECT /*+ REPARTITION(8) */ id, DATE'2024-01-01' + int(hash(id) & 65535) % 365 AS day,"
        # Rows of a day share their texts: together they take much less space.
        " sha2(string(int(hash(id) & 65535) % 365 * 500 + id % 500), 512) AS text FROM range(240000)",
    )
    return shared_engine


def scans(engine: SparkEngine) -> list[ScanRecord]:
    found = [scan for sql in WORKLOAD for scan in run(engine, sql).scans]
    return [scan for scan in found if scan.table == str(SALES)]


def newest(engine: SparkEngine) -> StaticTable:
    log = "SELECT file FROM lake.layouts.sales.metadata_log_entries ORDER BY timestamp DESC LIMIT 1"
    assert engine.session is not None
    [found] = engine.session.children._root.sql(log).collect()
    return StaticTable.from_metadata(found["file"])


def advice_for(engine: SparkEngine, recorded: list[ScanRecord]) -> TableAdvice:
    table = newest(engine)
    opened = OpenedTable(table, table_facts(SALES, table))
    columns = [column.column for column in filtered_columns(recorded)]
    layouts = IcebergLayouts(lambda _: opened, FakeClock())
    layout = layouts.layout(SALES, columns, BOUNDS)
    return advise(layout, recorded, SINCE, OPTIONS, rewritten=layouts.rewritten(layout, BOUNDS))


def test_a_table_that_spark_sorts_as_advised_is_read_as_predicted(engine: SparkEngine) -> None:
    recorded = scans(engine)
    assert len(recorded) == len(WORKLOAD)
    found = advice_for(engine, recorded)
    assert found.simulated == found.workload.recorded
    [advice] = [one for one in found.advice if one.kind is AdviceKind.SORT]
    assert advice.columns == ("day",)
    now, tried = trial(engine, found, advice, recorded)
    assert now.byte_count == found.workload.recorded.byte_count
    assert sum(scan.metrics.bytes.selected for scan in scans(engine)) == now.byte_count
    prepare(engine, *advice.statements)
    assert_is_read_as_predicted(engine, advice)
    assert sum(scan.metrics.bytes.selected for scan in scans(engine)) == pytest.approx(
        tried.byte_count, rel=0.05
    )


def trial(
    engine: SparkEngine, found: TableAdvice, advice: LayoutAdvice, recorded: list[ScanRecord]
) -> tuple[ReadAmount, ReadAmount]:
    assert found.snapshot_id is not None
    trials = SparkTrials(lambda: engine.session)
    work = TrialWork(
        trial_id=uuid4(),
        table=SALES,
        snapshot_id=found.snapshot_id,
        advice=advice,
        scans=[scan.predicates for scan in recorded],
    )
    before = newest(engine)
    folder = Path(urlsplit(before.location()).path) / "sluice-trials" / str(work.trial_id)
    written: list[Path] = []
    now, tried = trials.run(work, lambda: written.extend(folder.rglob("*.parquet")))
    assert len(written) == tried.whole.file_count
    for _ in range(2):
        trials.drop(SALES, work.trial_id)
        assert not folder.exists()
    assert newest(engine).metadata_location == before.metadata_location
    return total(now), total(tried)


def total(reads: CountedReads) -> ReadAmount:
    return ReadAmount(
        sum(scan.file_count for scan in reads.scans), sum(scan.byte_count for scan in reads.scans)
    )


def assert_is_read_as_predicted(engine: SparkEngine, advice: LayoutAdvice) -> None:
    seen = sum(scan.metrics.bytes.selected for scan in scans(engine))
    assert advice.after.byte_count == pytest.approx(seen, rel=WITHIN)
    assert advice.is_size_predicted
    assert advice.saved_share > 0.5
