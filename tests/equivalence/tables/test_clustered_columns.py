"""Columns without a layout whose values are clustered because files were written in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from service.model.filters.filter_record import Reason
from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import SCHEMA

ROWS_A_FILE = 100
NUMBERS = count()
EVENTS = Schema(
    NestedField(1, "sequence", LongType()),
    NestedField(2, "shuffled", IntegerType()),
    NestedField(3, "note", StringType()),
)
KEYS = Schema(NestedField(1, "key", LongType()), NestedField(2, "batch", IntegerType()))
FILES = 12


@pytest.fixture
def events(lake: SqlCatalog) -> Iterator[tuple[str, Table]]:
    """A table without a layout, and a dimension whose batch n has three of the keys of the nth file."""
    name = f"events_{next(NUMBERS)}"
    table = lake.create_table(f"{SCHEMA}.{name}", EVENTS)
    keys = lake.create_table(f"{SCHEMA}.{name}_keys", KEYS)
    rows = [(first * ROWS_A_FILE + offset, first) for first in range(2 * FILES) for offset in (0, 50, 99)]
    keys.append(
        pa.table({"key": [key for key, _ in rows], "batch": pa.array([n for _, n in rows], pa.int32())})
    )
    yield name, table
    lake.drop_table(f"{SCHEMA}.{name}")
    lake.drop_table(f"{SCHEMA}.{name}_keys")


def append_file(table: Table, number: int) -> None:
    """Commits one file whose values follow all those in the table."""
    sequence = list(range(number * ROWS_A_FILE, (number + 1) * ROWS_A_FILE))
    shuffled = [(value * 7919 + number) % (50 * ROWS_A_FILE) for value in sequence]
    table.refresh()
    table.append(
        pa.table(
            {
                "sequence": sequence,
                "shuffled": pa.array(shuffled, pa.int32()),
                "note": [f"{value}" for value in sequence],
            }
        )
    )


def joined(name: str, batch: int, column: str = "sequence") -> str:
    return (
        f"SELECT f.sequence, f.note FROM {name} f JOIN {name}_keys d ON f.{column} = d.key"
        f" WHERE d.batch = {batch}"
    )


def test_the_first_query_reads_the_files_that_the_keys_need(
    events: tuple[str, Table], harness: Harness
) -> None:
    name, table = events
    for number in range(FILES):
        append_file(table, number)
    checked = harness.check(joined(name, 5))
    assert checked.written.rows.num_rows == 3
    assert checked.applied.keys() == {f"{name}.sequence"}
    assert (checked.files(name).selected, checked.files(name).total) == (1, FILES)
    assert checked.files_as_written(name).selected == FILES


def test_a_table_that_is_committed_to_before_every_query_is_pruned_by_each(
    events: tuple[str, Table], harness: Harness
) -> None:
    name, table = events
    append_file(table, 0)
    for number in range(1, FILES):
        append_file(table, number)
        pruned = harness.prune(joined(name, number))
        result = harness.run(pruned.sql, (), pruned)
        assert result.rows.num_rows == 3
        [scan] = [scan for scan in result.scans if scan.table.endswith(name)]
        files = scan.metrics.data_files
        assert (files.selected, files.total) == (1, number + 1)


def test_deleted_rows_and_new_columns_leave_a_table_pruned(
    events: tuple[str, Table], harness: Harness, lake: SqlCatalog
) -> None:
    name, table = events
    for number in range(FILES):
        append_file(table, number)
    table.delete("sequence = 150")
    table.refresh()
    table.delete("sequence < 100")
    checked = harness.check(joined(name, 1))
    assert checked.written.rows.num_rows == 2
    assert checked.files(name).selected == 1
    with table.update_schema() as update:
        update.add_column("added", IntegerType())
    for number in range(FILES, FILES + 2):
        append_file(lake.load_table(f"{SCHEMA}.{name}"), number)
        checked = harness.check(joined(name, number))
        assert checked.files(name).selected == 1


def test_a_column_that_is_spread_over_all_files_is_refused_and_says_why(
    events: tuple[str, Table], harness: Harness
) -> None:
    name, table = events
    for number in range(FILES):
        append_file(table, number)
    checked = harness.check(joined(name, 5, "shuffled"))
    assert checked.applied == {}
    [found] = [
        filter_record for filter_record in checked.pruned.filters if filter_record.probe.table.table == name
    ]
    assert found.reason is Reason.PROBE_NOT_PRUNABLE
    wanted = "no partition, sort order, bloom filter, or clustered bounds on shuffled"
    assert found.detail == f"{wanted}: {FILES} of {FILES} files overlap"
