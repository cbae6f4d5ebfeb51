"""The contract of rows that are written in other orders, checked on the fake and on Arrow."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from service.model.tables.rewritten_sizes import RowOrder
from service.ports.tables.rewritten_rows import RewrittenRows
from tests.fakes.rewritten_rows import FakeRewrittenRows
from tests.unit.advice.lakehouse import BOUNDS, Lakehouse

ROWS, FILES = 3_000, 3
BY_ID = RowOrder(file_rows=1_000, columns=("id",))


@pytest.fixture(params=["fake", "arrow"])
def rows(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RewrittenRows]:
    """Rows of a table in several files."""
    if request.param == "fake":
        yield FakeRewrittenRows(frozenset({"id", "city"}), 30, 40)
        return
    with closing(Lakehouse(tmp_path)) as lakehouse:
        ids = list(range(ROWS))
        random.Random(3).shuffle(ids)
        table = pa.table({name: pa.nulls(ROWS) for name in lakehouse.table.schema().column_names})
        table = table.set_column(0, "id", pa.array(ids, pa.int64()))
        table = table.set_column(2, "city", pa.array([f"city {id_ // 100}" for id_ in ids]))
        lakehouse.append(table, FILES)
        found = lakehouse.layouts.rewritten(lakehouse.layout(), replace(BOUNDS, max_rewritten_bytes=2**24))
        assert found is not None
        yield found


@pytest.mark.parametrize(
    "order",
    [RowOrder(file_rows=500), BY_ID, RowOrder(file_rows=9_999, columns=("city",), transform="identity")],
)
def test_sizes_are_those_of_all_rows_in_their_order(rows: RewrittenRows, order: RowOrder) -> None:
    found = rows.sizes(order, lambda: False)
    assert found is not None
    assert len(found.ends) == len(found.row_bytes)
    assert found.ends[-1] == 1
    assert list(found.ends) == sorted(found.ends)
    assert all(0 < size < 1_000 for size in found.row_bytes)
    assert rows.sizes(order, lambda: False) == found


def test_what_cannot_be_found_out_is_unknown(rows: RewrittenRows) -> None:
    assert rows.sizes(replace(BY_ID, columns=("gone",)), lambda: False) is None
    assert rows.sizes(BY_ID, lambda: True) is None
