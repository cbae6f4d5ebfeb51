"""Pruned writes that meet other commits: to their target, and to the tables that their keys come from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from service.errors.query_errors import CommitConflict
from service.gateway import Gateway
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import QueryRequest
from service.model.writes.writes import Write
from service.query.execution.prune_write import WritePruning
from service.query.filtering.pruned_change import PrunedWrite
from service.query.registry.query_handle import QueryHandle
from spark_session.engine.engine import SparkEngine
from tests.equivalence.written_tables import (
    FACT_ROWS,
    LAYOUTS,
    MODES,
    NAMESPACE,
    fact_texts,
    source_texts,
)
from tests.integration.sql.engine_calls import root_of
from tests.integration.sql.write_calls import write

OURS = f"{NAMESPACE}.ours"


@dataclass
class Pruned:
    """Runs statements as a gateway does that prunes them."""

    gateway: Gateway
    engine: SparkEngine

    def pruning(self, sql: str) -> WritePruning:
        ports = self.gateway.queries.ports
        request = QueryRequest(sql, catalog="lake", schema="pw")
        query = QueryHandle(uuid4(), request, "ann", FULL_ACCESS, datetime.now(UTC), 0)
        return WritePruning(query, ports.pruner, ports.catalogs, None)

    def run(self, sql: str, between: Callable[[], object] = lambda: None) -> PrunedWrite:
        """Prunes and runs the statement; `between` is called after the keys were collected."""
        pruning = self.pruning(sql)
        pruned = pruning.prune()
        between()

        def begin(found: Write) -> None:
            if pruned.pruned.rewritten_sql is not None:
                assert pruning.is_as_pruned(pruned, found), (sql, found)

        write(self.engine, pruned.pruned.sql, begin=begin)
        return pruned


@pytest.fixture(scope="module")
def pruned(gateway: Gateway) -> Pruned:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    root_of(engine).sql(f"CREATE NAMESPACE IF NOT EXISTS {NAMESPACE}")
    for text in (*source_texts(), *fact_texts(f"{NAMESPACE}.fact", LAYOUTS[0], MODES[0], 2)):
        root_of(engine).sql(text)
    return Pruned(gateway, engine)


def rows(engine: SparkEngine, table: str) -> list[str]:
    return sorted(str(tuple(row)) for row in root_of(engine).table(table).collect())


MERGE_OF_KEYS = f"MERGE INTO {OURS} t USING {NAMESPACE}.src s ON t.k = s.k WHEN MATCHED THEN DELETE"


def append(engine: SparkEngine, key: int) -> None:
    """Adds a row to the table, as another writer does between the planning and the commit of a write."""
    root_of(engine).newSession().sql(f"INSERT INTO {OURS} (id, k) VALUES (1000, {key})")


def beginning(commit: Callable[[], None]) -> Callable[[Write], None]:
    """Returns what is called when a write begins, after its tables were loaded."""
    return lambda _: commit()


@pytest.mark.parametrize(
    ("layout", "mode", "is_pruned"),
    [
        ("PARTITIONED BY (k)", MODES[0], True),
        ("PARTITIONED BY (k)", MODES[0], False),
        ("PARTITIONED BY (k)", MODES[1], True),
        ("", MODES[1], True),
    ],
)
def test_a_concurrent_row_with_a_key_is_a_conflict_as_before(
    pruned: Pruned, layout: str, mode: str, is_pruned: bool
) -> None:
    """The source has the keys 0 to 6, but not 5."""
    engine = pruned.engine
    for key, is_key in ((3, True), (11, False)) if is_pruned else ((11, False),):
        for text in fact_texts(OURS, layout, mode, 2):
            root_of(engine).sql(text)
        found = pruned.pruning(MERGE_OF_KEYS).prune().pruned
        assert found.rewritten_sql is not None
        before = [row for row in rows(engine, OURS) if re.match(r"\(\d+, [012346],", row) is None]
        sql = found.sql if is_pruned else MERGE_OF_KEYS
        if is_key or not is_pruned:
            with pytest.raises(CommitConflict):
                write(engine, sql, begin=beginning(partial(append, engine, key)))
            assert len(rows(engine, OURS)) == FACT_ROWS + 1
        else:
            write(engine, sql, begin=beginning(partial(append, engine, key)))
            # As if the row had been added first.
            left = rows(engine, OURS)
            assert sorted([*before, str((1000, 11, None, None, None, None, None))]) == left


def test_a_source_that_changes_is_read_as_its_keys_were(pruned: Pruned) -> None:
    engine = pruned.engine
    for text in fact_texts(OURS, LAYOUTS[0], MODES[0], 2):
        root_of(engine).sql(text)
    new = f"INSERT INTO {NAMESPACE}.late SELECT * FROM {NAMESPACE}.wide WHERE id < 12"
    for text in (
        f"DROP TABLE IF EXISTS {NAMESPACE}.late",
        f"CREATE TABLE {NAMESPACE}.late USING iceberg AS SELECT * FROM {NAMESPACE}.src WHERE k = 1",
    ):
        root_of(engine).sql(text)
    sql = f"DELETE FROM {OURS} WHERE k IN (SELECT k FROM {NAMESPACE}.late)"
    found = pruned.run(sql, between=lambda: root_of(engine).sql(new))
    assert found.pruned.rewritten_sql is not None
    left = [row for row in rows(engine, OURS) if re.match(r"\(\d+, 1,", row)]
    assert not left
    assert len(rows(engine, OURS)) == FACT_ROWS - 3


def test_a_row_that_comes_before_the_write_begins_is_changed_too(pruned: Pruned) -> None:
    """Its key is one that no file of the target had when the predicate was made."""
    engine = pruned.engine
    for text in fact_texts(OURS, LAYOUTS[0], MODES[0], 2):
        root_of(engine).sql(text)
    root_of(engine).sql(f"DELETE FROM {OURS} WHERE k = 3")
    pruned.run(MERGE_OF_KEYS, between=lambda: append(engine, 3))
    assert not [row for row in rows(engine, OURS) if row.startswith("(1000,")]


def delete_equal(engine: SparkEngine, key: int) -> None:
    """Deletes the rows with a key as Flink and the gateway's upserts do, by an equality delete."""
    spark = root_of(engine).newSession()
    jvm: Any = spark._jvm
    iceberg = jvm.org.apache.iceberg
    table = iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, OURS)
    field = table.schema().findField("k")
    bounds = {field.fieldId(): iceberg.types.Conversions.toByteBuffer(field.type(), key)}
    gateway: Any = spark.sparkContext._gateway
    ids = gateway.new_array(jvm.int, 1)
    ids[0] = field.fieldId()
    found = (
        iceberg.FileMetadata.deleteFileBuilder(table.spec())
        .ofEqualityDeletes(ids)
        # Nothing reads it.
        .withPath(f"{table.location()}/data/equal-{key}.parquet")
        .withFormat("parquet")
        .withFileSizeInBytes(1000)
        .withMetrics(iceberg.Metrics(1, None, None, None, None, bounds, bounds))
        .build()
    )
    table.newRowDelta().addDeletes(found).commit()


def test_a_row_that_is_deleted_by_its_key_is_not_copied_back(pruned: Pruned) -> None:
    """A file has the keys 6, 7 and 8. The source has the key 6, so the write copies the file's other rows."""
    engine = pruned.engine
    for text in fact_texts(OURS, "", MODES[0], 2):
        root_of(engine).sql(text)
    found = pruned.pruning(MERGE_OF_KEYS).prune().pruned.sql
    with pytest.raises(CommitConflict):
        write(engine, found, begin=beginning(partial(delete_equal, engine, 8)))
