"""Folders of files, filtered by their partition columns: as probe sides, and as build sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors.query_errors import QueryFailed
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterSource
from service.model.tables.tables import TableName, TableSource
from tests.equivalence.folders import FOLDERS, write_file
from tests.equivalence.harness import Harness, rows_of

JOINED = (
    "SELECT f.* FROM spark_catalog.files.{table} f JOIN dim d ON f.{column} = d.{key} WHERE d.year = 1999"
)
ONLY = "SELECT DISTINCT {key} FROM dim WHERE year = 1999 AND {key} IS NOT NULL"


def joined(table: str, column: str, key: str | None = None) -> str:
    return JOINED.format(table=table, column=column, key=key or column)


@pytest.mark.parametrize(
    ("table", "column", "key"),
    [
        ("by_k", "k", "k"),
        ("by_k", "k", "big_k"),
        ("by_k", "k", "text_k"),
        ("by_day", "day", "day"),
        ("by_day", "day", "at"),
        ("by_name", "name", "name"),
        ("by_paid", "is_paid", "is_paid"),
        ("by_at", "at", "at_utc"),
        ("by_both", "k", "k"),
        ("by_both", "name", "name"),
        ("by_small_k", "k", "k"),
        ("inferred", "k", "k"),
        ("parquet_by_k", "k", "k"),
        ("orc_by_k", "k", "k"),
        ("json_by_k", "k", "k"),
        ("csv_by_k", "k", "k"),
    ],
)
def test_partitions_of_other_keys_are_not_read(table: str, column: str, key: str, harness: Harness) -> None:
    checked = harness.check(joined(table, column, key))
    assert checked.applied.keys() == {f"{table}.{column}"}
    [scan] = (scan for scan in checked.filtered.scans if scan.table == f"spark_catalog.files.{table}")
    [whole] = harness.run(f"SELECT * FROM spark_catalog.files.{table}").scans
    assert (scan.snapshot_id, scan.metrics.manifests.total) == (None, 0)
    for level in ("partitions", "data_files", "bytes"):
        part, all_of_it = getattr(scan.metrics, level), getattr(whole.metrics, level)
        assert 0 < part.selected < part.total
        assert part.total == all_of_it.total == all_of_it.selected


@pytest.mark.parametrize("table", [*(folder for folder in FOLDERS if "k" in FOLDERS[folder]), "csv_by_k"])
def test_other_joins_have_the_same_rows(table: str, harness: Harness) -> None:
    name = f"spark_catalog.files.{table}"
    harness.check(f"SELECT d.k, f.id FROM dim d LEFT JOIN {name} f ON f.k = d.k WHERE d.year = 1999")
    harness.check(f"SELECT f.id FROM {name} f WHERE f.k IN (SELECT k FROM tiny WHERE year = 1999)")
    harness.check(f"SELECT f.id FROM {name} f WHERE f.k NOT IN (SELECT k FROM tiny WHERE year = 1998)")
    harness.check(f"SELECT f.id, g.id FROM {name} f JOIN {name} g ON f.k = g.k WHERE g.b > 4")
    harness.check(f"SELECT f.id FROM {name} f JOIN dim d ON f.k <=> d.k WHERE d.year = 2000")
    harness.check(f"SELECT count(*) FROM {name} f JOIN dim d ON f.k = d.k WHERE d.year = 1234")
    harness.check(
        f"SELECT f.k, s.id FROM {name} f JOIN by_k s ON f.k = s.k JOIN dim d ON s.k = d.k WHERE d.year = 1999"
    )


def test_rows_without_a_value_lie_in_a_folder_that_no_key_asks_for(harness: Harness) -> None:
    nulls = harness.run("SELECT count(*) FROM spark_catalog.files.by_k WHERE k IS NULL")
    assert nulls.rows.column(0).to_pylist()[0] > 0
    found = harness.check(joined("by_k", "k")).filtered.rows
    assert None not in found.column("k").to_pylist()


def test_folders_named_by_text_are_not_compared_with_numbers(harness: Harness) -> None:
    checked = harness.check(joined("by_text_k", "k"))
    assert [filter_.reason for filter_ in checked.pruned.filters] == [Reason.TYPE_NOT_CONVERTIBLE]
    assert harness.check(joined("by_text_k", "k", "text_k")).applied.keys() == {"by_text_k.k"}


def test_folders_named_by_decimals_are_not_distinguished(harness: Harness) -> None:
    """Spark reads `price=2` as 2.00 when it prunes folders, and as 0.02 in the rows."""
    checked = harness.check(joined("by_price", "price"))
    assert [filter_.reason for filter_ in checked.pruned.filters] == [Reason.SOURCE_NOT_SUPPORTED]


def test_a_day_stands_for_no_moment_of_it(harness: Harness) -> None:
    """The dimension has as many days as moments, and yet a day does not match the moments in it."""
    for table in ("by_day", "spark_catalog.files.by_day"):
        for _ in range(3):
            harness.check(f"SELECT f.* FROM {table} f JOIN dim d ON f.day = d.at WHERE d.year = 1999")


def test_a_column_in_the_files_takes_no_filter(harness: Harness) -> None:
    checked = harness.check(joined("by_k", "b", "k"))
    assert [filter_.reason for filter_ in checked.pruned.filters] == [Reason.PROBE_NOT_PRUNABLE]


@pytest.mark.parametrize("table", ["seen", "elsewhere"])
def test_a_view_or_a_table_of_another_system_says_why_it_takes_none(table: str, harness: Harness) -> None:
    checked = harness.check(joined(table, "k"))
    [refused] = checked.pruned.filters
    assert (refused.reason, refused.probe.table.table) == (Reason.SOURCE_NOT_SUPPORTED, table)


def test_files_that_must_be_pruned_are_not_opened(harness: Harness, folders: Path) -> None:
    query = joined("partly_gone", "k")
    before = rows_of(harness.run(query).rows)
    stored = set(harness.run(ONLY.format(key="k")).rows.column(0).to_pylist())
    pruned = harness.prune(query)
    for folder in (folders / "partly_gone").iterdir():
        value = folder.name.partition("=")[2]
        if not value.lstrip("-").isdecimal() or int(value) not in stored:
            # The file is still listed, but is not a Parquet file any more.
            for file in folder.iterdir():
                file.write_bytes(b"gone")
    assert rows_of(harness.run(pruned.sql, pruned=pruned).rows) == before
    with pytest.raises(QueryFailed):
        harness.run("SELECT id FROM spark_catalog.files.partly_gone")


def test_keys_of_iceberg_tables_are_cached_for_tables_of_files_too(harness: Harness) -> None:
    query = f"{joined('by_k', 'k')} AND d.k <> 77"
    sources = [
        [filter_.source for filter_ in harness.prune(query).filters if filter_.is_applied] for _ in range(2)
    ]
    assert sources == [[FilterSource.COLLECTED], [FilterSource.CACHED]]


def test_keys_of_tables_of_files_are_collected_each_time(harness: Harness) -> None:
    query = "SELECT f.id FROM by_k f JOIN spark_catalog.files.dim d ON f.k = d.k WHERE d.year = 1999"
    assert harness.check(query).applied.keys() == {"by_k.k"}
    sources = [
        [filter_.source for filter_ in harness.prune(query).filters if filter_.is_applied] for _ in range(2)
    ]
    assert sources == [[FilterSource.COLLECTED], [FilterSource.COLLECTED]]


def test_a_new_file_of_a_build_side_is_found_out(harness: Harness, folders: Path) -> None:
    query = "SELECT f.id FROM by_k f JOIN spark_catalog.files.growing d ON f.k = d.k WHERE d.year = 1999"
    pruner = harness._ports.pruner
    pruned = harness.prune(query)
    assert any(applied_filter.is_applied for applied_filter in pruned.filters)
    assert not pruner.has_moved(pruned)
    write_file(folders / "growing" / "two.parquet", [{"k": 5, "name": "x", "year": 1999}])
    assert pruner.has_moved(pruned)
    before = rows_of(harness.run(query).rows)
    again = harness.prune(query)
    assert rows_of(harness.run(again.sql, pruned=again).rows) == before


def test_a_new_folder_is_read_by_the_very_next_query(harness: Harness, folders: Path) -> None:
    query = "SELECT id FROM spark_catalog.files.by_small_k WHERE k = 6000"
    assert harness.run(query).rows.num_rows == 0
    write_file(folders / "by_small_k" / "k=6000" / "late.parquet", [{"id": 1, "b": 2}])
    assert harness.run(query).rows.num_rows == 1


def test_tables_are_reported_with_their_source_and_size(harness: Harness) -> None:
    catalogs = harness._ports.catalogs
    for table, source in (
        ("by_day", TableSource.FILES),
        ("orc_by_k", TableSource.FILES),
        ("seen", TableSource.OTHER),
    ):
        facts = catalogs.facts(TableName("spark_catalog", "files", table))
        assert (facts.source, facts.snapshot_id) == (source, None)
        assert (facts.data_file_count > 0) == (source is TableSource.FILES)
    by_day = catalogs.facts(TableName("spark_catalog", "files", "by_day"))
    assert [(field.source, field.transform) for field in by_day.partition_fields] == [("day", "identity")]
    assert {column.name: column.type_name for column in by_day.columns}["day"] == "date"
