"""Distinguishes files of a folder that cannot be read from other failures of a write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.streams.rows import Rows
from service.ingest.distributed.split_reader import Split, SplitReader
from service.model.ingest.sources import SourceSplit
from service.model.ingest.validation_schema import UnreadableFile


class Unreadable(Exception):
    """A part of a file is not in its format, is incomplete, or exceeds the operator's settings.

    Settings are the same for all tasks, and a file's expanded size does not change: a stream would never get
    past it. The reason names the setting. Lack of disk space on an executor is not such an error, but
    StorageDown.
    """


def readable_rows(reader: SplitReader, split: Split) -> Iterator[Rows]:
    """Yields the records of one part.

    Raises, while it is iterated:
        Unreadable: the file is at fault, and a retry would not help.
        GatewayError, OSError: other errors of the reader.
    """
    try:
        yield from reader.rows(split)
    except IngestInvalid as failure:
        raise Unreadable(failure.detail) from failure


def unreadable_files(reader: SplitReader, splits: Sequence[Split]) -> Iterator[UnreadableFile]:
    """Yields the files with an unreadable part; every part is read to its end, and nothing is written."""
    for split in splits:
        assert isinstance(split, SourceSplit), "a body is refused as a whole"
        try:
            for _ in readable_rows(reader, split):
                pass
        except Unreadable as failure:
            yield UnreadableFile(split.file.uri, str(failure))
