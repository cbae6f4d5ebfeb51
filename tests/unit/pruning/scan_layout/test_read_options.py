from dataclasses import replace

import pytest

from service.model.filters.file_sizes import WHOLE, FileShare
from service.pruning.scan_layout.read_options import LOCAL_OPEN_COST, MIB, OPEN_COST, read_options
from tests.unit.pruning.tables import TABLES

SALES = next(table for table in TABLES.values() if table.name.table == "sales")


@pytest.mark.parametrize(
    ("files", "size", "share", "slots", "split"),
    [
        pytest.param(1_000, 1_000 * MIB, 1.0, 2, 128 * MIB, id="never more than Iceberg's own tasks carry"),
        pytest.param(10, 100 * MIB, 1.0, 2, 55 * MIB, id="a task for each slot, with slack"),
        pytest.param(10, 100 * MIB, 0.1, 2, int(5.5 * MIB), id="of what is left to read"),
        pytest.param(10, 1_000, 1.0, 2, MIB, id="a task that carries nothing costs as much as one that does"),
        pytest.param(
            366, MIB, 1.0, 2, int(366 * LOCAL_OPEN_COST / 2 * 1.1), id="small files cost their opening"
        ),
    ],
)
def test_tasks_are_as_large_as_what_is_left_for_each_slot(
    files: int, size: int, share: float, slots: int, split: int
) -> None:
    table = replace(SALES, location="file:/lake/sales", data_file_count=files, total_bytes=size)
    options = read_options(table, FileShare(share, share), slots)
    assert options == {"file-open-cost": str(LOCAL_OPEN_COST), "split-size": str(split)}


def test_files_of_an_object_store_cost_what_iceberg_takes_them_to_cost() -> None:
    table = replace(SALES, location="s3://lake/sales", data_file_count=30, total_bytes=MIB)
    options = read_options(table, WHOLE, 2)
    assert options == {"file-open-cost": str(OPEN_COST), "split-size": str(66 * MIB)}


def test_few_large_files_are_cut_by_their_bytes_and_many_small_ones_by_their_number() -> None:
    table = replace(SALES, location="file:/lake/sales", data_file_count=1_000, total_bytes=100 * MIB)
    large = read_options(table, FileShare(of_bytes=0.5, of_files=0.01), 2)
    small = read_options(table, FileShare(of_bytes=0.01, of_files=0.5), 2)
    assert large["split-size"] == str(int(50 * MIB / 2 * 1.1))
    assert small["split-size"] == str(int(500 * LOCAL_OPEN_COST / 2 * 1.1))
