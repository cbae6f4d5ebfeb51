"""Files of other writers that are added to a table: their metadata and contents may disagree."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import IcebergType, IntegerType, LongType, TimestampType, TimestamptzType

from service.gateway import Gateway
from service.model.filters.filter_record import Reason
from spark_session.engine.engine import SparkEngine
from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import Layout, append, created

START = datetime(2024, 1, 1)
FILES, ROWS_EACH = 4, 5
MOMENTS: dict[str, IcebergType] = {"id": LongType(), "at": TimestampType(), "at_utc": TimestamptzType()}


@pytest.fixture(scope="module", autouse=True)
def imported(gateway: Gateway, lake: SqlCatalog, data_dir: Path) -> None:
    """In `said_otherwise`, files also hold the column that the folders are named by, with other values."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    spark = engine.session.children._root.sql
    created(lake, "by_millisecond", MOMENTS, Layout(sorted_by="at"))
    numbers = range(FILES * ROWS_EACH)
    for part in range(FILES):
        some = numbers[part * ROWS_EACH : (part + 1) * ROWS_EACH]
        write(data_dir / "imports" / "by_millisecond" / f"{part}.parquet", moments(some))
    append(
        created(lake, "moments", {**MOMENTS, "n": IntegerType()}, Layout()),
        [{**row, "n": row["id"]} for row in moments(numbers).to_pylist()],
    )
    for table, stored, shift in (("by_folder", "b", 0), ("said_otherwise", "k", 100)):
        spark(
            f"CREATE TABLE lake.shop.{table} (id BIGINT, b BIGINT, k BIGINT) USING iceberg PARTITIONED BY (k)"
        )
        spark(f"ALTER TABLE lake.shop.{table} WRITE ORDERED BY b")
        for key in range(FILES):
            path = data_dir / "imports" / table / f"k={key}" / "1.parquet"
            write(path, pa.table({"id": [key], stored: [key + shift]}))
    for table in ("by_millisecond", "by_folder", "said_otherwise"):
        add_files(spark, table, data_dir / "imports" / table)


def moments(numbers: range) -> pa.Table:
    at = [START + timedelta(hours=number) for number in numbers]
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "at": pa.array(at, pa.timestamp("ms")),
            "at_utc": pa.array([moment.replace(tzinfo=UTC) for moment in at], pa.timestamp("ms", "UTC")),
        }
    )


def write(path: Path, rows: pa.Table) -> None:
    """Writes without dictionaries, from which Iceberg 1.12 reads wrong values of millisecond timestamps."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path, use_dictionary=False)


def add_files(spark: Callable[[str], object], table: str, folder: Path) -> None:
    spark(f"CALL lake.system.add_files(table => 'shop.{table}', source_table => '`parquet`.`{folder}`')")


@pytest.mark.parametrize(
    "condition", ["f.at = d.at", "f.at_utc = d.at_utc", "CAST(f.at AS DATE) = CAST(d.at AS DATE)"]
)
def test_moments_in_milliseconds_are_not_distinguished_by_statistics(
    condition: str, harness: Harness
) -> None:
    checked = harness.check(f"SELECT f.id FROM by_millisecond f JOIN moments d ON {condition} WHERE d.n = 7")
    assert checked.written.rows.num_rows > 0
    assert checked.applied == {}
    assert {filter_record.reason for filter_record in checked.pruned.filters} == {Reason.PROBE_NOT_PRUNABLE}


@pytest.mark.parametrize("column", ["k", "b"])
def test_other_columns_prune(column: str, harness: Harness) -> None:
    checked = harness.check(f"SELECT f.id FROM by_folder f JOIN moments d ON f.{column} = d.n WHERE d.id = 2")
    assert f"by_folder.{column}" in checked.applied
    assert checked.files("by_folder").selected == 1


def test_keys_are_those_of_the_folder_whatever_the_file_says(harness: Harness) -> None:
    checked = harness.check("SELECT f.id FROM by_k f JOIN said_otherwise d ON f.k = d.k WHERE d.id = 2")
    assert "by_k.k" in checked.applied
    assert checked.written.rows.num_rows > 0
