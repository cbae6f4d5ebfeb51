"""Types as SQL names them, and scan metrics as the JVM returns them."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import types as t

from service.model.query.results import Column
from service.model.query.scan_metrics import Selection
from spark_session.results.result_types import result_columns, sql_type
from spark_session.results.scan_metrics import scan_records

TYPES = [
    (t.IntegerType(), "INT"),
    (t.LongType(), "BIGINT"),
    (t.StringType(), "STRING"),
    (t.DecimalType(38, 18), "DECIMAL(38,18)"),
    (t.TimestampNTZType(), "TIMESTAMP_NTZ"),
    (t.NullType(), "VOID"),
    (t.ArrayType(t.ArrayType(t.DateType())), "ARRAY<ARRAY<DATE>>"),
    (t.MapType(t.StringType(), t.ArrayType(t.DoubleType())), "MAP<STRING, ARRAY<DOUBLE>>"),
    (t.StructType([t.StructField("Name of it", t.BinaryType())]), "STRUCT<Name of it: BINARY>"),
    (t.StructType([]), "STRUCT<>"),
]


@pytest.mark.parametrize(("data_type", "expected"), TYPES)
def test_types_are_spelled_as_sql_spells_them(data_type: t.DataType, expected: str) -> None:
    assert sql_type(data_type) == expected


def test_columns_keep_their_order_their_names_and_their_doubles() -> None:
    fields = [t.StructField("N", t.IntegerType(), nullable=False), t.StructField("N", t.StringType())]
    assert result_columns(t.StructType(fields)) == (Column("N", "INT", False), Column("N", "STRING", True))


def test_every_level_of_a_scan_is_selected_of_total() -> None:
    levels = [[5, 50, 500, 5000, 9, 80], [1, 10, 100, 20]]
    row = ["lake.tpcds.store_returns", None, *levels, 3, 70, 12, True, False, ["sr_item_sk"], ["true"], [], 4]
    [scan] = scan_records(json.dumps([row]))
    assert scan.columns == ("sr_item_sk",)
    metrics = scan.metrics
    assert (scan.table, scan.snapshot_id, metrics.planning_ms) == ("lake.tpcds.store_returns", None, 12)
    assert metrics.partitions == Selection(5, 1)
    assert metrics.manifests == Selection(9, 3)
    assert metrics.data_files == Selection(50, 10)
    assert metrics.bytes == Selection(500, 100)
    assert metrics.rows == Selection(5000, 70)
    assert metrics.row_groups == Selection(80, 20)
    assert scan.files_left_out == 4


@pytest.mark.parametrize(
    ("total", "selected", "has_run", "has_query_run", "expected"),
    [
        (80, 20, True, True, Selection(80, 20)),
        (80, -1, True, True, None),
        (-1, 20, True, True, None),
        # Readers select them when the query runs.
        (80, 20, True, False, None),
        # A scan that was not needed has opened no file.
        (80, -1, False, True, Selection(80, 0)),
        (-1, -1, False, True, None),
    ],
)
def test_row_groups_are_known_of_all_files_or_not(
    total: int, selected: int, has_run: bool, has_query_run: bool, expected: Selection | None
) -> None:
    levels = [[5, 50, 500, 5000, 9, total], [1, 10, 100, selected]]
    row = ["lake.tpcds.store_returns", 7, *levels, 3, 70, 12, has_run, False, [], [], [], 0]
    [scan] = scan_records(json.dumps([row]), has_query_run)
    assert scan.metrics.row_groups == expected


def test_no_scans_are_none() -> None:
    assert scan_records("[]") == ()
