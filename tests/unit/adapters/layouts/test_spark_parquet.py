"""Columns whose values Spark's writer numbers, and the options of a table's files."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from service.adapters.layouts.spark_parquet import FOOTER, ParquetOptions, file_bytes, parquet_options

ROWS = 20_000
CHANCE = random.Random(5)
DIFFERENT = [CHANCE.randrange(2**31) for _ in range(ROWS)]


def options(**properties: str) -> ParquetOptions:
    found = parquet_options(
        {f"write.parquet.{name.replace('_', '-')}": found for name, found in properties.items()}
    )
    assert found is not None
    return found


PLAIN = options(compression_codec="uncompressed")


def bytes_of(values: pa.Array, of: ParquetOptions = PLAIN) -> int:
    return file_bytes(pa.table({"a": values}), of)["a"]


@pytest.mark.parametrize(
    ("values", "width"),
    [
        (pa.array(DIFFERENT, pa.int64()), 8),
        (pa.array([Decimal(value) / 100 for value in DIFFERENT], pa.decimal128(18, 2)), 8),
        (pa.array([Decimal(value % 10**7) / 100 for value in DIFFERENT], pa.decimal128(7, 2)), 4),
        (pa.array([f"{value:010d}" for value in DIFFERENT]), 14),
    ],
    ids=["long", "decimal-18", "decimal-7", "string"],
)
def test_values_that_differ_are_written_as_they_are(values: pa.Array, width: int) -> None:
    assert bytes_of(values) == pytest.approx(ROWS * width, rel=0.01)


def test_values_that_are_repeated_are_numbered() -> None:
    assert bytes_of(pa.array([value % 4 for value in DIFFERENT], pa.int64())) < ROWS
    assert bytes_of(pa.array([value % 2 == 0 for value in DIFFERENT])) < ROWS
    assert bytes_of(pa.nulls(ROWS, pa.string())) < 1_000


def test_the_first_page_decides() -> None:
    rows = [*DIFFERENT, *([7] * 9 * ROWS)]
    assert bytes_of(pa.array(rows, pa.int64())) > ROWS * 8 * 9
    assert bytes_of(pa.array(rows[::-1], pa.int64())) < ROWS * 8 * 3


def test_columns_in_columns_are_counted() -> None:
    nested: list[Any] = [{"a": [value, 1], "b": "x"} for value in DIFFERENT[:100]]
    found = file_bytes(pa.table({"id": DIFFERENT[:100], "nested": nested}), PLAIN)
    assert found.keys() == {FOOTER, "id", "nested.a.list.element", "nested.b"}


def test_options_are_those_of_the_table() -> None:
    found = options(compression_codec="GZIP", compression_level="9", page_row_limit="7", dict_size_bytes="8")
    assert found == ParquetOptions(codec="gzip", level=9, page_bytes=2**20, page_rows=7, dictionary_bytes=8)
    assert options() == replace(PLAIN, codec="zstd", level=3)
    assert parquet_options({"write.parquet.compression-codec": "lzo"}) is None
    assert parquet_options({"write.parquet.page-row-limit": "many"}) is None
