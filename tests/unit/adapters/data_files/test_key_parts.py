"""All rows of a key are in one part, whatever batches they come from."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from service.adapters.data_files.writer.key_parts import key_parts
from service.errors.ingest_errors import IngestInvalid
from tests.unit.adapters.data_files.states import state_of, target_of


def test_each_row_is_in_one_part_with_all_others_of_its_key(tmp_path: Path) -> None:
    state = state_of(tmp_path)
    target = replace(target_of(state, (3, 1, 2)), is_upsert=True, equality_field_ids=(1, 2, 3))
    ids = [number % 40 for number in range(400)]
    rows = pa.record_batch(
        {
            "name": pa.array([None if id_ % 7 == 0 else f"n{id_ % 3}" for id_ in ids]),
            "id": pa.array(ids, pa.int32()),
            "day": pa.array([date(2026, 1, 1 + id_ % 5) if id_ % 2 else None for id_ in ids]),
        }
    )
    seen: dict[tuple[object, ...], int] = {}
    for start, length in ((0, 400), (0, 1), (13, 100)):
        taken = rows.slice(start, length)
        parts = list(key_parts(state, target, taken, 6))
        assert sum(some.num_rows for _, some in parts) == length
        assert len({part for part, _ in parts}) == len(parts)
        for part, some in parts:
            assert 0 <= part < 6
            found = some.to_pylist()
            assert found == [row for row in taken.to_pylist() if row in found]
            for row in found:
                assert seen.setdefault(tuple(row.values()), part) == part
    assert set(seen.values()) == set(range(6))


@pytest.mark.parametrize("count", [6, 31, 32, 1000])
@pytest.mark.parametrize("varied", ["id", "name"])
def test_parts_have_about_equally_many_keys_whichever_column_varies(
    tmp_path: Path, varied: str, count: int
) -> None:
    state = state_of(tmp_path)
    target = replace(target_of(state, (1, 3)), is_upsert=True, equality_field_ids=(1, 3))
    ids, total = pa.array(range(20 * count)), 20 * count
    same = {"id": pa.array([7] * total), "name": pa.array(["n"] * total)}
    rows = pa.record_batch(same | {varied: ids if varied == "id" else ids.cast(pa.string())})
    sizes = [some.num_rows for _, some in key_parts(state, target, rows, count)]
    assert len(sizes) == count
    assert max(sizes) < 60


def test_keys_that_have_no_bucket_are_one_part(tmp_path: Path) -> None:
    state = state_of(tmp_path)
    target = replace(target_of(state, (1,)), is_upsert=True, equality_field_ids=(1,))
    [(part, rows)] = key_parts(state, target, pa.record_batch({"id": [1, 2, 3]}), 1)
    assert (part, rows.num_rows) == (0, 3)
    assert list(key_parts(state, target, pa.record_batch({"id": pa.array([], pa.int64())}), 1)) == []


def test_what_tells_no_rows_apart_has_no_parts(tmp_path: Path) -> None:
    state = state_of(tmp_path)
    target = replace(target_of(state, (4,)), is_upsert=True, equality_field_ids=(4,))
    with pytest.raises(IngestInvalid):
        list(key_parts(state, target, pa.record_batch({"amount": [1.0]}), 2))
