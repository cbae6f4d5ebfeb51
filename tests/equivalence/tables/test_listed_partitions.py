"""A table of files has few of many keys: only those in its listed partitions are in the filter."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import IntegerType

from service.gateway import Gateway
from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterForm
from service.model.tables.tables import TableName
from spark_session.engine.engine import SparkEngine
from tests.equivalence.folders import NUMBERED, write_file
from tests.equivalence.harness import Harness, rows_of
from tests.equivalence.lakehouse import Layout, created

# There are more keys than a filter may list, in more runs than it may have ranges.
NUMBERS = range(10_000)
JOINED = "SELECT f.id FROM spark_catalog.files.numbered f JOIN numbers n ON f.k = n.n WHERE {condition}"
THIRD = "n.third = 0"
BLOCK = "n.block = 0"
METASTORE_PARTITIONS = 1_001


@pytest.fixture(scope="module")
def numbers(harness: Harness, lake: SqlCatalog) -> Harness:
    table = created(
        lake, "numbers", {"n": IntegerType(), "third": IntegerType(), "block": IntegerType()}, Layout()
    )
    columns = {"n": list(NUMBERS), "third": [n % 3 for n in NUMBERS], "block": [n // 10 % 2 for n in NUMBERS]}
    table.append(pa.table(columns, schema=table.schema().as_arrow()))
    return harness


def partitions_read(harness: Harness, sql: str) -> tuple[int, int]:
    [scan] = (scan for scan in harness.run(sql).scans if scan.table.endswith(".numbered"))
    return scan.metrics.partitions.selected, scan.metrics.data_files.selected


@pytest.mark.parametrize(
    ("condition", "literal", "form"),
    [(THIRD, "k % 3 = 0", FilterForm.IN), (BLOCK, "floor(k / 10) % 2 = 0", FilterForm.RANGES)],
)
def test_exactly_the_partitions_are_read_that_a_literal_reads(
    condition: str, literal: str, form: FilterForm, numbers: Harness
) -> None:
    checked = numbers.check(JOINED.format(condition=condition))
    assert checked.applied["numbered.k"].form is form
    [scan] = (scan for scan in checked.filtered.scans if scan.table.endswith(".numbered"))
    selected = (scan.metrics.partitions.selected, scan.metrics.data_files.selected)
    assert selected == partitions_read(
        numbers, f"SELECT id FROM spark_catalog.files.numbered WHERE {literal}"
    )
    assert 0 < selected[0] < len(NUMBERED)


def test_keys_of_all_partitions_are_not_selective(numbers: Harness) -> None:
    checked = numbers.check(JOINED.format(condition="n.n > 20 AND n.n % 5000 <> 3"))
    assert [filter_.reason for filter_ in checked.pruned.filters] == [Reason.NOT_SELECTIVE]


@pytest.mark.parametrize("condition", [THIRD, BLOCK])
def test_keys_beside_all_partitions_read_none_of_them(condition: str, numbers: Harness) -> None:
    checked = numbers.check(JOINED.format(condition=f"{condition} AND (n.n < 3000 OR n.n > 6000)"))
    assert checked.filtered.rows.num_rows == 0
    assert checked.files("numbered").selected == 0


@pytest.mark.parametrize("condition", [THIRD, BLOCK])
def test_a_partition_that_comes_after_the_listing_is_found(
    condition: str, numbers: Harness, folders: Path
) -> None:
    """The query that was pruned before finds the new partition, and so do later queries."""
    sql = JOINED.format(condition=condition)
    late = 60 if condition == THIRD else 7001
    before = numbers.check(sql)
    pruned = numbers.prune(sql)
    assert pruned.rewritten_sql is not None
    place = folders / "numbered" / f"k={late}" / "late.parquet"
    write_file(place, [{"id": late, "b": 1}])
    found = rows_of(numbers.run(pruned.sql, pruned=pruned).rows)
    assert found == rows_of(before.filtered.rows) + rows_of(pa.table({"id": [late]}))
    assert not numbers._ports.pruner.has_moved(pruned)
    assert rows_of(numbers.check(sql).filtered.rows) == found


def test_a_partition_that_comes_where_none_was_adds_no_row(numbers: Harness, folders: Path) -> None:
    """Ranges may cover keys whose partitions were not listed; the join still decides about rows."""
    sql = JOINED.format(condition=BLOCK)
    before = rows_of(numbers.check(sql).filtered.rows)
    pruned = numbers.prune(sql)
    write_file(folders / "numbered" / "k=2011" / "late.parquet", [{"id": 2011, "b": 1}])
    assert rows_of(numbers.run(pruned.sql, pruned=pruned).rows) == before
    assert rows_of(numbers.check(sql).filtered.rows) == before


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("by_k", "k"),
        ("by_day", "day"),
        ("by_name", "name"),
        ("by_paid", "is_paid"),
        ("by_both", "k"),
        ("by_both", "name"),
        ("by_text_k", "k"),
        ("inferred", "k"),
        ("parquet_by_k", "k"),
        ("csv_by_k", "k"),
    ],
)
def test_a_listing_tells_the_values_that_rows_have(table: str, column: str, numbers: Harness) -> None:
    name = TableName("spark_catalog", "files", table)
    numbers._ports.catalogs.facts(name)
    column_values = numbers._ports.pruner._detections._probe_values.of(name, None, column)
    rows = numbers.run(f"SELECT DISTINCT {column} FROM {name} WHERE {column} IS NOT NULL").rows
    assert isinstance(column_values, ColumnValues)
    assert not column_values.is_pinned
    assert column_values.values == tuple(sorted(rows.column(0).to_pylist()))


def test_no_values_are_reported_for_moments_and_decimals(numbers: Harness) -> None:
    for table, column in (("by_at", "at"), ("by_price", "price")):
        name = TableName("spark_catalog", "files", table)
        numbers._ports.catalogs.facts(name)
        assert numbers._ports.pruner._detections._probe_values.of(name, None, column) is NotKnown.UNAVAILABLE


def test_a_metastores_many_partitions_are_reported_by_their_names(
    numbers: Harness, gateway: Gateway, data_dir: Path
) -> None:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    spark = engine.session.children._root
    spark.sql(
        "CREATE TABLE spark_catalog.files.many (id BIGINT, k INT, name STRING) USING parquet"
        f" PARTITIONED BY (k, name) LOCATION '{(data_dir / 'many').as_uri()}'"
    )
    parts = " ".join(f"PARTITION (k = {number}, name = 'a/b')" for number in range(METASTORE_PARTITIONS - 1))
    spark.sql(f"ALTER TABLE spark_catalog.files.many ADD {parts} PARTITION (k = NULL, name = 'é')")
    name = TableName("spark_catalog", "files", "many")
    numbers._ports.catalogs.facts(name)
    values = numbers._ports.pruner._detections._probe_values
    by_k, by_name = values.of(name, None, "k"), values.of(name, None, "name")
    assert isinstance(by_k, ColumnValues)
    assert isinstance(by_name, ColumnValues)
    assert by_k.values == tuple(range(METASTORE_PARTITIONS - 1))
    assert by_name.values == ("a/b", "é")
