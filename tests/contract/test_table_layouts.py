"""The contract of table layouts, checked on the fake and on tables of PyIceberg."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from service.errors.table_errors import LayoutUnknown, TableNotFound
from service.model.tables.table_layout import FileBounds, LayoutFile, RowSample, TableLayout
from service.model.tables.tables import TableFacts, TableName
from service.ports.tables.table_layouts import TableLayouts
from tests.fakes.catalogs import facts_of_empty_table
from tests.fakes.table_layouts import FakeLayouts
from tests.unit.advice.lakehouse import BOUNDS, SALES, Lakehouse

FILES: tuple[list[int | None], ...] = ([1, 5, None], [2, 9], [None])


@pytest.fixture(params=["fake", "pyiceberg"])
def layouts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TableLayouts]:
    """Layouts of a table with these ids in three files."""
    if request.param == "fake":
        fake = FakeLayouts(_facts)
        fake.layouts[SALES] = _layout()
        yield fake
        return
    with closing(Lakehouse(tmp_path)) as lakehouse:
        for ids in FILES:
            rows = pa.table({name: pa.nulls(len(ids)) for name in lakehouse.table.schema().column_names})
            lakehouse.append(rows.set_column(0, "id", pa.array(ids, pa.int64())))
        yield lakehouse.layouts


def _facts(name: TableName) -> TableFacts:
    if name != SALES:
        raise TableNotFound(str(name))
    return facts_of_empty_table(name)


def _layout() -> TableLayout:
    def file(ids: list[int | None]) -> LayoutFile:
        known = [id_ for id_ in ids if id_ is not None]
        bounds = {"id": FileBounds(min(known), max(known))} if known else {}
        without = frozenset({"city"} if known else {"id", "city"})
        return LayoutFile(byte_count=9, record_count=len(ids), bounds=bounds, without_values=without)

    numbers = [number for number, ids in enumerate(FILES) for _ in ids]
    ids = [id_ for ids in FILES for id_ in ids]
    return TableLayout(
        table=SALES,
        snapshot_id=1,
        files=[file(ids) for ids in FILES],
        sample=RowSample(numbers, {"id": ids, "city": [None] * len(ids)}),
        column_types={"id": "long", "city": "string"},
        target_file_bytes=512 * 1024**2,
    )


def test_each_file_has_bounds_and_rows(layouts: TableLayouts) -> None:
    found = layouts.layout(SALES, ["id", "city", "gone"], BOUNDS)
    assert found.column_types == {"id": "long", "city": "string"}
    # Files are in any order.
    in_order = sorted(range(3), key=lambda number: found.files[number].record_count, reverse=True)
    files = [found.files[number] for number in in_order]
    assert [file.record_count for file in files] == [3, 2, 1]
    assert [file.bounds.get("id") for file in files] == [FileBounds(1, 5), FileBounds(2, 9), None]
    assert [file.without_values for file in files] == [{"city"}, {"city"}, {"id", "city"}]
    rows = zip(found.sample.file_numbers, found.sample.columns["id"], strict=True)
    by_file: dict[int, list[object]] = {}
    for number, id_ in rows:
        by_file.setdefault(number, []).append(id_)
    assert [by_file[number] for number in in_order] == [[1, 5, None], [2, 9], [None]]
    assert found.byte_count == sum(file.byte_count for file in found.files) > 0
    assert found.is_simulated
    assert not found.has_deletes


def test_without_columns_nothing_is_sampled(layouts: TableLayouts) -> None:
    found = layouts.layout(SALES, [], BOUNDS)
    assert (len(found.files), found.sample, found.column_types) == (3, RowSample(), {})


def test_a_table_that_is_not_there_or_too_large_is_an_error(layouts: TableLayouts) -> None:
    with pytest.raises(TableNotFound):
        layouts.layout(TableName("lake", "shop", "gone"), [], BOUNDS)
    with pytest.raises(LayoutUnknown):
        layouts.layout(SALES, [], replace(BOUNDS, max_files=2))
