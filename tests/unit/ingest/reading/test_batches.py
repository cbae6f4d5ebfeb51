"""Of what is large by itself, a part at a time is in memory."""

from __future__ import annotations

import io
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.errors import IngestInvalid
from service.ingest.reading.batches import arrow_batches, parquet_batches, parquet_row_groups


class Watched(io.BytesIO):
    """Remembers how much was read at once."""

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
    assert [each.row_count for each in parquet_row_groups(sink)] == [400_000]
    sink.most = 0
    sink.seek(0)
    numbers = [number for batch in parquet_batches(sink) for number in batch["id"].to_pylist()]
    assert numbers == list(range(400_000))
    assert sink.most < len(sink.getvalue()) / 20


def test_some_row_groups_are_read_by_themselves() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": list(range(100))}), sink, row_group_size=10)
    assert len(parquet_row_groups(sink)) == 10
    read = [number for each in parquet_batches(sink, range(3, 5)) for number in each["id"].to_pylist()]
    assert read == list(range(30, 50))


def test_a_batch_of_arrow_that_memory_should_not_hold_is_refused_before_it_is_read() -> None:
    sink = io.BytesIO()
    batch = pa.record_batch({"id": pa.array(range(100))})
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data = sink.getvalue()
    # The length of the batch, as its message tells it.
    length = struct.pack("<q", pa.ipc.read_message(pa.BufferReader(data[_after_schema(data) :])).body.size)
    assert data.count(length) >= 1
    huge = data.replace(length, struct.pack("<q", 2**33), 1)
    with pytest.raises(IngestInvalid, match="smaller ones"):
        list(arrow_batches(io.BytesIO(huge)))


def _after_schema(data: bytes) -> int:
    return 8 + struct.unpack("<i", data[4:8])[0]
