"""What is special about tables of Iceberg: types, partitions, changed columns, and files that are gone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import BucketTransform, IdentityTransform, MonthTransform
from pyiceberg.types import LongType

from service.adapters.layouts.file_layouts import data_files, data_manifests
from service.adapters.layouts.iceberg_layouts import IcebergLayouts
from service.errors.table_errors import LayoutUnknown
from service.errors.unavailable import StorageDown
from service.model.tables.table_layout import FileBounds
from tests.unit.advice.lakehouse import BOUNDS, SALES, Lakehouse

COLUMNS = ("id", "day", "city", "price", "at")


@pytest.fixture
def lakehouse(tmp_path: Path) -> Iterator[Lakehouse]:
    with closing(Lakehouse(tmp_path)) as made:
        yield made


def rows(count: int = 2) -> pa.Table:
    """Returns rows from 2024 on, one a day."""
    days = [date(2024, 1, 1) + timedelta(days=row) for row in range(count)]
    return pa.table(
        {
            "id": list(range(count)),
            "day": days,
            "city": [f"city {row}" + "x" * 100 for row in range(count)],
            "price": [Decimal(row) + Decimal("0.25") for row in range(count)],
            "at": [datetime(day.year, day.month, day.day, 12) for day in days],
            "text": [""] * count,
        }
    )


def test_values_are_those_of_icebergs_memory(lakehouse: Lakehouse) -> None:
    lakehouse.append(rows())
    found = lakehouse.layout(*COLUMNS)
    first_day = 19_723
    noon = (first_day * 24 + 12) * 3_600_000_000
    columns = found.sample.columns
    assert columns["id"] == [0, 1]
    assert columns["day"] == [first_day, first_day + 1]
    assert columns["price"] == [Decimal("0.25"), Decimal("1.25")]
    assert columns["at"] == [noon, noon + 86_400_000_000]
    assert [len(str(city)) for city in columns["city"]] == [64, 64]
    [file] = found.files
    assert file.bounds["day"] == FileBounds(first_day, first_day + 1)
    assert file.bounds["price"] == FileBounds(Decimal("0.25"), Decimal("1.25"))
    assert str(file.bounds["city"].lower).startswith("city 0")


def test_a_sample_is_spread_over_its_file(lakehouse: Lakehouse) -> None:
    lakehouse.append(rows(10_000))
    ids = lakehouse.layout("id", max_sampled_rows=100).sample.columns["id"]
    assert ids == list(range(50, 10_000, 100))


def test_files_of_partitions_have_their_values(tmp_path: Path) -> None:
    by_day = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day"))
    with closing(Lakehouse(tmp_path, by_day)) as lakehouse:
        lakehouse.append(rows(3))
        found = lakehouse.layout("day")
    assert len({file.partition for file in found.files}) == 3
    assert all(file.bounds["day"].lower == file.bounds["day"].upper for file in found.files)


@pytest.mark.parametrize(("asked", "expected"), [("id", False), ("day", True)])
def test_buckets_hide_which_files_are_selected_by_their_column(
    tmp_path: Path, asked: str, expected: bool
) -> None:
    buckets = PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "id_bucket"))
    with closing(Lakehouse(tmp_path, buckets)) as lakehouse:
        lakehouse.append(rows(3))
        assert lakehouse.layout(asked).is_simulated is expected


def test_a_month_shows_files_only_with_the_bounds_of_its_column(tmp_path: Path) -> None:
    months = PartitionSpec(PartitionField(2, 1000, MonthTransform(), "month"))
    with closing(Lakehouse(tmp_path, months)) as lakehouse:
        lakehouse.append(rows(3))
        assert lakehouse.layout("day").is_simulated
        lakehouse.set_property("write.metadata.metrics.column.day", "counts")
        lakehouse.append(rows(3))
        lakehouse.set_property("write.metadata.metrics.column.day", "full")
        assert not lakehouse.layout("day").is_simulated


def test_columns_without_bounds_are_left_out(lakehouse: Lakehouse) -> None:
    lakehouse.set_property("write.metadata.metrics.column.id", "none")
    lakehouse.append(rows(3))
    found = lakehouse.layout("id", "city", "day")
    assert set(found.column_types) == {"city", "day"}
    assert found.text_bounds == {"city": 16}
    lakehouse.set_property("write.metadata.metrics.column.id", "full")
    # Files of now have none, and nobody knows whether those of a rewrite would.
    assert set(lakehouse.layout("id", "day").column_types) == {"day"}


def test_manifests_that_do_not_say_how_many_files_they_have_are_counted(lakehouse: Lakehouse) -> None:
    lakehouse.append(rows(4), files=4)
    table = lakehouse.table
    snapshot = table.current_snapshot()
    assert snapshot is not None
    manifests, _ = data_manifests(table, snapshot, max_files=4)
    assert len(list(data_files(table, manifests, 4, lambda: False))) == 4
    with pytest.raises(LayoutUnknown, match="more than 3 data files"):
        list(data_files(table, manifests, 3, lambda: False))


def test_a_column_that_files_lack_is_null_and_a_renamed_one_is_found(lakehouse: Lakehouse) -> None:
    lakehouse.append(rows())
    with lakehouse.table.update_schema() as update:
        update.add_column("extra", LongType())
        update.rename_column("id", "number")
    newer = rows().rename_columns(["number", *rows().column_names[1:]])
    lakehouse.append(newer.append_column("extra", pa.array([7, 8], pa.int64())))
    columns = lakehouse.layout("extra", "number", "text.part").sample.columns
    assert columns.keys() == {"extra", "number"}
    found = set(zip(columns["number"], columns["extra"], strict=True))
    assert found == {(0, None), (1, None), (0, 7), (1, 8)}


def test_a_table_without_files_has_an_empty_layout(lakehouse: Lakehouse) -> None:
    found = lakehouse.layout("id")
    assert (found.files, found.snapshot_id, found.sample.file_numbers) == ([], None, ())


def test_a_file_that_is_gone_is_a_storage_that_is_down(lakehouse: Lakehouse) -> None:
    lakehouse.append(rows())
    [task] = lakehouse.table.scan().plan_files()
    Path(task.file.file_path.removeprefix("file://")).unlink()
    with pytest.raises(StorageDown) as caught:
        lakehouse.layout("id")
    assert task.file.file_path not in caught.value.detail


def test_a_catalog_without_iceberg_has_no_layouts(lakehouse: Lakehouse) -> None:
    layouts = IcebergLayouts(lakehouse.catalogs.opened, lakehouse.clock, others={"lake"})
    with pytest.raises(LayoutUnknown, match="not a table of Iceberg"):
        layouts.layout(SALES, [], BOUNDS)


def test_rows_are_sampled_only_while_there_is_time(lakehouse: Lakehouse) -> None:
    lakehouse.append(rows())
    with pytest.raises(LayoutUnknown, match="in time"):
        lakehouse.layout("id", timeout_s=0)
