"""Tests of real manifests: changed schemas, wider types, truncated or missing bounds, and their number."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyiceberg.types import LongType

from service.model.filters.column_values import ColumnValues, FileOverlap, NotKnown
from service.model.filters.partition_tuples import PartitionTuples
from service.model.tables.tables import TableName
from tests.contract.probe_values.lakehouse import SALES, PyIcebergProbeLakehouse
from tests.fakes.counting_file_io import opened_manifests

MONDAY, TUESDAY, FRIDAY = date(2000, 1, 3), date(2000, 1, 4), date(2000, 1, 7)


def _now(lakehouse: PyIcebergProbeLakehouse, column: str) -> ColumnValues | None:
    snapshot = lakehouse.table.current_snapshot()
    assert snapshot is not None
    found = lakehouse.values.of(SALES, snapshot.snapshot_id, column, within_s=30.0)
    return found if isinstance(found, ColumnValues) else None


def test_files_of_a_spec_without_the_column_tell_their_bounds(
    pyiceberg_lakehouse: PyIcebergProbeLakehouse,
) -> None:
    pyiceberg_lakehouse.append([{"day": MONDAY}])
    with pyiceberg_lakehouse.table.update_spec() as spec:
        spec.remove_field("day").add_identity("city")
    pyiceberg_lakehouse.append([{"day": TUESDAY, "city": "Ulm"}, {"day": FRIDAY, "city": "Ulm"}])
    assert _now(pyiceberg_lakehouse, "day") == ColumnValues(None, MONDAY, FRIDAY, is_clustered=True)


def test_bounds_written_as_int_are_read_as_long(pyiceberg_lakehouse: PyIcebergProbeLakehouse) -> None:
    pyiceberg_lakehouse.append([{"day": MONDAY, "sale_id": 1}])
    with pyiceberg_lakehouse.table.update_schema() as schema:
        schema.update_column("sale_id", LongType())
    pyiceberg_lakehouse.append([{"day": MONDAY, "sale_id": 2**40}])
    assert _now(pyiceberg_lakehouse, "sale_id") == ColumnValues((1, 2**40), 1, 2**40, is_clustered=True)


def test_a_truncated_bound_lies_outside_of_what_was_truncated(
    pyiceberg_lakehouse: PyIcebergProbeLakehouse,
) -> None:
    long = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"
    pyiceberg_lakehouse.append([{"day": MONDAY, "city": long}])
    values = _now(pyiceberg_lakehouse, "city")
    assert values is not None
    assert values.values is None
    assert str(values.lower) < long < str(values.upper)


def test_files_from_before_the_column_was_there_may_hold_anything(
    pyiceberg_lakehouse: PyIcebergProbeLakehouse,
) -> None:
    pyiceberg_lakehouse.append([{"day": MONDAY}])
    with pyiceberg_lakehouse.table.update_schema() as schema:
        schema.add_column("shop_id", LongType())
    pyiceberg_lakehouse.append([{"day": MONDAY, "shop_id": 1}])
    found = _now(pyiceberg_lakehouse, "shop_id")
    assert found == ColumnValues(None, 1, 1, is_clustered=False, is_pinned=False)
    assert found.overlap == FileOverlap(overlapping=2, files=2)


def test_a_column_is_asked_for_by_the_name_that_the_snapshot_has(
    pyiceberg_lakehouse: PyIcebergProbeLakehouse,
) -> None:
    pyiceberg_lakehouse.append([{"day": MONDAY, "sale_id": 5}])
    with pyiceberg_lakehouse.table.update_schema() as schema:
        schema.rename_column("sale_id", "receipt_id")
    assert _now(pyiceberg_lakehouse, "receipt_id") is None
    pyiceberg_lakehouse.append([{"day": MONDAY, "receipt_id": 6}])
    assert _now(pyiceberg_lakehouse, "receipt_id") == ColumnValues((5, 6), 5, 6, is_clustered=True)


def test_a_table_without_statistics_is_unknown(pyiceberg_lakehouse: PyIcebergProbeLakehouse) -> None:
    with pyiceberg_lakehouse.table.transaction() as transaction:
        transaction.set_properties({"write.metadata.metrics.default": "counts"})
    pyiceberg_lakehouse.append([{"day": MONDAY, "sale_id": 5}])
    assert _now(pyiceberg_lakehouse, "sale_id") is None
    days = _now(pyiceberg_lakehouse, "day")
    assert days is not None
    assert days.values == (MONDAY,)


def test_too_many_files_leave_the_bounds_of_partitions(tmp_path: Path) -> None:
    lakehouse = PyIcebergProbeLakehouse(tmp_path, max_files=2)
    lakehouse.append([{"day": MONDAY, "sale_id": 1}, {"day": FRIDAY, "sale_id": 2}])
    lakehouse.append([{"day": TUESDAY, "sale_id": 3}, {"day": None, "sale_id": 4}])
    days = _now(lakehouse, "day")
    assert days is not None
    assert (days.values, days.lower, days.upper) == (None, MONDAY, FRIDAY)
    # Only one of the two manifests is read, so the values describe only some of the files.
    ids = _now(lakehouse, "sale_id")
    assert ids is not None
    assert (ids.values, ids.is_pinned, ids.is_clustered) == (None, False, True)
    lakehouse.close()


def test_of_a_new_snapshot_only_the_new_manifests_are_read(
    pyiceberg_lakehouse: PyIcebergProbeLakehouse,
) -> None:
    pyiceberg_lakehouse.append([{"day": MONDAY}])
    assert _now(pyiceberg_lakehouse, "day") is not None
    table = pyiceberg_lakehouse.table
    snapshot = table.current_snapshot()
    assert snapshot is not None
    (manifest,) = snapshot.manifests(table.io)
    pyiceberg_lakehouse.append([{"day": FRIDAY}])
    Path(manifest.manifest_path.removeprefix("file://")).unlink()
    days = _now(pyiceberg_lakehouse, "day")
    assert days is not None
    assert days.values == (MONDAY, FRIDAY)


def test_each_manifest_is_read_once_whatever_is_asked_and_by_whom(
    pyiceberg_lakehouse: PyIcebergProbeLakehouse,
) -> None:
    columns = ("day", "sale_id", "amount")
    for number in range(1, 6):
        snapshot_id = pyiceberg_lakehouse.append([{"day": MONDAY, "sale_id": number, "amount": Decimal(1)}])
        opened_manifests()
        pyiceberg_lakehouse.values.prepare(SALES, snapshot_id, columns)
        with ThreadPoolExecutor(4) as asking:
            asked = [
                asking.submit(pyiceberg_lakehouse.values.of, SALES, snapshot_id, column, 30.0)
                for column in columns * 4
            ]
        assert all(isinstance(future.result(), ColumnValues) for future in asked)
        assert len(opened_manifests()) == 1


def test_a_rewritten_manifest_is_read_and_no_other(pyiceberg_lakehouse: PyIcebergProbeLakehouse) -> None:
    for number in range(4):
        pyiceberg_lakehouse.append([{"day": MONDAY, "sale_id": number}, {"day": FRIDAY, "sale_id": 90}])
    assert _now(pyiceberg_lakehouse, "sale_id") is not None
    pyiceberg_lakehouse.table.delete("sale_id = 3")
    opened_manifests()
    found = _now(pyiceberg_lakehouse, "sale_id")
    assert found is not None
    assert found.values == (0, 1, 2, 90)
    assert len(opened_manifests()) <= 2


def test_a_table_that_takes_longer_than_anyone_waits_is_not_waited_for_again(
    pyiceberg_lakehouse: PyIcebergProbeLakehouse,
) -> None:
    snapshot_id = pyiceberg_lakehouse.append([{"day": MONDAY}])
    with pyiceberg_lakehouse.is_stopped():
        assert pyiceberg_lakehouse.values.of(SALES, snapshot_id, "day", within_s=0.01) is NotKnown.PENDING
    pyiceberg_lakehouse.settle()
    assert isinstance(pyiceberg_lakehouse.values.of(SALES, snapshot_id, "day"), ColumnValues)


def test_a_catalog_that_is_gone_is_asked_again(pyiceberg_lakehouse: PyIcebergProbeLakehouse) -> None:
    nowhere = TableName("elsewhere", "shop", "sales")
    for _ in range(2):
        found = pyiceberg_lakehouse.values.of(nowhere, 1, "day", within_s=30.0)
        assert found is NotKnown.PENDING


def test_combinations_of_partition_columns_are_known_with_what_they_hold(
    pyiceberg_lakehouse: PyIcebergProbeLakehouse,
) -> None:
    with pyiceberg_lakehouse.table.update_spec() as spec:
        spec.add_identity("city")
        spec.add_identity("weight")
    pyiceberg_lakehouse.append([{"day": MONDAY, "city": "Aachen", "weight": 1.0, "sale_id": 1}])
    second = pyiceberg_lakehouse.append(
        [{"day": TUESDAY, "city": "Zwickau", "sale_id": 2}, {"day": MONDAY, "city": None, "sale_id": 1}]
    )
    values = pyiceberg_lakehouse.values
    assert values.partitions(SALES, second, ["city", "day"]) is None
    assert _now(pyiceberg_lakehouse, "sale_id") is not None
    found = values.partitions(SALES, second, ["city", "weight", "sale_id", "day"])
    expected = {("Aachen", MONDAY), ("Zwickau", TUESDAY), (None, MONDAY)}
    assert found == PartitionTuples(("city", "day"), frozenset(expected))
    with pyiceberg_lakehouse.table.update_spec() as spec:
        spec.remove_field("city")
    third = pyiceberg_lakehouse.append([{"day": FRIDAY, "city": "Aachen"}])
    assert _now(pyiceberg_lakehouse, "day") is not None
    assert values.partitions(SALES, third, ["city", "day"]) is None


_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "day": st.none() | st.builds(date, st.integers(1960, 2030), st.just(1), st.integers(1, 3)),
            "sale_id": st.none() | st.integers(-(2**31), 2**31 - 1),
            "city": st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        }
    ),
    min_size=1,
    max_size=6,
)


@given(commits=st.lists(_ROWS, min_size=1, max_size=3))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_row_has_a_value_that_was_not_reported(
    tmp_path_factory: pytest.TempPathFactory, commits: list[list[dict[str, Any]]]
) -> None:
    lakehouse = PyIcebergProbeLakehouse(tmp_path_factory.mktemp("lake"))
    for rows in commits:
        lakehouse.append(rows)
    for column in ("day", "sale_id", "city"):
        there = {row[column] for rows in commits for row in rows} - {None}
        reported = _now(lakehouse, column)
        if reported is None:
            # A text has no upper bound only if no text of its length sorts after it.
            assert column == "city"
            continue
        assert reported.values is None or set(reported.values) == there
        assert all(reported.lower <= value <= reported.upper for value in there)
    lakehouse.close()


def test_of_very_many_files_a_bounded_number_is_read(tmp_path: Path) -> None:
    lakehouse = PyIcebergProbeLakehouse(tmp_path, max_files=16)
    for number in range(20):
        lakehouse.append([{"day": MONDAY, "sale_id": number}])
    opened_manifests()
    found = _now(lakehouse, "sale_id")
    assert found is not None
    assert (found.is_clustered, found.is_pinned, found.values, found.sizes) == (True, False, None, None)
    assert len(opened_manifests()) == 2
    read = 0
    for number in range(20, 30):
        lakehouse.append([{"day": MONDAY, "sale_id": number}])
        opened_manifests()
        assert _now(lakehouse, "sale_id") is not None
        read += len(opened_manifests())
    # A commit hardly changes the sample.
    assert read <= 10
    lakehouse.close()
