"""The number of deleted rows, computed from snapshot summaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some
from pyiceberg.table.snapshots import Operation, Snapshot, Summary

from service.adapters.catalogs.deleted_records import deleted_record_count


def snapshot(number: int, **summary: object) -> Snapshot:
    reported = {key.replace("_", "-"): str(value) for key, value in summary.items()}
    return Snapshot(
        snapshot_id=number,
        parent_snapshot_id=number - 1 or None,
        sequence_number=number,
        timestamp_ms=number,
        manifest_list="m",
        summary=Summary(Operation.OVERWRITE, **reported),
    )


def totals(records: int, *, files: int, positions: int = 0, equality: int = 0) -> dict[str, object]:
    return {
        "total_records": records,
        "total_delete_files": files,
        "total_position_deletes": positions,
        "total_equality_deletes": equality,
    }


BEFORE = snapshot(1, **totals(10, files=0))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(snapshot(2, **totals(10, files=0)), 0, id="no deletes"),
        pytest.param(snapshot(2, **totals(10, files=1, positions=3)), 3, id="positions"),
        pytest.param(snapshot(2, **totals(10, files=1, equality=3)), None, id="keys"),
        pytest.param(snapshot(2, **totals(10, files=2, positions=3, equality=3)), None, id="both"),
        pytest.param(snapshot(2, **totals(0, files=2, equality=3)), 0, id="no rows at all"),
        pytest.param(snapshot(2, **totals(2, files=2, positions=3)), None, id="more deletes than rows"),
        pytest.param(
            snapshot(2, deleted_data_files=1, **totals(9, files=1, positions=3)), None, id="a file is gone"
        ),
        pytest.param(snapshot(3, **totals(10, files=1, positions=3)), None, id="its parent has expired"),
        pytest.param(snapshot(2), None, id="nobody has counted"),
        pytest.param(snapshot(2, total_records="many"), None, id="no numbers"),
        pytest.param(snapshot(2, total_records=10), None, id="rows alone"),
    ],
)
def test_deleted_rows_are_known_where_positions_alone_delete(found: Snapshot, expected: int | None) -> None:
    assert deleted_record_count([BEFORE, found], found) == expected


def test_a_table_without_snapshots_has_no_deleted_rows() -> None:
    assert deleted_record_count([], None) == 0


@given(some.lists(some.sampled_from(["append", "positions", "keys", "drop", "compact"]), max_size=12))
def test_whatever_happens_to_a_table_a_count_that_is_reported_is_the_right_one(steps: list[str]) -> None:
    """Each file has ten rows. A position delete removes one row, and remains when its file is removed."""
    files: dict[int, int] = {}
    positions = equality = dangling = 0
    snapshots: list[Snapshot] = []
    for number, step in enumerate(steps, start=1):
        removed = 0
        if step == "positions" and files:
            file = min(files)
            files[file] += files[file] < 10
            positions = sum(files.values()) + dangling
        elif step == "keys":
            equality += 1
        elif step == "drop" and files:
            dangling += files.pop(min(files))
            removed = 1
        elif step == "compact":
            removed, positions, equality, dangling = len(files), 0, 0, 0
            files = dict.fromkeys(files, 0)
        else:
            files[number] = 0
        reported = totals(
            10 * len(files), files=bool(positions) + equality, positions=positions, equality=equality
        )
        snapshots.append(snapshot(number, deleted_data_files=removed, **reported))
    if snapshots:
        found = deleted_record_count(snapshots, snapshots[-1])
        assert equality == 0 or found is None or not files
        assert found is None or equality or found == sum(files.values())
