"""Files that noted row groups leave out of repeated queries: rows stay those of Iceberg's own planning."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql import SparkSession

from service.gateway import Gateway
from service.model.query.scan_metrics import ScanRecord
from service.ports.engine.query_engine import EngineResult
from service.query.filtering.pruned_query import PrunedQuery
from spark_session.engine.engine import SparkEngine
from spark_session.session.caches.row_group_counts import RowGroupCounts
from tests.equivalence.harness import PLANS_SWITCH, Harness, different_rows
from tests.equivalence.lakehouse import SCHEMA
from tests.thorough import IS_THOROUGH

ROUNDS = 60 if IS_THOROUGH else 6
ASKED = 3
TIMES = 2
MEMORY = 32 << 20
# Row groups of a hundred rows. `code` has bloom filters, `word` dictionaries; `k` is in order within a file.
PROPERTIES = {
    "write.parquet.row-group-size-bytes": "1",
    "write.parquet.row-group-check-min-record-count": "100",
    "write.parquet.row-group-check-max-record-count": "100",
    "write.parquet.bloom-filter-enabled.column.code": "true",
    "write.parquet.bloom-filter-max-bytes": "4096",
    "write.metadata.metrics.column.code": "none",
    "write.metadata.metrics.column.word": "none",
}
COLUMNS = "id BIGINT, k INT, code STRING, word STRING"
WORDS = "array('ant', 'bee', 'cat', 'dog', 'eel', 'fox')"
FILE_ROWS = 300
CHANGES = (
    "INSERT INTO {table} (id, k, code, word) SELECT id, CAST(id AS INT), md5(CAST(id % 1000 AS STRING)),"
    " {words}[CAST(id % 6 AS INT)] FROM range({first}, {end}, 1, 1) WHERE id % 5 <> {number} % 5",
    "INSERT INTO {table} (id, k, code, word)"
    " VALUES ({number}, {number}, md5('{number}'), 'gnu'), ({number}, 3, NULL, NULL)",
    "DELETE FROM {table} WHERE code = md5('{number}')",
    "DELETE FROM {table} WHERE word = '{word}' AND id % 4 = {number} % 4",
    "UPDATE {table} SET word = '{word}' WHERE code = md5('{number}') OR k = {number}",
    "MERGE INTO {table} t USING (SELECT md5('{number}') AS code, {number} AS k) s ON t.code = s.code"
    " WHEN MATCHED THEN UPDATE SET k = s.k"
    " WHEN NOT MATCHED THEN INSERT (id, k, code, word) VALUES (-1, s.k, s.code, '{word}')",
    "CALL lake.system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))",
    "ALTER TABLE {table} SET TBLPROPERTIES ('write.{verb}.mode' = '{mode}')",
)
# Each happens once, in this order.
EVOLUTIONS = (
    "ALTER TABLE {table} ADD COLUMN added INT",
    "ALTER TABLE {table} ALTER COLUMN k TYPE BIGINT",
    "ALTER TABLE {table} RENAME COLUMN word TO term",
    "ALTER TABLE {table} ADD PARTITION FIELD bucket(2, id)",
)
QUERIES = (
    "SELECT id, k, word FROM {table} WHERE code = md5('{number}')",
    "SELECT count(*) AS n, sum(id) AS s FROM {table} WHERE code IN (md5('{number}'), md5('{other}'))",
    "SELECT id, code FROM {table} WHERE word = '{word}'",
    "SELECT id, code FROM {table} WHERE word = 'bat' OR k = {number}",
    "SELECT k, count(*) AS n FROM {table} WHERE k BETWEEN {number} AND {number} + 30 GROUP BY k",
    "SELECT id FROM {table} WHERE code IS NULL AND word IS NULL",
    "SELECT id, word FROM {table} WHERE NOT (k < {number} OR word <> '{word}')",
    "SELECT _pos >= 0 AS has, id FROM {table} WHERE code = md5('{number}') AND _file IS NOT NULL",
    "SELECT count(*) AS n FROM (SELECT id FROM {table} WHERE word = '{word}' LIMIT 7)",
    "SELECT a.id, b.k FROM {table} a JOIN {table} b ON a.id = b.id"
    " WHERE a.code = md5('{number}') AND b.word = '{word}'",
    "SELECT id FROM {table} VERSION AS OF {snapshot} WHERE code = md5('{number}')",
    "SELECT id, word FROM {table} VERSION AS OF 'kept' WHERE word = '{word}'",
)


@pytest.fixture(scope="module")
def engine(gateway: Gateway, lake: SqlCatalog) -> Iterator[SparkEngine]:  # noqa: ARG001
    """The engine, whose scans leave out noted files while this module's tests run."""
    found = gateway.queries.ports.engine
    assert isinstance(found, SparkEngine)
    assert found.session is not None
    jvm = found.session.jvm.gateway
    counts = RowGroupCounts(jvm, MEMORY, leaves_out_files=True)
    counts.clear()
    yield found
    RowGroupCounts(jvm, MEMORY)
    counts.clear()


@dataclass
class Twins:
    """Two tables with the same rows. Iceberg plans all statements that change the second."""

    engine: SparkEngine
    lake: SqlCatalog
    name: str
    word: str = "word"
    snapshots: list[int] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, str]:
        return f"{SCHEMA}.{self.name}", f"{SCHEMA}.{self.name}_twin"

    def change(self, sql: str, **values: object) -> None:
        """Changes both tables in the same way."""
        for number, name in enumerate(self.names):
            text = sql.format(table=f"lake.{name}" if "CALL" not in sql else name, words=WORDS, **values)
            self._session(is_planned_by_iceberg=bool(number)).sql(text.replace("word", self.word)).collect()

    def _session(self, *, is_planned_by_iceberg: bool) -> SparkSession:
        assert self.engine.session is not None
        session = self.engine.session.root.newSession()
        session.conf.set(PLANS_SWITCH, str(not is_planned_by_iceberg).lower())
        return session

    def delete_equal(self, number: int) -> None:
        """Deletes the rows with a code as Flink does, by equality."""
        code = (
            self._session(is_planned_by_iceberg=True).sql(f"SELECT md5('{number}') AS code").collect()[0][0]
        )
        for name in self.names:
            _delete_equal(self._session(is_planned_by_iceberg=True), f"lake.{name}", code)

    def note_snapshot(self) -> None:
        snapshot = self.lake.load_table(self.names[0]).current_snapshot()
        if snapshot is not None:
            self.snapshots.append(snapshot.snapshot_id)


def _delete_equal(spark: SparkSession, name: str, code: str) -> None:
    jvm: Any = spark._jvm
    iceberg = jvm.org.apache.iceberg
    table = iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name)
    column = table.schema().findField("code")
    folder = Path(urlparse(table.location()).path) / "data"
    path = folder / f"equal-{uuid4()}.parquet"
    ids = {b"PARQUET:field_id": str(column.fieldId()).encode()}
    pq.write_table(
        pa.table({"code": [code]}, schema=pa.schema([pa.field("code", pa.string(), metadata=ids)])), path
    )
    gateway: Any = spark.sparkContext._gateway
    columns = gateway.new_array(jvm.int, 1)
    columns[0] = column.fieldId()
    builder = iceberg.FileMetadata.deleteFileBuilder(jvm.org.apache.iceberg.PartitionSpec.unpartitioned())
    found = (
        builder.ofEqualityDeletes(columns)
        .withPath(str(path))
        .withFormat("parquet")
        .withFileSizeInBytes(path.stat().st_size)
        .withRecordCount(1)
        .build()
    )
    table.newRowDelta().addDeletes(found).commit()


@dataclass(frozen=True)
class Asker:
    """Asks each query by Iceberg's planning once, and then several times from memory."""

    by_iceberg: Harness
    from_memory: Harness

    def left_out(self, sql: str) -> int:
        """Checks rows and levels of one query, and returns how many files were left out the last time."""
        expected = self._run(self.by_iceberg, sql)
        assert not any(scan.files_left_out for scan in expected.scans)
        left_out = 0
        for _ in range(TIMES):
            found = self._run(self.from_memory, sql)
            if "LIMIT" not in sql:
                assert not different_rows(expected.rows, found.rows), sql
                _assert_levels_hold(expected.scans, found.scans, sql)
            else:
                assert found.rows == expected.rows, sql
            left_out = sum(scan.files_left_out for scan in found.scans)
        return left_out

    @staticmethod
    def _run(harness: Harness, sql: str) -> EngineResult:
        return harness.run(sql, (), PrunedQuery(sql))


def _assert_levels_hold(expected: Sequence[ScanRecord], found: Sequence[ScanRecord], sql: str) -> None:
    """Asserts that a file is selected, or left out by its row groups, of which it then selects none."""
    if len(expected) != len(found):
        # Spark reads equal scans once, and may drop the one that turned out to be empty.
        return
    for one, other in zip(expected, found, strict=True):
        before, after = one.metrics, other.metrics
        if one.predicates != other.predicates or one.has_run != other.has_run:
            continue
        assert after.data_files.total == before.data_files.total, sql
        assert after.data_files.selected + other.files_left_out == before.data_files.selected, sql
        if before.row_groups is not None and after.row_groups is not None:
            assert after.row_groups == before.row_groups, sql


@pytest.fixture(scope="module")
def asker(by_iceberg: Harness, from_memory: Harness, engine: SparkEngine) -> Asker:  # noqa: ARG001
    return Asker(by_iceberg, from_memory)


@pytest.mark.parametrize("version", [2, 3])
def test_queries_that_are_asked_again_have_the_same_rows_whatever_changes(
    version: int, engine: SparkEngine, lake: SqlCatalog, asker: Asker
) -> None:
    chosen = random.Random(version)
    twins = _twins(engine, lake, f"noted_{version}", version, PROPERTIES)
    changes = chosen.sample(CHANGES, len(CHANGES))
    left_out = 0
    for number in range(ROUNDS):
        if version == 2 and number % 5 == 3:
            twins.delete_equal(chosen.choice((5, 130, 700)))
        else:
            twins.change(changes[number % len(changes)], **_values(chosen))
        if number < len(EVOLUTIONS):
            twins.change(EVOLUTIONS[number])
            twins.word = "term" if "RENAME" in EVOLUTIONS[number] else twins.word
        twins.note_snapshot()
        for name in chosen.sample(QUERIES, ASKED):
            left_out += _ask(twins, chosen, asker, name)
        _assert_twins_are_equal(twins, asker.by_iceberg)
    assert left_out > ROUNDS, "no file was left out, so nothing is proven"


def _twins(
    engine: SparkEngine, lake: SqlCatalog, name: str, version: int, properties: dict[str, str]
) -> Twins:
    twins = Twins(engine, lake, name)
    options = {**properties, "format-version": str(version), "write.delete.mode": "merge-on-read"}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    twins.change(f"CREATE TABLE {{table}} ({COLUMNS}) USING iceberg TBLPROPERTIES ({listed})")
    for first in range(0, 4 * FILE_ROWS, FILE_ROWS):
        twins.change(CHANGES[0], first=first, end=first + FILE_ROWS, number=7)
    twins.change("ALTER TABLE {table} CREATE TAG kept")
    twins.note_snapshot()
    return twins


def _values(chosen: random.Random) -> dict[str, object]:
    """Returns few values, so that queries and changes have the same ones again."""
    first = chosen.randint(0, 6) * 150
    return {
        "number": chosen.choice((5, 130, 700, 20_000)),
        "other": chosen.choice((6, 131, 30_000)),
        "word": chosen.choice(("ant", "fox", "gnu", "bat")),
        "first": first,
        "end": first + FILE_ROWS,
        "verb": chosen.choice(("delete", "update", "merge")),
        "mode": chosen.choice(("merge-on-read", "copy-on-write")),
    }


def _ask(twins: Twins, chosen: random.Random, asker: Asker, query: str) -> int:
    table = twins.names[0].split(".")[1]
    text = query.format(table=table, snapshot=chosen.choice(twins.snapshots), **_values(chosen))
    # A former snapshot has the columns of its time.
    return asker.left_out(text if "VERSION AS OF" in query else text.replace("word", twins.word))


def _assert_twins_are_equal(twins: Twins, by_iceberg: Harness) -> None:
    one, other = (by_iceberg.run(f"SELECT * FROM {name.split('.')[1]}") for name in twins.names)
    assert not different_rows(one.rows, other.rows)
