"""Reads parts of a large input, on any machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from service.errors.gateway_error import CallerError
from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.arrow.batches import parquet_batches
from service.ingest.decoding.arrow.columnar_rows import columnar_rows
from service.ingest.decoding.present_names import present_names
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.decompressed import decompressed
from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.decoding.streams.rows import Position, Rows
from service.ingest.decoding.streams.sought import sought
from service.ingest.distributed.byte_range import ByteRange
from service.model.ingest.body_splits import BodySplit, RowGroups
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.ingest.sources import SourceRecords, SourceSplit
from service.ports.engine.executors import StagedBody
from service.ports.tables.data_files import Spools
from service.ports.tables.sources import SplitOpener

Split = SourceSplit | BodySplit | RowGroups


@dataclass(frozen=True, slots=True)
class SplitsOfSource:
    """A reader of parts of files; picklable.

    `bounds` apply to each file. `spools` are on the machine that reads.
    """

    plan: ReadPlan
    source: SourceRecords
    open_split: SplitOpener
    bounds: ReadBounds
    spools: Spools

    @property
    def record_format(self) -> RecordFormat:
        """The format of the records."""
        return self.source.record_format

    def rows(self, split: Split) -> Iterator[Rows]:
        """Yields the records of one part.

        Raises, while it is iterated:
            IngestInvalid: it is not in this format, or ends too early.
            SourceChanged, SourceNotAllowed: it is not the file that was listed.
            StorageDown, OSError: the storage does not return it.
        """
        with self._opened(split) as found:
            yield from read_rows(found, self.record_format, self.plan, bounds=self.bounds)

    def names(self, split: Split, known: Sequence[Set[str]]) -> list[set[str]]:
        """Returns the names that its records have, target by target: see `present_names`.

        Raises:
            IngestInvalid, SourceChanged, SourceNotAllowed, StorageDown, OSError: as `rows` does.
        """
        with self._opened(split) as found:
            return present_names(found, self.record_format, self.plan.route, known, self.bounds)

    @contextmanager
    def _opened(self, split: Split) -> Iterator[BinaryIO]:
        assert isinstance(split, SourceSplit)
        with self.open_split(split) as raw:
            compression = self.source.compression_of(split.file.uri)
            stream = _unpacked(raw, compression, self.bounds.body_bytes)
            with sought(stream, self.record_format, self.spools) as found:
                yield found


@dataclass(frozen=True, slots=True)
class SplitsOfBody:
    """A reader of parts of a body; `bounds` apply to each part."""

    plan: ReadPlan
    body: StagedBody
    record_format: RecordFormat
    compression: Compression
    bounds: ReadBounds

    def rows(self, split: Split) -> Iterator[Rows]:
        """Yields the records of one part.

        Raises, while it is iterated:
            IngestInvalid: it is not in this format, or ends too early.
            StorageDown, OSError: it is missing, or the storage does not return it.
        """
        with self.body.open() as raw:
            match split:
                case BodySplit(start, end, first_line, header):
                    stream = _unpacked(raw, self.compression, self.bounds.body_bytes)
                    part = ByteRange.buffered(stream, start, end, header)
                    yield from read_rows(
                        part, self.record_format, self.plan, Position(first_line), self.bounds
                    )
                case RowGroups(start, end, first_row):
                    batches = parquet_batches(raw, self.bounds, range(start, end))
                    yield from columnar_rows(batches, self.plan, Position(first_row))
                case SourceSplit():
                    raise AssertionError("a body is no file of a source")


SplitReader = SplitsOfSource | SplitsOfBody


def place_of(split: Split) -> str:
    """Returns the place of its records; in a body they have only their numbers."""
    match split:
        case SourceSplit(file, start):
            # The number of lines before a later part is unknown.
            return file.uri if start == 0 else f"{file.uri}, lines after byte {start}"
        case _:
            return ""


def of_file(place: str, failure: CallerError) -> CallerError:
    """Returns the failure with the file's name, which the reader does not know.

    >>> of_file("file:///a.csv", IngestInvalid("It ends within a record.")).detail
    'file:///a.csv: It ends within a record.'
    """
    return (
        IngestInvalid(f"{place}: {failure.detail}") if place and type(failure) is IngestInvalid else failure
    )


def _unpacked(raw: BinaryIO, compression: Compression, max_bytes: int) -> BinaryIO:
    return raw if compression is Compression.NONE else decompressed(raw, compression, max_bytes)
