"""The tests of the writer and of its port, run on executors, and the contract of executors."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors import ExecutorsFailed
from service.ingest_ports import Executors
from spark_session.engine.engine import SparkEngine
from spark_session.jars.jars import resolve
from spark_session.settings.settings import SparkSettings
from spark_session.streaming.executors import SparkExecutors
from tests.contract.data_files import test_data_files as contract
from tests.contract.data_files.storages import DiskStorage, Storage
from tests.fakes.executors import FakeExecutors
from tests.integration.executed_data_files import ExecutedDataFiles, ExecutedWriter
from tests.integration.running import REPOSITORY
from tests.integration.test_engine import ICEBERG
from tests.unit.adapters.data_files import test_upserts, test_write
from tests.unit.adapters.data_files.writers import Writer, upsert, write

pytestmark = pytest.mark.integration

__all__ = ["upsert", "write"]

# These tests check the storage from here while rows are still being sent.
WHILE_ROWS_COME = {
    "test_batches_are_taken_one_after_the_other",
    "test_nothing_is_left_of_a_write_that_failed",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executors]:
    folder = tmp_path_factory.mktemp("engine")
    jars = tuple(str(path) for path in resolve([ICEBERG], REPOSITORY / ".sluice" / "jars"))
    engine = SparkEngine(SparkSettings("local[2]", jars, folder, driver_memory="1g"))
    engine.start()
    yield SparkExecutors(partial(getattr, engine, "session"))
    engine.close()
    del engine
    gc.collect()


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


TestWrites = type("TestWrites", (), suite_of(test_write, "write", "writer"))
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
