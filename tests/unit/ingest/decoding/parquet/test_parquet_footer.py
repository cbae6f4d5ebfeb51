"""The columns that a footer declares, and footers with damage in any place."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.arrow.batches import parquet_batches
from service.ingest.decoding.parquet.parquet_footer import ColumnChunk, column_chunks
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS

ROWS = pa.table(
    {
        "id": pa.array(range(20), pa.int64()),
        "kind": ["a", None] * 10,
        "tags": [["x", None], [], None, ["y"]] * 5,
        "place": [{"city": "Ulm", "zip": 1}, None] * 10,
    }
)
TAIL_BYTES = 8


def written(row_group_size: int = 8) -> bytes:
    file = io.BytesIO()
    pq.write_table(ROWS, file, row_group_size=row_group_size, use_dictionary=["kind", "tags.list.element"])
    return file.getvalue()


def read_by_pyarrow(data: bytes) -> Iterator[list[ColumnChunk]]:
    metadata = pq.read_metadata(io.BytesIO(data))
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        columns = map(group.column, range(group.num_columns))
        yield [
            ColumnChunk(
                column.num_values,
                column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset,
                column.total_compressed_size,
            )
            for column in columns
        ]


def test_the_columns_of_all_row_groups_are_as_pyarrow_tells_them() -> None:
    data = written()
    expected = list(read_by_pyarrow(data))
    assert len(expected) == 3
    assert list(column_chunks(io.BytesIO(data), range(3), 5)) == expected
    assert list(column_chunks(io.BytesIO(data), range(1, 2), 5)) == expected[1:2]


@pytest.mark.parametrize(
    ("data", "row_groups", "columns", "reported"),
    [
        (written(), range(4), 5, "lacks a row group"),
        (written(), range(1), 4, "other columns than the file"),
        (b"PAR1" + b"\xff" * 4 + b"PAR1", range(1), 5, "no footer"),
        (b"PAR1", range(1), 5, "no footer"),
        (b"PAR1" + b"\x15\x01\x00\x00\x00PAR1", range(1), 5, "ends too early"),
    ],
)
def test_a_footer_that_does_not_tell_is_refused(
    data: bytes, row_groups: range, columns: int, reported: str
) -> None:
    with pytest.raises(OSError, match=reported):
        list(column_chunks(io.BytesIO(data), row_groups, columns))


@pytest.mark.parametrize("damage", [0x01, 0x10, 0xFF])
def test_no_damage_of_a_footer_ends_the_process(damage: int) -> None:
    whole = written(row_group_size=20)
    size = int.from_bytes(whole[-TAIL_BYTES:-4], "little")
    refused = 0
    for place in range(len(whole) - TAIL_BYTES - size, len(whole) - TAIL_BYTES):
        data = bytearray(whole)
        data[place] ^= damage
        try:
            list(parquet_batches(io.BytesIO(data), DEFAULT_BOUNDS))
        except IngestInvalid:
            refused += 1
    assert refused > 0
