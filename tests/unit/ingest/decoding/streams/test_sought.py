"""A body that must be decompressed to be read is stored like other bodies, and removed with its reader."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.adapters.disk.scratch_directory import LOCK_NAME
from service.adapters.staging.spool import IN_MEMORY_BYTES, SpoolDirectory
from service.errors.ingest_errors import IngestInvalid, TooManyIngests
from service.errors.unavailable import StorageDown
from service.ingest.decoding.arrow.batches import parquet_batches
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS
from service.ingest.decoding.streams.sought import opened_records
from service.model.ingest.ingest_request import StreamedRecords
from service.model.ingest.record_formats import Compression, RecordFormat
from service.ports.tables.data_files import Spools
from tests.fakes.spools import FakeSpools

ROWS = 300_000
ROOM = 4 * IN_MEMORY_BYTES


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": range(ROWS)}), sink, use_dictionary=False, compression="none")
    return sink.getvalue()


WHOLE = parquet()


def body(data: bytes, packed: Compression = Compression.GZIP) -> StreamedRecords:
    return StreamedRecords(lambda: io.BytesIO(data), RecordFormat.PARQUET, packed)


def row_count(streamed: StreamedRecords, spools: Spools) -> int:
    with opened_records(streamed, 2**30, spools) as stream:
        return sum(batch.num_rows for batch in parquet_batches(stream, DEFAULT_BOUNDS))


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name not in (LOCK_NAME, ".lock")]


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[SpoolDirectory]:
    with closing(SpoolDirectory(tmp_path, ROOM)) as found:
        yield found


def has_all_its_room(directory: SpoolDirectory) -> bool:
    with closing(directory.new()) as spool:
        spool.write(b"x" * ROOM)
    return True


def test_what_is_unpacked_lies_beside_the_bodies_and_counts_as_they_do(
    directory: SpoolDirectory, tmp_path: Path
) -> None:
    with opened_records(body(gzip.compress(WHOLE)), 2**30, directory) as stream:
        [file] = files(tmp_path)
        assert file.stat().st_size == len(WHOLE)
        with closing(directory.new()) as other, pytest.raises(TooManyIngests):
            other.write(b"x" * (ROOM - len(WHOLE) + 1))
        assert sum(batch.num_rows for batch in parquet_batches(stream, DEFAULT_BOUNDS)) == ROWS
    assert files(tmp_path) == []
    assert has_all_its_room(directory)


def test_there_may_be_no_room_for_it_now_or_ever(directory: SpoolDirectory, tmp_path: Path) -> None:
    with closing(directory.new()) as other:
        other.write(b"x" * (ROOM - len(WHOLE) + 1))
        with pytest.raises(TooManyIngests):
            row_count(body(gzip.compress(WHOLE)), directory)
    with pytest.raises(IngestInvalid, match="SLUICE_INGEST_MAX_SPOOLED_BYTES"):
        row_count(body(gzip.compress(b"x" * (ROOM + 1))), directory)
    assert files(tmp_path) == []
    assert has_all_its_room(directory)


@pytest.mark.parametrize(
    "data", [gzip.compress(WHOLE, mtime=0)[:-9], gzip.compress(WHOLE[:-9], mtime=0), b"rubbish"]
)
def test_nothing_is_left_of_a_body_that_is_damaged(
    directory: SpoolDirectory, tmp_path: Path, data: bytes
) -> None:
    with pytest.raises(IngestInvalid):
        row_count(body(data), directory)
    assert files(tmp_path) == []
    assert has_all_its_room(directory)


def test_nothing_is_left_when_its_reader_fails(directory: SpoolDirectory, tmp_path: Path) -> None:
    def failing() -> None:
        with opened_records(body(gzip.compress(WHOLE)), 2**30, directory):
            assert files(tmp_path)
            raise LookupError

    with pytest.raises(LookupError):
        failing()
    assert files(tmp_path) == []
    assert has_all_its_room(directory)


def test_a_full_disk_is_reported_as_such() -> None:
    spools = FakeSpools()
    spools.is_full = True
    with pytest.raises(StorageDown):
        row_count(body(gzip.compress(WHOLE)), spools)
    assert not spools.open_ones


def test_what_can_be_sought_is_not_copied() -> None:
    spools = FakeSpools()
    spools.is_full = True
    assert row_count(body(WHOLE, Compression.NONE), spools) == ROWS
