"""Files of a folder that cannot be read, told apart from what else may fail while they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.errors import IngestInvalid
from service.ingest.decoding.streams.rows import Rows
from service.ingest.distributed.split_reader import Split, SplitReader
from service.model.ingest.judged_by import UnreadableFile
from service.model.ingest.sources import SourceSplit


class Unreadable(Exception):
    """A part of a file is not of its form, breaks off, or is more than the operator's settings allow.

    Those are the same for all tasks, and what a file unfolds to does not change: a stream would stand still
    at it. The reason names the setting. What an executor has no disk for is none of this, but StorageDown.
    """


def readable_rows(reader: SplitReader, split: Split) -> Iterator[Rows]:
    """The records of one part.

    Raises, while it is iterated:
        Unreadable: the file is at fault, and so it will be the next time.
        GatewayError, OSError: what else the reader raises.
    """
    try:
        yield from reader.rows(split)
    except IngestInvalid as failure:
        raise Unreadable(failure.detail) from failure


def unreadable_files(reader: SplitReader, splits: Sequence[Split]) -> Iterator[UnreadableFile]:
    """Those of which a part is unreadable; every part is read to its end, and nothing is written."""
    for split in splits:
        assert isinstance(split, SourceSplit), "a body is refused as a whole"
        try:
            for _ in readable_rows(reader, split):
                pass
        except Unreadable as failure:
            yield UnreadableFile(split.file.uri, str(failure))
