"""A large batch or row group is read in parts, and only one part is in memory at a time."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.arrow.batches import parquet_batches, parquet_row_groups
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS


class Watched(io.BytesIO):
    """Records the largest read."""

    most = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.most = max(self.most, len(found))
        return found


def test_a_large_row_group_is_read_in_small_parts() -> None:
    sink = Watched()
    rows = pa.table({"id": pa.array(range(400_000)), "other": pa.array(range(400_000))})
    pq.write_table(
        rows, sink, row_group_size=400_000, data_page_size=50_000, use_dictionary=False, compression="none"
    )
    assert [group.row_count for group in parquet_row_groups(sink)] == [400_000]
    sink.most = 0
    sink.seek(0)
    numbers = [
        number for batch in parquet_batches(sink, DEFAULT_BOUNDS) for number in batch["id"].to_pylist()
    ]
    assert numbers == list(range(400_000))
    assert sink.most < len(sink.getvalue()) / 20


def test_some_row_groups_are_read_by_themselves() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": list(range(100))}), sink, row_group_size=10)
    assert len(parquet_row_groups(sink)) == 10
    read = [
        number
        for batch in parquet_batches(sink, DEFAULT_BOUNDS, range(3, 5))
        for number in batch["id"].to_pylist()
    ]
    assert read == list(range(30, 50))


def test_moments_of_int96_under_one_name_are_refused() -> None:
    sink = io.BytesIO()
    moments = pa.array([0], pa.timestamp("us"))
    table = pa.Table.from_arrays([moments, moments], ["a", "a"])
    pq.write_table(table, sink, use_deprecated_int96_timestamps=True)
    with pytest.raises(IngestInvalid, match="two columns 'a'"):
        list(parquet_batches(sink, DEFAULT_BOUNDS))
