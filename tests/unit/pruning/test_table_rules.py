"""Rules that read only a table's facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.model.tables.tables import PartitionField, SortField, TableAt, TableFacts, TableName, TableSource
from service.pruning.name_resolution.is_readable_again import is_readable_again
from service.pruning.name_resolution.pinned_table import pinned_table
from service.pruning.scan_layout.accepted_columns import accepted_columns
from service.pruning.scan_layout.is_small_build import MAX_UNPINNED_FILES, ROW_BYTES, is_small_build
from service.pruning.scan_layout.is_worth_collecting import FILE_OPEN_BYTES, is_worth_collecting, reading_cost
from tests.unit.pruning.tables import TABLES

MIB = 1 << 20
SALES = TABLES[TableAt(TableName("lake", "shop", "sales"))]
LOGS = TABLES[TableAt(TableName("lake", "shop", "logs"))]
BARE = replace(SALES, partition_fields=(), sort_fields=())


def weighing(total_bytes: int, data_files: int = 0) -> TableFacts:
    return replace(BARE, total_bytes=total_bytes, data_file_count=data_files)


@pytest.mark.parametrize(
    ("facts", "columns"),
    [
        pytest.param(BARE, set(), id="nothing by nothing"),
        pytest.param(
            SALES, {"day_key", "item_key", "sold_on", "sold_at"}, id="sources of partition fields, however"
        ),
        pytest.param(
            replace(BARE, past_partition_fields=(PartitionField("k", "Day_Key", "identity"),)),
            {"day_key"},
            id="of earlier specs, in lower case",
        ),
        pytest.param(
            replace(BARE, sort_fields=(SortField("Note", "identity", "asc", "nulls-first"),)),
            {"note"},
            id="the sort order",
        ),
        pytest.param(replace(BARE, bloom_filter_columns=("Note",)), {"note"}, id="bloom filters"),
        pytest.param(LOGS, {"day_key", "kind", "code"}, id="names of folders"),
        pytest.param(replace(SALES, source=TableSource.OTHER), set(), id="another system"),
        pytest.param(
            replace(SALES, has_imported_files=True),
            {"day_key", "item_key", "sold_on"},
            id="moments of imported files",
        ),
        pytest.param(
            replace(SALES, widened_columns=("Item_Key",)),
            {"day_key", "sold_on", "sold_at"},
            id="decimals that had fewer digits",
        ),
    ],
)
def test_columns_that_files_are_distinguished_by_are_accepted(facts: TableFacts, columns: set[str]) -> None:
    assert accepted_columns(facts) == columns


@pytest.mark.parametrize(
    ("probe", "build", "is_worth"),
    [
        pytest.param(weighing(64 * MIB), [weighing(MIB)], True, id="a large probe and a small build side"),
        pytest.param(weighing(64 * MIB - 1), [weighing(MIB)], False, id="a probe below the bound"),
        pytest.param(weighing(64 * MIB), [weighing(32 * MIB)], True, id="half as large"),
        pytest.param(weighing(64 * MIB), [weighing(32 * MIB + 1)], False, id="more than half as large"),
        pytest.param(
            weighing(64 * MIB), [weighing(16 * MIB), weighing(16 * MIB + 1)], False, id="two together"
        ),
        pytest.param(weighing(64 * MIB), [], True, id="a list of values costs nothing"),
        pytest.param(weighing(0, data_files=1024), [weighing(MIB)], True, id="many files are large, too"),
        pytest.param(weighing(0, data_files=1023), [weighing(MIB)], False, id="a file less"),
        pytest.param(weighing(64 * MIB), [weighing(0, data_files=513)], False, id="on either side"),
    ],
)
def test_collecting_pays_where_the_probe_is_large_and_the_build_side_is_not(
    probe: TableFacts, build: list[TableFacts], is_worth: bool
) -> None:
    assert is_worth_collecting(probe, build, min_table_bytes=64 * MIB) is is_worth


def test_a_query_may_ask_for_it_whatever_it_costs() -> None:
    assert is_worth_collecting(weighing(0), [weighing(1 << 40)], min_table_bytes=0)


def test_a_file_costs_its_opening_besides_its_bytes() -> None:
    assert reading_cost(weighing(10, data_files=3)) == 10 + 3 * FILE_OPEN_BYTES


@pytest.mark.parametrize(
    ("facts", "is_so"),
    [
        pytest.param(SALES, True, id="a snapshot with the columns of now"),
        pytest.param(replace(SALES, schema_id=1), False, id="columns that are newer than the snapshot"),
        pytest.param(replace(SALES, snapshot_schema_id=None), False, id="a writer that did not say"),
        pytest.param(replace(SALES, snapshot_id=None), False, id="no snapshot yet"),
        pytest.param(LOGS, True, id="nothing to pin"),
    ],
)
def test_what_can_be_pinned_is_read_again_with_the_same_columns(facts: TableFacts, is_so: bool) -> None:
    assert is_readable_again(facts) is is_so


@pytest.mark.parametrize(
    ("facts", "is_so"),
    [
        pytest.param(replace(SALES, record_count=100), True, id="as many rows as may be"),
        pytest.param(replace(SALES, record_count=101), False, id="one more"),
        pytest.param(replace(LOGS, record_count=101), False, id="of files, too"),
        pytest.param(
            replace(LOGS, record_count=0, total_bytes=101 * ROW_BYTES - 1), True, id="rows nobody has counted"
        ),
        pytest.param(replace(LOGS, record_count=0, total_bytes=101 * ROW_BYTES), False, id="too many bytes"),
        pytest.param(replace(LOGS, data_file_count=MAX_UNPINNED_FILES), True, id="files that can be listed"),
        pytest.param(replace(LOGS, data_file_count=MAX_UNPINNED_FILES + 1), False, id="too many to list"),
        pytest.param(replace(SALES, source=TableSource.OTHER), False, id="another system's"),
    ],
)
def test_keys_are_collected_from_small_tables_that_can_be_read_twice_alike(
    facts: TableFacts, is_so: bool
) -> None:
    assert is_small_build(facts, max_build_rows=100) is is_so


def test_a_pinned_table_is_named_as_its_catalog_has_it() -> None:
    facts = replace(SALES, name=TableName("lake", "shop.deep", "Sal`es"))
    expected = "`lake`.`shop`.`deep`.`Sal``es` VERSION AS OF 1 AS t0"
    assert pinned_table(facts, "t0").sql("spark") == expected
    assert pinned_table(LOGS, "t1").sql("spark") == "`lake`.`shop`.`logs` AS t1"
