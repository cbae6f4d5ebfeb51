"""Tables without snapshots: one folder of files for each partition, and others in Spark's own catalog."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from tests.equivalence.lakehouse import FACT, _schema, dimension_rows, fact_rows

LONG_AGO_S = 1_600_000_000
NULL = "__HIVE_DEFAULT_PARTITION__"

# The types of each table's partition columns. Spark infers those of the last table.
FOLDERS: Mapping[str, Mapping[str, str]] = {
    "by_k": {"k": "INT"},
    "by_day": {"day": "DATE"},
    "by_name": {"name": "STRING"},
    "by_paid": {"is_paid": "BOOLEAN"},
    "by_at": {"at": "TIMESTAMP"},
    "by_both": {"k": "INT", "name": "STRING"},
    "by_text_k": {"k": "STRING"},
    "by_small_k": {"k": "SMALLINT"},
    "partly_gone": {"k": "INT"},
    "inferred": {"k": ""},
}
DIMENSIONS = ("dim", "growing")
NUMBERED = range(4000, 4120)


def make_folders(folder: Path) -> dict[str, Any]:
    """Writes the files of every table, and returns the setting that declares the tables."""
    for seed, (table, columns) in enumerate(FOLDERS.items()):
        write(folder / table, fact_rows(seed), list(columns))
    rows = [{"k": row["k"], "name": row["name"], "year": row["year"]} for row in dimension_rows(16)]
    write(folder / "by_price", fact_rows(7), ["price"])
    write(folder / "numbered", [{"id": number, "b": 1, "k": number} for number in NUMBERED], ["k"])
    for dimension in DIMENSIONS:
        write_file(folder / dimension / "one.parquet", rows)
    declared = {
        f"files.{table}": {"location": (folder / table).as_uri(), "partition_columns": _declared(columns)}
        for table, columns in FOLDERS.items()
    }
    declared["files.numbered"] = {
        "location": (folder / "numbered").as_uri(),
        "partition_columns": {"k": "INT"},
    }
    return declared | {
        f"files.{dimension}": {"location": (folder / dimension).as_uri()} for dimension in DIMENSIONS
    }


def make_others(folder: Path, jdbc_url: str, spark: Callable[[str], object]) -> None:
    """Creates tables of several formats whose partitions the catalog knows, a view, and a JDBC table."""
    for kind in ("parquet", "orc", "json", "csv"):
        spark(
            f"CREATE TABLE spark_catalog.files.{kind}_by_k (id BIGINT, b BIGINT, k INT) USING {kind}"
            f" PARTITIONED BY (k) LOCATION '{(folder / kind).as_uri()}'"
        )
        spark(f"INSERT INTO spark_catalog.files.{kind}_by_k SELECT id, b, k FROM spark_catalog.files.by_k")
    spark(
        "CREATE TABLE spark_catalog.files.elsewhere USING jdbc OPTIONS"
        f" (driver 'org.postgresql.Driver', url '{jdbc_url}',"
        " dbtable '(SELECT k, 7 AS id FROM generate_series(0, 9) AS k) AS t')"
    )
    price = (folder.parent / "folders" / "by_price").as_uri()
    spark("SET spark.sql.hive.manageFilesourcePartitions=false")
    spark(
        "CREATE TABLE spark_catalog.files.by_price (id BIGINT, price DECIMAL(7, 2)) USING parquet"
        f" PARTITIONED BY (price) LOCATION '{price}'"
    )
    spark("RESET spark.sql.hive.manageFilesourcePartitions")
    spark("CREATE VIEW spark_catalog.files.seen AS SELECT id, b, k FROM spark_catalog.files.by_k")


def jdbc_url(data_dir: Path) -> str:
    """Returns the URL of the embedded PostgreSQL, which serves as another system."""
    server = data_dir / "postgres"
    port, password = ((server / name).read_text() for name in ("port", "password"))
    return f"jdbc:postgresql://127.0.0.1:{port}/lake?user=postgres&password={password}"


def write(folder: Path, rows: Sequence[Mapping[str, Any]], partition_columns: Sequence[str]) -> None:
    """Writes a new file for each partition, in folders named as Hive names them."""
    parts: dict[Path, list[Mapping[str, Any]]] = {}
    for row in rows:
        place = folder.joinpath(*(f"{column}={_spelled(row[column])}" for column in partition_columns))
        parts.setdefault(place, []).append({key: row[key] for key in row if key not in partition_columns})
    for place, part in parts.items():
        write_file(place / f"{part[0]['id']}.parquet", part)


def write_file(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes a file with a modification time long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    types = {field.name: field for field in _schema(FACT).as_arrow()} | {"year": pa.field("year", pa.int32())}
    schema = pa.schema([types[name].with_nullable(True) for name in rows[0]])
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), path)
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))


def _spelled(value: Any) -> str:
    if value is None or value == "":
        return NULL
    return quote(str(value).lower() if isinstance(value, bool) else str(value), safe=" ")


def _declared(columns: Mapping[str, str]) -> dict[str, str]:
    return {name: spark_type for name, spark_type in columns.items() if spark_type}
