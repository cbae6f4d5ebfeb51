"""Data that is small as sent and large in memory is measured before the memory is allocated."""

from __future__ import annotations

import io
import struct
import tracemalloc
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.arrow.batches import arrow_batches, parquet_batches
from service.ingest.decoding.parquet.compact_structs import compact_struct
from service.ingest.decoding.streams.read_bounds import ReadBounds, Room
from service.ingest.decoding.values.row_bytes import row_bytes
from service.ingest.decoding.values.unfolded_rows import unfolded_parts

MIB = 1024**2
SMALL = ReadBounds(body_bytes=64 * MIB, batch_bytes=8 * MIB)


def stream(table: pa.Table, compression: str | None = None, rows_at_once: int | None = None) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression, emit_dictionary_deltas=True)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table, rows_at_once)
    return sink.getvalue()


def parquet(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def rows_of(body: bytes, bounds: ReadBounds = SMALL) -> int:
    read = parquet_batches if body[:4] == b"PAR1" else arrow_batches
    return sum(batch.num_rows for batch in read(io.BytesIO(body), bounds))


def taken_bytes(body: bytes, bounds: ReadBounds = SMALL) -> int:
    """Returns the peak memory of Arrow and Python while they refused the body."""
    before = pa.default_memory_pool()
    counting = pa.proxy_memory_pool(before)
    pa.set_memory_pool(counting)
    tracemalloc.start()
    try:
        with pytest.raises(IngestInvalid, match="bytes when it is decompressed"):
            rows_of(body, bounds)
        return int(counting.max_memory()) + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


def zeros(size: int) -> pa.Table:
    return pa.table({"a": pa.repeat(pa.scalar(0, pa.int64()), size)})


@pytest.mark.parametrize("compression", ["zstd", "lz4", None])
def test_a_batch_of_arrow_that_is_larger_than_may_be_is_refused_before_it_is_unfolded(
    compression: str | None,
) -> None:
    body = stream(zeros(8 * MIB), compression)
    assert compression is None or len(body) < MIB
    # Without compression, the body itself is as large as its data.
    assert taken_bytes(body) < 8 * MIB
    assert rows_of(stream(zeros(MIB // 2), compression)) == MIB // 2


def test_a_stream_of_many_batches_is_bounded_as_a_whole() -> None:
    body = stream(zeros(16 * MIB), "zstd", rows_at_once=MIB // 2)
    with pytest.raises(IngestInvalid, match="more than 67108864 bytes"):
        rows_of(body)
    assert rows_of(body, ReadBounds(body_bytes=256 * MIB, batch_bytes=8 * MIB)) == 16 * MIB


def test_bytes_that_are_several_buffers_count_as_often() -> None:
    column = pa.repeat(pa.scalar(0, pa.int64()), MIB // 2)
    table = pa.table({str(number): column for number in range(3)})
    with pytest.raises(IngestInvalid, match="A record batch"):
        rows_of(stream(table, "zstd"))


def test_dictionaries_count_for_as_long_as_they_are_in_memory() -> None:
    encoded = [pa.array(["x" * MIB + str(number)]).dictionary_encode() for number in range(12)]
    growing = pa.chunked_array([pa.array(["x" * 3 * MIB]).dictionary_encode()])
    replaced = pa.table({"a": pa.chunked_array(encoded)})
    assert rows_of(stream(replaced)) == 12
    assert rows_of(stream(pa.table({"a": growing}))) == 1
    chunks = [
        pa.DictionaryArray.from_arrays([number], ["x" * MIB + str(index) for index in range(number + 1)])
        for number in range(12)
    ]
    with pytest.raises(IngestInvalid, match="with its dictionaries"):
        rows_of(
            stream(pa.table({"a": pa.chunked_array(chunks)})),
            ReadBounds(body_bytes=2**40, batch_bytes=8 * MIB),
        )


LONG = "x" * (MIB // 2)
# The fields are its length, its prefix, and its buffer and offset.
VIEW = struct.pack("<i4sii", len(LONG), b"xxxx", 0, 0)
FOLDED = {
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int8()), [LONG]),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1000], pa.int32()), [LONG]),
    "views": pa.Array.from_buffers(
        pa.string_view(), 1000, [None, pa.py_buffer(VIEW * 1000), pa.py_buffer(LONG.encode())]
    ),
    "list of a dictionary": pa.ListArray.from_arrays(
        pa.array(range(1001), pa.int32()),
        pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int8()), [LONG]),
    ),
    "struct of runs": pa.StructArray.from_arrays(
        [pa.RunEndEncodedArray.from_arrays(pa.array([1000], pa.int32()), [LONG])], names=["a"]
    ),
}


@pytest.mark.parametrize("kind", FOLDED)
def test_values_that_stand_in_many_rows_count_as_often(kind: str) -> None:
    batch = pa.record_batch({"a": FOLDED[kind]})
    with pytest.raises(IngestInvalid, match="more than 67108864 bytes"):
        list(unfolded_parts(batch, Room(SMALL)))
    parts = list(unfolded_parts(batch, Room(ReadBounds(body_bytes=1024 * MIB, batch_bytes=8 * MIB))))
    assert sum(part.num_rows for part in parts) == 1000
    assert max(part.num_rows for part in parts) <= 8
    assert pa.Table.from_batches(parts).to_pylist()[-1] == batch.slice(999).to_pylist()[0]


@pytest.mark.parametrize(
    "array",
    [
        pa.nulls(10_000_000),
        pa.ListArray.from_arrays(pa.array([0, 2**24], pa.int32()), pa.nulls(2**24)),
        pa.FixedSizeListArray.from_arrays(pa.nulls(2**24), 2**24),
    ],
    ids=["rows", "list", "list of one size"],
)
def test_nothing_many_times_is_something(array: pa.Array) -> None:
    with pytest.raises(IngestInvalid, match="bytes when it is decompressed"):
        list(unfolded_parts(pa.record_batch({"a": array}), Room(SMALL)))


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([1, None], pa.int32()), [4, 4]),
        (pa.array(["a", None, "bcd"]), [9, 8, 11]),
        (pa.array([["a", "bcd"], None, []]), [20, 0, 0]),
        (pa.array([[1, 2], None]), [16, 0]),
        (pa.array([{"a": "x", "b": 1}, None]), [17, 16]),
        (pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())), [17, 0, 0]),
        (pa.array(["ab", None], pa.string_view()), [18, 16]),
        (pa.array(["ab", None, "ab"]).dictionary_encode(), [10, 0, 10]),
        (pa.array([[["a"], []], [None]]), [9, 0]),
    ],
)
def test_rows_are_measured(array: pa.Array, expected: list[int]) -> None:
    padded = pa.concat_arrays([array.slice(len(array) - 1), array, array.slice(0, 1)])
    for measured in (array, padded.slice(1, len(array))):
        found = row_bytes(measured)
        sizes = [found.as_py()] * len(array) if isinstance(found, pa.Scalar) else found.to_pylist()
        assert sizes == expected


def test_a_page_of_parquet_is_measured_before_it_is_unfolded() -> None:
    one_page = {"data_page_size": 64 * MIB, "max_rows_per_page": 8 * MIB}
    body = parquet(zeros(4 * MIB), compression="zstd", use_dictionary=False, **one_page)
    assert len(body) < MIB
    assert taken_bytes(body) < 8 * MIB


def test_rows_that_take_a_page_each_are_read_few_at_once() -> None:
    rows = pa.table({"a": ["x" * MIB] * 20})
    body = parquet(rows, compression="zstd", use_dictionary=False, data_page_size=1, write_batch_size=1)
    assert len(body) < MIB
    batches = list(parquet_batches(io.BytesIO(body), ReadBounds(body_bytes=64 * MIB, batch_bytes=4 * MIB)))
    assert sum(batch.num_rows for batch in batches) == 20
    assert max(batch.num_rows for batch in batches) <= 4


def test_words_of_a_dictionary_are_not_written_out_before_they_are_measured() -> None:
    rows = pa.table({"a": pa.array([LONG] * 100).dictionary_encode().cast(pa.string())})
    body = parquet(rows, compression="zstd")
    bounds = ReadBounds(body_bytes=1024 * MIB, batch_bytes=8 * MIB)
    batches = list(parquet_batches(io.BytesIO(body), bounds))
    assert sum(batch.num_rows for batch in batches) == 100
    assert max(batch.num_rows for batch in batches) <= 8
    with pytest.raises(IngestInvalid, match="more than"):
        rows_of(body, ReadBounds(body_bytes=16 * MIB, batch_bytes=8 * MIB))


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "PLAIN"])
def test_words_with_a_common_beginning_are_read_few_at_once(encoding: str) -> None:
    words = [LONG + f"{number:06}" for number in range(100)]
    body = parquet(pa.table({"a": words}), use_dictionary=False, column_encoding={"a": encoding})
    batches = list(parquet_batches(io.BytesIO(body), ReadBounds(body_bytes=1024 * MIB, batch_bytes=64 * MIB)))
    assert [value for batch in batches for value in batch["a"].to_pylist()] == words
    with pytest.raises(IngestInvalid, match="more than"):
        rows_of(body, ReadBounds(body_bytes=16 * MIB, batch_bytes=64 * MIB))


def test_rows_of_lists_that_are_all_alike_are_refused_by_their_number() -> None:
    lists = pa.ListArray.from_arrays(
        pa.array([0, 4 * MIB], pa.int32()), pa.repeat(pa.scalar(7, pa.int64()), 4 * MIB)
    )
    body = parquet(pa.table({"a": lists}), compression="zstd")
    assert len(body) < MIB
    assert taken_bytes(body) < 8 * MIB


def test_a_file_of_ordinary_rows_is_read_many_at_once() -> None:
    rows = pa.table(
        {
            "id": range(50_000),
            "kind": ["a", "b"] * 25_000,
            "tags": [["x", "y"], []] * 25_000,
            "text": [f"some words {number}" for number in range(50_000)],
        }
    )
    for options in ({}, {"data_page_version": "2.0", "compression": "zstd"}, {"row_group_size": 7_000}):
        batches = list(parquet_batches(io.BytesIO(parquet(rows, **options)), ReadBounds()))
        read = [row for batch in batches for row in batch.to_pylist()]
        assert read == rows.to_pylist()
        assert len(batches) < 40


@pytest.mark.parametrize("data", [b"", b"\x15", b"\x1c" * 40, bytes([0x18, 0xFF, 0xFF, 0x7F]), b"\xff" * 40])
def test_bytes_that_are_no_header_of_a_page_are_reported(data: bytes) -> None:
    with pytest.raises((IndexError, ValueError)):
        compact_struct(data)


def test_a_stream_that_is_damaged_anywhere_is_refused_or_read() -> None:
    table = pa.table({"a": ["x", "y"], "b": pa.array(["u", "v"]).dictionary_encode()})
    for body in (stream(table, "zstd"), stream(table), parquet(table)):
        for at in range(len(body)):
            damaged = body[:at] + bytes([body[at] ^ 0xFF]) + body[at + 1 :]
            try:
                rows_of(damaged)
            except IngestInvalid:
                continue
