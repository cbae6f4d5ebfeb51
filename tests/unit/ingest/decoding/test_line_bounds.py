"""Line length is bounded wherever a line is read."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.adapters.staging.staged_bodies import BodyInMessage
from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.present_names import present_names
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.line_blocks import BLOCK_BYTES, line_blocks
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.decoding.streams.rows import TargetRows
from service.ingest.distributed.split_body import body_splits
from service.ingest.distributed.split_reader import SplitsOfBody
from service.model.ingest.ingest_request import Route, StreamedRecords
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.tables.schemas import Field, Primitive
from tests.thorough import pairs_of

NOTE = ReadTarget((Field(1, "note", Primitive("string")),))
PLAN = ReadPlan((NOTE,))
ROUTED = ReadPlan((NOTE,), Route("kind", {}, otherwise=0))
TOO_LONG = r"is longer than {} bytes.*SLUICE_INGEST_MAX_LINE_BYTES"
# Some lines share a block with others, and some span several blocks.
LENGTHS = [1024, BLOCK_BYTES - 1, BLOCK_BYTES + 1, 2 * BLOCK_BYTES]


def ndjson(length: int) -> bytes:
    line = b'{"note":"%s"}' % (b"x" * (length - 11))
    assert len(line) == length
    return b"{}\n" + line + b"\n{}\n"


def csv(length: int) -> bytes:
    return b"note\na\n" + b"x" * length + b"\nb\n"


def csv_over_lines(length: int) -> bytes:
    return b'note\na\n"' + b"x\n" * 100 + b"x" * (length - 202) + b'"\nb\n'


def csv_header(length: int) -> bytes:
    return b'\xef\xbb\xbf"note"' + b"," * (length - 6) + b"\n"


BODIES = [
    (RecordFormat.NDJSON, ndjson, PLAN),
    (RecordFormat.NDJSON, ndjson, ROUTED),
    (RecordFormat.CSV, csv, PLAN),
    (RecordFormat.CSV, csv_over_lines, PLAN),
]


def record_count(body: bytes, record_format: RecordFormat, plan: ReadPlan, line_bytes: int) -> int:
    bounds = ReadBounds(line_bytes=line_bytes)
    read = read_rows(io.BytesIO(body), record_format, plan, bounds=bounds)
    return sum(target_rows.rows.num_rows for target_rows in read if isinstance(target_rows, TargetRows))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("record_format", "made", "plan"), BODIES)
def test_a_line_may_be_just_as_long_as_was_said(
    record_format: RecordFormat, made: Callable[[int], bytes], plan: ReadPlan, length: int
) -> None:
    body = made(length)
    assert record_count(body, record_format, plan, length) == 3
    with pytest.raises(IngestInvalid, match=TOO_LONG.format(length - 1)):
        record_count(body, record_format, plan, length - 1)


@pytest.mark.parametrize(("record_format", "made", "plan"), BODIES)
def test_it_is_so_where_only_names_are_looked_for(
    record_format: RecordFormat, made: Callable[[int], bytes], plan: ReadPlan
) -> None:
    def names(line_bytes: int) -> list[set[str]]:
        bounds = ReadBounds(line_bytes=line_bytes)
        return present_names(io.BytesIO(made(4096)), record_format, plan.route, [{"note"}], bounds)

    assert names(4096) == [{"note"}]
    with pytest.raises(IngestInvalid, match=TOO_LONG.format(4095)):
        names(4095)


@pytest.mark.parametrize(
    ("record_format", "made", "_plan", "length"),
    # In this order, pairs leave the longest lines to NDJSON, which is read ten times as fast.
    [(*body, length) for body, length in pairs_of(BODIES, [LENGTHS[at] for at in (0, 3, 2, 1)])],
)
def test_it_is_so_in_the_parts_of_a_large_body(
    record_format: RecordFormat, made: Callable[[int], bytes], _plan: ReadPlan, length: int
) -> None:
    data = made(length)
    body = StreamedRecords(lambda: io.BytesIO(data), record_format)

    def read(line_bytes: int) -> int:
        bounds = ReadBounds(line_bytes=line_bytes)
        splits, _ = body_splits(body, lambda _: 2, 1024, bounds)
        reader = SplitsOfBody(PLAN, BodyInMessage(data), record_format, Compression.NONE, bounds)
        rows = [row for split in splits for row in reader.rows(split)]
        return sum(row.rows.num_rows for row in rows if isinstance(row, TargetRows))

    assert read(length) == 3
    with pytest.raises(IngestInvalid, match=TOO_LONG.format(length - 1)):
        read(length - 1)


@pytest.mark.parametrize("block_bytes", [100, 4096])
def test_a_header_is_a_line_too(block_bytes: int) -> None:
    body = StreamedRecords(lambda: io.BytesIO(csv_header(500)), RecordFormat.CSV)
    body_splits(body, lambda _: 2, 4 * block_bytes, ReadBounds(line_bytes=500))
    with pytest.raises(IngestInvalid, match=TOO_LONG.format(499)):
        body_splits(body, lambda _: 2, 4 * block_bytes, ReadBounds(line_bytes=499))


@given(
    some.lists(some.binary(max_size=9).map(lambda line: line.replace(b"\n", b" ")), min_size=1, max_size=9),
    some.integers(1, 9),
    some.integers(1, 30),
)
def test_blocks_are_the_whole_or_a_line_is_too_long(lines: list[bytes], most: int, block_bytes: int) -> None:
    text = b"-\n" + b"\n".join(lines)
    if max(map(len, lines)) > most:
        with pytest.raises(IngestInvalid):
            list(line_blocks(io.BytesIO(text), most, block_bytes))
        return
    blocks = list(line_blocks(io.BytesIO(text), most, block_bytes))
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks[:-1])
