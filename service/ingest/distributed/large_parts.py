"""Divides a large input among tasks, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS, ReadBounds
from service.ingest.distributed.split_body import body_splits
from service.ingest.distributed.split_reader import Split, SplitReader, SplitsOfBody, SplitsOfSource
from service.ingest.distributed.task_count import in_groups, task_count
from service.model.ingest.ingest_request import StreamedRecords
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.ingest.sources import SourceFile, SourceRecords, SourceSplit, source_splits
from service.model.ingest.writing import WritableTable
from service.ports.engine.executors import Executors, StagedBodies
from service.ports.tables.data_files import Spools
from service.ports.tables.sources import Sources, SplitOpener

# The cost of opening a file, in bytes that could be read in the same time.
_OPENING_BYTES = 4 * 1024**2
# The size of a text as a multiple of its compressed size, about.
_UNPACKED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeBounds:
    """The bounds of large inputs.

    `split_bytes` is the least that one task gets, where an input can be split. Bodies of at least
    `body_bytes` go to executors. `upsert_bytes` is the memory for rows of an upsert in a task.
    `source_reading` and `body_reading` bound the expanded size of each file of a source, and of a body, and
    the length of their lines.
    """

    split_bytes: int = 128 * 1024**2
    body_bytes: int = 256 * 1024**2
    upsert_bytes: int = 128 * 1024**2
    source_reading: ReadBounds = DEFAULT_BOUNDS
    body_reading: ReadBounds = DEFAULT_BOUNDS


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeInputs:
    """The ports and bounds for large inputs; `spools` are on the executors, and picklable."""

    executors: Executors
    sources: Sources
    open_split: SplitOpener
    bodies: StagedBodies
    spools: Spools
    bounds: LargeBounds


@dataclass(frozen=True, slots=True)
class LargeParts:
    """Consecutive parts grouped by the task that reads them; `byte_count` estimates the content of all."""

    reader: SplitReader
    groups: Sequence[tuple[Split, ...]]
    byte_count: int


def parts_of_files(
    files: Sequence[SourceFile],
    source: SourceRecords,
    plan: ReadPlan,
    large: LargeInputs,
    target_bytes: int,
) -> LargeParts:
    """Returns the parts of all files, in the order of the files."""
    is_lines = source.record_format is RecordFormat.NDJSON
    splits = [
        split
        for file in files
        for split in source_splits(
            [file],
            large.bounds.split_bytes,
            is_splittable=is_lines and source.compression_of(file.uri) is Compression.NONE,
        )
    ]
    weights = [max(_byte_count(split, source), _OPENING_BYTES) for split in splits]
    count = task_count(sum(weights), large.executors.slots, target_bytes, large.bounds.split_bytes)
    reader = SplitsOfSource(plan, source, large.open_split, large.bounds.source_reading, large.spools)
    byte_count = sum(_byte_count(split, source) for split in splits)
    return LargeParts(reader, in_groups(splits, weights, count), byte_count)


@contextmanager
def parts_of_body(
    body: StreamedRecords, plan: ReadPlan, large: LargeInputs, target_bytes: int, table: WritableTable
) -> Iterator[LargeParts]:
    """Returns the parts of a body, readable until the context ends.

    The body may be stored beside this table's files.

    Raises:
        IngestInvalid: the body is not compressed in this way, or holds too much.
        StorageDown: there is no space for it.
    """
    bounds = large.bounds

    def count(byte_count: int) -> int:
        return task_count(byte_count, large.executors.slots, target_bytes, bounds.split_bytes)

    splits, byte_count = body_splits(body, count, bounds.split_bytes, bounds.body_reading)
    with large.bodies.staged(body, table) as staged:
        reader = SplitsOfBody(plan, staged, body.record_format, body.compression, bounds.body_reading)
        yield LargeParts(reader, [(split,) for split in splits], byte_count)


def _byte_count(split: SourceSplit, source: SourceRecords) -> int:
    sent = (split.file.byte_count if split.end is None else split.end) - split.start
    is_packed = source.compression_of(split.file.uri) is not Compression.NONE
    return sent * (_UNPACKED if is_packed else 1)
