"""How many bytes rows take in another order, found out from all rows or from a part of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from service.adapters.layouts.rewritten_rows import ArrowRewrittenRows
from service.model.tables.rewritten_sizes import RewrittenSizes, RowOrder
from tests.unit.advice.lakehouse import BOUNDS, Lakehouse

ROWS, FILES, DAYS = 24_000, 6, 300
ENOUGH = 2**26
BY_DAY = RowOrder(file_rows=4_000, columns=("day",))


def in_a_random_order() -> pa.Table:
    """Rows whose texts have much to do with their day."""
    chance = random.Random(11)
    days = [chance.randrange(DAYS) for _ in range(ROWS)]
    return pa.table(
        {
            "id": list(range(ROWS)),
            "day": [date(2024, 1, 1) + timedelta(days=day) for day in days],
            "city": [f"city {day % 7} {chance.randrange(30)}" for day in days],
            "price": [Decimal(chance.randrange(10_000)) / 100 for _ in days],
            "at": pa.nulls(ROWS, pa.timestamp("us")),
            "text": [f"a text of day {day:08d}, number {chance.randrange(3)}" for day in days],
        }
    )


@pytest.fixture
def lakehouse(tmp_path: Path) -> Iterator[Lakehouse]:
    made = Lakehouse(tmp_path)
    made.append(in_a_random_order(), FILES)
    yield made
    made.close()


def rows(lakehouse: Lakehouse, max_bytes: int = ENOUGH) -> ArrowRewrittenRows:
    found = lakehouse.layouts.rewritten(lakehouse.layout(), replace(BOUNDS, max_rewritten_bytes=max_bytes))
    assert found is not None
    return found


def average(found: RewrittenSizes | None) -> float:
    assert found is not None
    return float(np.diff([0.0, *found.ends]) @ np.array(found.row_bytes))


def sizes(lakehouse: Lakehouse, order: RowOrder, max_bytes: int = ENOUGH) -> RewrittenSizes | None:
    return rows(lakehouse, max_bytes).sizes(order, lambda: False)


def test_small_files_take_more(lakehouse: Lakehouse) -> None:
    large = average(sizes(lakehouse, RowOrder(file_rows=ROWS)))
    assert average(sizes(lakehouse, RowOrder(file_rows=ROWS // 50))) > 1.2 * large


@pytest.mark.parametrize(
    "order",
    [BY_DAY, RowOrder(file_rows=4_000, columns=("day",), transform="month")],
    ids=["sort", "partition"],
)
def test_rows_that_lie_together_take_less(lakehouse: Lakehouse, order: RowOrder) -> None:
    now = average(sizes(lakehouse, RowOrder(file_rows=4_000)))
    assert average(sizes(lakehouse, order)) < 0.9 * now


@pytest.mark.parametrize("of", [3, 8])
@pytest.mark.parametrize(
    "order",
    [
        BY_DAY,
        RowOrder(file_rows=1_000),
        RowOrder(file_rows=12_000),
        RowOrder(file_rows=9_999, columns=("day",), transform="month"),
    ],
    ids=["sort", "split", "pack", "partition"],
)
def test_a_part_says_what_all_rows_take(lakehouse: Lakehouse, order: RowOrder, of: int) -> None:
    whole = rows(lakehouse)
    expected = average(whole.sizes(order, lambda: False))
    part = rows(lakehouse, whole.read_bytes // of)
    # These files have a few KiB: in larger ones, it is nearer.
    assert average(part.sizes(order, lambda: False)) == pytest.approx(expected, rel=0.2)
    assert part.read_bytes < whole.read_bytes / of * 1.3


def test_each_partition_has_files_of_its_own(lakehouse: Lakehouse) -> None:
    found = sizes(lakehouse, RowOrder(file_rows=99_999, columns=("day",), transform="month"))
    assert found is not None
    assert len(found.ends) == 10


def test_files_that_are_gone_say_nothing(lakehouse: Lakehouse, tmp_path: Path) -> None:
    found = rows(lakehouse)
    for file in tmp_path.rglob("*.parquet"):
        file.unlink()
    assert found.sizes(BY_DAY, lambda: False) is None


def test_files_that_are_not_parquet_say_nothing(lakehouse: Lakehouse, tmp_path: Path) -> None:
    found = rows(lakehouse)
    for file in tmp_path.rglob("*.parquet"):
        file.write_bytes(b"PAR1 but not really PAR1")
    assert found.sizes(BY_DAY, lambda: False) is None


def test_rows_of_another_writer_are_not_written(lakehouse: Lakehouse) -> None:
    bounds = replace(BOUNDS, max_rewritten_bytes=ENOUGH)
    assert lakehouse.layouts.rewritten(lakehouse.layout(), BOUNDS) is None
    lakehouse.set_property("write.format.default", "orc")
    assert lakehouse.layouts.rewritten(lakehouse.layout(), bounds) is None


def test_rows_that_are_much_larger_than_the_first_are_not_all_read(lakehouse: Lakehouse) -> None:
    large = in_a_random_order().slice(0, 4_000)
    long = pa.array([("x" * 5_000) + str(number) for number in range(4_000)])
    lakehouse.append(large.set_column(5, "text", long))
    numbered = lakehouse.layout()
    files = sorted(numbered.files, key=lambda file: file.byte_count / file.record_count)
    bounds = replace(BOUNDS, max_rewritten_bytes=2**21)
    found = lakehouse.layouts.rewritten(replace(numbered, files=files), bounds)
    assert found is not None
    assert found.sizes(BY_DAY, lambda: False) is None
