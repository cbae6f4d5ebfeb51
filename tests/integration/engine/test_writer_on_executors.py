"""The tests of the writer and of its port, run on executors, and the contract of executors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.unavailable import ExecutorsFailed
from service.ports.engine.executors import Executors
from spark_session.engine.engine import SparkEngine
from spark_session.streaming.executors import SparkExecutors
from tests.contract.data_files import test_data_files as contract
from tests.contract.data_files.storages import DiskStorage, Storage
from tests.fakes.executors import FakeExecutors
from tests.integration.executed_data_files import ExecutedDataFiles, ExecutedWriter
from tests.thorough import IS_THOROUGH
from tests.unit.adapters.data_files import test_upserts, test_write
from tests.unit.adapters.data_files.writers import Writer, upsert, write

pytestmark = pytest.mark.integration

__all__ = ["upsert", "write"]

# These tests check the storage from here while rows are still being sent.
WHILE_ROWS_COME = {
    "test_batches_are_taken_one_after_the_other",
    "test_nothing_is_left_of_a_write_that_failed",
}
# An executor calls the same writer, so it can only change what goes there and comes back: targets, rows,
# bounds, results and errors. These tests have each of them. A thorough run has all tests.
CROSSING = {
    f"test_{name}"
    for name in (
        "a_file_has_the_columns_of_its_target_in_their_order_with_their_ids",
        "a_value_that_is_too_long_for_a_folder_is_reported_as_bad",
        "batches_may_differ_in_types_that_fit_the_columns",
        "each_file_is_sorted_however_little_is_buffered",
        "metrics_hold_for_all_row_groups",
        "more_files_than_may_be_are_refused_and_none_is_left",
        "no_more_files_are_open_than_allowed_and_no_row_is_lost",
        "nothing_is_left_when_the_storage_has_no_room",
        "partitions_have_files_and_folders_of_their_own",
        "slices_of_batches_are_written_as_they_are_seen",
        "targets_of_another_state_are_refused",
        "the_result_counts_rows_and_bytes_and_names_its_target",
        "the_tables_properties_reach_the_file",
        "without_rows_there_is_no_file",
    )
}


@pytest.fixture(scope="module")
def spark(shared_engine: SparkEngine) -> Executors:
    return SparkExecutors(partial(getattr, shared_engine, "session"))


@pytest.fixture
def writer(spark: Executors) -> Writer:
    return ExecutedWriter(spark)


@pytest.fixture
def storage(spark: Executors, tmp_path: Path) -> Storage:
    disk = DiskStorage(tmp_path)
    disk.data_files = ExecutedDataFiles(spark, ParquetDataFiles(WriteBounds()))
    return disk


def suite_of(module: ModuleType, *fixtures: str) -> dict[str, object]:
    """Returns the tests that use one of these fixtures."""
    found = {name: member for name, member in vars(module).items() if name.startswith("test_")}
    return {
        name: staticmethod(test)
        for name, test in found.items()
        if name not in WHILE_ROWS_COME and set(inspect.signature(test).parameters) & set(fixtures)
    }


def part_that_crosses(suite: dict[str, object]) -> dict[str, object]:
    """Returns the tests of `CROSSING`; all tests in a thorough run."""
    assert suite.keys() >= CROSSING
    return {name: test for name, test in suite.items() if IS_THOROUGH or name in CROSSING}


TestWrites = type("TestWrites", (), part_that_crosses(suite_of(test_write, "write", "writer")))
TestUpserts = type("TestUpserts", (), suite_of(test_upserts, "upsert"))
TestDataFiles = type("TestDataFiles", (), suite_of(contract, "storage"))


@pytest.fixture(params=["fake", "spark"])
def executors(request: pytest.FixtureRequest) -> Executors:
    if request.param == "fake":
        return FakeExecutors()
    found: Executors = request.getfixturevalue("spark")
    return found


def squared(number: int) -> int:
    return number * number


def failing(number: int) -> int:
    raise LookupError(number)


def digits(numbers: range) -> Iterator[tuple[int, str]]:
    """Yields each number with its last digit as its part."""
    return ((number % 10, str(number)) for number in numbers)


def failing_apart(numbers: range) -> Iterator[tuple[int, str]]:
    yield from digits(numbers)
    raise LookupError


def joined(values: Iterator[str]) -> str:
    return " ".join(values)


def test_results_are_in_the_order_of_their_items(executors: Executors) -> None:
    assert executors.slots == 2
    assert executors.map(squared, [3, 1, 2], "test") == [9, 1, 4]
    assert executors.map(squared, [], "test") == []


def test_values_of_a_part_come_together_in_the_order_of_their_items(executors: Executors) -> None:
    # There are more values than are sorted at once, and the order of items is not that of their names.
    items = [range(start, start + 400) for start in (2000, 400, 1200, 0, 800, 1600)]
    parts = executors.regroup(digits, joined, items, 12, "test")
    expected = [
        " ".join(str(number) for numbers in items for number in numbers if number % 10 == part)
        for part in range(12)
    ]
    assert parts == expected
    assert executors.regroup(digits, joined, [], 3, "test") == []


def test_what_fails_again_and_again_is_reported(spark: Executors) -> None:
    with pytest.raises(ExecutorsFailed):
        spark.map(failing, [1], "test")
    with pytest.raises(ExecutorsFailed):
        spark.regroup(failing_apart, joined, [range(3)], 2, "test")
    assert spark.map(squared, [2], "test") == [4]
