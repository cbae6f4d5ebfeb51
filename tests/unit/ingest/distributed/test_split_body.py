"""A body that is read in parts has the same good and bad records as when it is read whole."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.adapters.staging.staged_bodies import BodyInMessage
from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS, ReadBounds
from service.ingest.decoding.streams.rows import BadRow, Rows, TargetRows
from service.ingest.distributed.split_body import body_splits, is_splittable
from service.ingest.distributed.split_reader import SplitsOfBody
from service.model.ingest.body_splits import BodySplit
from service.model.ingest.ingest_request import StreamedRecords
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.tables.schemas import Field, Primitive

PLAN = ReadPlan((ReadTarget((Field(1, "id", Primitive("long")), Field(2, "note", Primitive("string")))),))
BOUNDS = ReadBounds(body_bytes=2**20)
RANDOM = random.Random(5)
NOTES = [
    '"x"',
    '""',
    "",
    "plain",
    '"a\nb"',
    '"q ""in"" it"',
    '"\n\n"',
    'wild " quote',
    '"é, ""\r\n"',
    '"bad" tail',
]


def csv(count: int, end: str = "\n", start: str = "") -> bytes:
    ids = [RANDOM.choice([str(number), "x"]) if number % 20 == 0 else str(number) for number in range(count)]
    lines = [f"{id_},{RANDOM.choice(NOTES)}" for id_ in ids]
    lines[3:3] = ["", "1,2,3"]
    return (start + end.join(['"id",note', *lines])).encode()


def ndjson(count: int) -> bytes:
    good = [f'{{"id": {number}, "note": "n{number}"}}' for number in range(count)]
    return "\n".join([*good[:50], "", "no record", *good[50:]]).encode()


def parquet(count: int) -> bytes:
    sink = io.BytesIO()
    ids = pa.array([2**63 if number % 50 == 0 else number for number in range(count)], pa.uint64())
    pq.write_table(
        pa.table({"note": [str(number) for number in range(count)], "id": ids}), sink, row_group_size=17
    )
    return sink.getvalue()


BODIES: Sequence[tuple[RecordFormat, Callable[[], bytes]]] = [
    (RecordFormat.NDJSON, lambda: ndjson(300)),
    (RecordFormat.NDJSON, lambda: ndjson(300) + b"\n"),
    (RecordFormat.CSV, lambda: csv(300)),
    (RecordFormat.CSV, lambda: csv(300, end="\r\n", start="\ufeff") + b"\r\n"),
    (RecordFormat.CSV, lambda: csv(300) + b'\n7,"never closed\n8,x'),
    (RecordFormat.CSV, lambda: b"id,note\n" + b"1,plain\n" * 200),
    (RecordFormat.CSV, lambda: b'"id","no\nte"\n1,2\n'),
    (RecordFormat.PARQUET, lambda: parquet(300)),
]


def reported(rows: Sequence[Rows]) -> list[object]:
    """Returns the good records, and the bad ones with all their details."""
    good = [
        row
        for target_rows in rows
        if isinstance(target_rows, TargetRows)
        for row in target_rows.rows.to_pylist()
    ]
    return [good, [row for row in rows if isinstance(row, BadRow)]]


@pytest.mark.parametrize(("record_format", "make"), BODIES)
@pytest.mark.parametrize("count", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("split_bytes", [40, 400])
def test_all_parts_together_are_the_whole(
    record_format: RecordFormat, make: Callable[[], bytes], count: int, split_bytes: int
) -> None:
    data = make()
    body = StreamedRecords(lambda: io.BytesIO(data), record_format)
    splits, byte_count = body_splits(body, lambda _: count, split_bytes, BOUNDS)
    assert 1 <= len(splits) <= count
    assert byte_count > 0
    reader = SplitsOfBody(PLAN, BodyInMessage(data), record_format, Compression.NONE, DEFAULT_BOUNDS)
    try:
        whole = reported(list(read_rows(io.BytesIO(data), record_format, PLAN)))
    except IngestInvalid:
        with pytest.raises(IngestInvalid):
            [list(reader.rows(split)) for split in splits]
        return
    assert reported([row for split in splits for row in reader.rows(split)]) == whole


def test_every_byte_of_a_text_is_in_one_part(tmp_path: object) -> None:  # noqa: ARG001
    data = csv(500)
    body = StreamedRecords(lambda: io.BytesIO(data), RecordFormat.CSV)
    splits, byte_count = body_splits(body, lambda _: 6, 400, BOUNDS)
    assert len(splits) == 6
    parts = [split for split in splits if isinstance(split, BodySplit)]
    assert [part.start for part in parts] == [0, *(part.end for part in parts[:-1])]
    assert parts[-1].end == byte_count == len(data)
    sizes = [part.end - part.start for part in parts]
    assert max(sizes) < 2 * min(sizes)


def test_what_is_compressed_is_cut_where_it_would_be_without() -> None:
    data = ndjson(300)
    packed = gzip.compress(data)
    plain = StreamedRecords(lambda: io.BytesIO(data), RecordFormat.NDJSON)
    body = StreamedRecords(lambda: io.BytesIO(packed), RecordFormat.NDJSON, Compression.GZIP)
    assert body_splits(body, lambda _: 4, 400, BOUNDS) == body_splits(plain, lambda _: 4, 400, BOUNDS)
    splits, _ = body_splits(body, lambda _: 4, 400, BOUNDS)
    reader = SplitsOfBody(PLAN, BodyInMessage(packed), RecordFormat.NDJSON, Compression.GZIP, DEFAULT_BOUNDS)
    whole = reported(list(read_rows(io.BytesIO(data), RecordFormat.NDJSON, PLAN)))
    assert reported([row for split in splits for row in reader.rows(split)]) == whole


@pytest.mark.parametrize(
    ("data", "record_format", "compression"),
    [
        (gzip.compress(ndjson(300))[:-9], RecordFormat.NDJSON, Compression.GZIP),
        (ndjson(300) * 200, RecordFormat.NDJSON, Compression.NONE),
        (b"PAR1 no parquet PAR1", RecordFormat.PARQUET, Compression.NONE),
    ],
)
def test_what_cannot_be_read_is_reported_before_anything_is_written(
    data: bytes, record_format: RecordFormat, compression: Compression
) -> None:
    body = StreamedRecords(lambda: io.BytesIO(data), record_format, compression)
    with pytest.raises(IngestInvalid):
        body_splits(body, lambda _: 4, 400, BOUNDS)


def test_there_is_no_place_to_cut_arrow_or_what_is_hidden_by_compression() -> None:
    def splittable(record_format: RecordFormat, compression: Compression = Compression.NONE) -> bool:
        return is_splittable(StreamedRecords(io.BytesIO, record_format, compression))

    assert splittable(RecordFormat.CSV, Compression.ZSTD)
    assert splittable(RecordFormat.PARQUET)
    assert not splittable(RecordFormat.PARQUET, Compression.GZIP)
    assert not splittable(RecordFormat.ARROW_STREAM)
