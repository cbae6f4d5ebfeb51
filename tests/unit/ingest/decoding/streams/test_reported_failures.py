"""Faults of a body are the sender's to fix; failures of storage or memory are not."""

from __future__ import annotations

import errno
import gzip
import io
from collections.abc import Callable
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.errors.ingest_errors import IngestInvalid
from service.errors.unavailable import StorageDown
from service.ingest.decoding.arrow.batches import arrow_batches, parquet_batches, parquet_row_groups
from service.ingest.decoding.streams.decompressed import decompressed
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS
from service.ingest.decoding.streams.sought import sought
from service.model.ingest.record_formats import Compression, RecordFormat
from tests.fakes.spools import FakeSpools

ROWS = pa.table({"id": pa.array(range(50_000)), "note": [str(number) for number in range(50_000)]})
Reading = Callable[[BinaryIO], object]


class Failing(io.BytesIO):
    """Returns its data up to a position, and fails there."""

    def __init__(self, data: bytes, place: int, failure: Exception) -> None:
        super().__init__(data)
        self._place = place
        self._failure = failure

    def read(self, size: int | None = -1, /) -> bytes:
        begin = self.tell()
        found = super().read(size)
        if begin <= self._place < begin + len(found):
            raise self._failure
        return found


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(ROWS, sink, compression="snappy", use_dictionary=False)
    return sink.getvalue()


def arrow() -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, ROWS.schema) as writer:
        writer.write_table(ROWS, max_chunksize=10_000)
    return sink.getvalue()


def packed_parquet() -> bytes:
    return gzip.compress(parquet())


def rows_of_packed(stream: BinaryIO) -> object:
    with sought(unpacked(stream), RecordFormat.PARQUET, FakeSpools()) as found:
        return list(parquet_batches(found, DEFAULT_BOUNDS))


def unpacked(stream: BinaryIO) -> BinaryIO:
    return decompressed(stream, Compression.GZIP, 2**30)


WAYS: list[tuple[Callable[[], bytes], Reading]] = [
    (parquet, lambda stream: list(parquet_batches(stream, DEFAULT_BOUNDS))),
    (packed_parquet, rows_of_packed),
    (arrow, lambda stream: list(arrow_batches(stream, DEFAULT_BOUNDS))),
    (packed_parquet, lambda stream: unpacked(stream).read()),
]


@pytest.mark.parametrize(("made", "reading"), WAYS)
@pytest.mark.parametrize("number", [errno.EIO, errno.ETIMEDOUT, errno.ENOSPC])
def test_what_a_body_lies_on_may_fail_and_it_is_not_the_bodys_fault(
    made: Callable[[], bytes], reading: Reading, number: int
) -> None:
    body = made()
    for place in (5, len(body) // 3, len(body) - 1):
        failure = OSError(number, "the system's own words")
        with pytest.raises(StorageDown) as reported:
            reading(cast(BinaryIO, Failing(body, place, failure)))
        assert "words" not in reported.value.detail


def test_so_it_is_where_only_its_row_groups_are_counted() -> None:
    body = parquet()
    with pytest.raises(StorageDown):
        parquet_row_groups(cast(BinaryIO, Failing(body, len(body) - 1, OSError(errno.EIO, ""))))


@pytest.mark.parametrize(("made", "reading"), WAYS)
def test_errors_that_are_the_gateways_own_already_stay_what_they_are(
    made: Callable[[], bytes], reading: Reading
) -> None:
    body = made()
    with pytest.raises(StorageDown, match="does not answer"):
        reading(cast(BinaryIO, Failing(body, len(body) // 3, StorageDown("The storage does not answer."))))


@pytest.mark.parametrize(("made", "reading"), WAYS)
def test_too_little_memory_is_nobodys_fault(made: Callable[[], bytes], reading: Reading) -> None:
    body = made()
    for failure in (MemoryError(), pa.ArrowMemoryError("malloc of size 64 failed")):
        with pytest.raises(MemoryError):
            reading(cast(BinaryIO, Failing(body, len(body) // 3, failure)))


@pytest.mark.parametrize(("made", "reading"), WAYS)
def test_what_is_damaged_is_the_senders(made: Callable[[], bytes], reading: Reading) -> None:
    body = made()
    middle = len(body) // 3
    for damaged in (
        body[:middle],
        body[:middle] + b"\xff" * 64 + body[middle + 64 :],
        b"rubbish",
        b"\xff" * 99,
    ):
        with pytest.raises(IngestInvalid):
            reading(io.BytesIO(damaged))


def test_a_place_where_no_file_can_be_is_one_that_the_data_names() -> None:
    failure = OSError(errno.EINVAL, "Invalid argument")
    with pytest.raises(IngestInvalid):
        list(parquet_batches(cast(BinaryIO, Failing(parquet(), 500, failure)), DEFAULT_BOUNDS))
