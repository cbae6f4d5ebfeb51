"""Large inputs: read and written by executors, brought together here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import SEEK_END
from uuid import UUID

from service.errors import GatewayError, IngestInvalid, RecordsInvalid
from service.ingest.dead_letters import DeadLetters, dead_letter_name
from service.ingest.executing.body_blocks import body_blocks
from service.ingest.executing.split_task import (
    TOLD_AT_MOST,
    BodyBlock,
    OpenedDeadLetters,
    SplitOutcome,
    SplitTask,
)
from service.ingest.reading.plan import ReadPlan, ReadTarget
from service.ingest.write_schema.written_fields import written_fields
from service.ingest_ports import DataFiles, DeadLetterTables, Executors, Sources, SplitOpener
from service.model.committables import write_results_from_bytes
from service.model.ingest import (
    BadRecord,
    Compression,
    InferredColumns,
    IngestRequest,
    OnError,
    RecordFormat,
    Rejected,
    StreamedRecords,
)
from service.model.sources import SourceFile, SourceRecords, SourceSplit, source_splits
from service.model.streams import MicroBatchFiles, MicroBatchRecords
from service.model.writing import Destination, TableKey, WritableTable, WriteResult, WriteTarget
from service.ports import Clock

# How many splits of files each slot gets before the driver looks at what became of them.
_WAVE = 8
# Blocks of a body are in the driver's memory, several times over.
_BODY_WAVE = 2


@dataclass(frozen=True, slots=True)
class LargeBounds:
    """`split_bytes` is how much of a file one task reads, where that is possible; `block_bytes` of a body.

    Bodies of at least `body_bytes` go to executors. `max_bytes` is what a file has in it, decompressed.
    """

    split_bytes: int = 128 * 1024**2
    block_bytes: int = 8 * 1024**2
    body_bytes: int = 256 * 1024**2
    max_bytes: int = 2**40


@dataclass(frozen=True, slots=True)
class LargeInputs:
    """What large inputs are read with."""

    executors: Executors
    sources: Sources
    open_split: SplitOpener
    bounds: LargeBounds

    def takes(self, request: IngestRequest) -> bool:
        """Whether executors write this request."""
        if request.executed is not None:
            return True
        match request.shared:
            case StreamedRecords(record_format=RecordFormat.NDJSON) as body:
                return _byte_count(body) >= self.bounds.body_bytes
            case _:
                return False


@dataclass(frozen=True, slots=True)
class WritePorts:
    """What files are written with."""

    data_files: DataFiles
    dead_letters: DeadLetterTables
    clock: Clock


class ExecutedWrite:
    """One request's files, written by executors. `results` and `rejected` are known when `run` has ended."""

    def __init__(
        self,
        request: IngestRequest,
        ingest_id: UUID,
        destinations: Sequence[Destination],
        ports: WritePorts,
        large: LargeInputs,
    ) -> None:
        if any(each.target.is_upsert for each in destinations):
            raise IngestInvalid("Upserts are not read from sources or streams, nor from bodies of this size.")
        is_inferred = any(isinstance(each.write_schema, InferredColumns) for each in request.writes)
        if request.executed is not None and is_inferred:
            raise IngestInvalid("Of sources and streams no columns are inferred: name them in writeSchema.")
        self._request = request
        self._ingest_id = ingest_id
        self._destinations = tuple(destinations)
        self._ports = ports
        self._large = large
        self._found: dict[WriteTarget, list[WriteResult]] = {each.target: [] for each in destinations}
        self._bad: list[BadRecord] = []
        self._bad_count = 0
        self._row_count = 0
        self.tables: dict[TableKey, WritableTable] = {each.table.key: each.table for each in destinations}

    def run(self) -> None:
        """Writes everything, or deletes what is known of it and raises.

        Raises:
            SourceInvalid, SourceNotAllowed, SourceChanged: the files cannot be read.
            RecordsInvalid: records do not fit, and bad ones reject all.
            ExecutorsFailed, EngineNotReady, EngineLost: the executors could not write them.
        """
        try:
            for outcomes in self._outcomes(self._task()):
                self._take(outcomes)
            self._check()
        except BaseException:
            self.discard()
            raise

    @property
    def results(self) -> list[WriteResult]:
        """One for each target that has rows."""
        merged = (_merged(target, results) for target, results in self._found.items())
        return [each for each in merged if each.record_count]

    @property
    def rejected(self) -> Rejected:
        """The records that did not fit."""
        return Rejected(self._bad_count, tuple(self._bad))

    def discard(self) -> None:
        """Deletes the files that are known; what tasks left that were given up are orphans."""
        for results in self._found.values():
            for each in results:
                with suppress(GatewayError):
                    self._ports.data_files.discard(self.tables[each.target.key], each)

    def _task(self) -> SplitTask:
        fields = tuple(
            ReadTarget(written_fields(each.table.schema, each.target.write_schema_column_ids))
            for each in self._destinations
        )
        return SplitTask(
            ReadPlan(fields, self._request.route),
            self._destinations,
            RecordFormat.NDJSON,
            Compression.NONE,
            self._large.bounds.max_bytes,
            self._large.open_split,
            self._ports.data_files,
            self._letters(),
        )

    def _letters(self) -> DeadLetters | None:
        if self._request.on_error is not OnError.DEAD_LETTER:
            return None
        names = dict.fromkeys(dead_letter_name(each.key.table) for each in self._request.writes)
        opened = {name: self._ports.dead_letters.opened(name) for name in names}
        self.tables |= {each.key: each for each in opened.values()}
        received_at = self._ports.clock.now()
        # Executors cannot make tables.
        return DeadLetters(self._ingest_id, received_at, self._request, OpenedDeadLetters(opened))

    def _outcomes(self, task: SplitTask) -> Iterator[Sequence[SplitOutcome]]:
        match self._request.executed:
            case SourceRecords() as source:
                yield from self._of_files(task, source, self._large.sources.files(source.uri))
            case MicroBatchRecords(batch, left_out):
                yield batch.map(replace(task, left_out=left_out).lines)
            case MicroBatchFiles(batch, source, found, left_out):
                yield from self._of_files(replace(task, left_out=left_out), source, found(batch.files()))
            case None if isinstance(self._request.shared, StreamedRecords):
                for blocks in self._blocks(self._request.shared):
                    yield self._large.executors.map(task, blocks, str(self._ingest_id))
            case None:
                raise AssertionError("nothing that executors write")

    def _of_files(
        self, task: SplitTask, source: SourceRecords, files: Sequence[SourceFile]
    ) -> Iterator[Sequence[SplitOutcome]]:
        for some, splits in self._splits(task, source, files):
            yield self._large.executors.map(some, splits, str(self._ingest_id))

    def _splits(
        self, task: SplitTask, source: SourceRecords, files: Sequence[SourceFile]
    ) -> Iterator[tuple[SplitTask, Sequence[SourceSplit]]]:
        for compression in Compression:
            some = [each for each in files if source.compression_of(each.uri) is compression]
            is_splittable = source.record_format is RecordFormat.NDJSON and compression is Compression.NONE
            splits = source_splits(some, self._large.bounds.split_bytes, is_splittable=is_splittable)
            at_once = self._large.executors.slots * _WAVE
            for start in range(0, len(splits), at_once):
                own = replace(task, record_format=source.record_format, compression=compression)
                yield own, splits[start : start + at_once]

    def _blocks(self, body: StreamedRecords) -> Iterator[Sequence[BodyBlock]]:
        bounds = self._large.bounds
        wave: list[BodyBlock] = []
        for block in body_blocks(body, bounds.block_bytes, bounds.max_bytes):
            wave.append(block)
            if len(wave) >= self._large.executors.slots * _BODY_WAVE:
                yield wave
                wave = []
        if wave:
            yield wave

    def _take(self, outcomes: Sequence[SplitOutcome]) -> None:
        for each in outcomes:
            for result in write_results_from_bytes(each.results) if each.results else ():
                self._found.setdefault(result.target, []).append(result)
            self._bad += each.bad[: TOLD_AT_MOST - len(self._bad)]
            self._bad_count += each.bad_count
            self._row_count += each.row_count
        for each in outcomes:
            if each.failure is not None:
                raise each.failure

    def _check(self) -> None:
        # What has come into a folder may be empty, and a batch has to end.
        if not self._bad_count + self._row_count and self._request.stream_batch is None:
            raise IngestInvalid("There are no records.")
        if self._bad_count and self._request.on_error is OnError.REJECT_REQUEST:
            count = self._bad_count + self._row_count
            raise RecordsInvalid(f"{self._bad_count} of {count} records do not fit.", self._bad)


def _byte_count(body: StreamedRecords) -> int:
    """How much was sent."""
    with body.open() as stream:
        return stream.seek(0, SEEK_END)


def _merged(target: WriteTarget, results: Sequence[WriteResult]) -> WriteResult:
    return WriteResult(
        target,
        tuple(file for each in results for file in each.data_files),
        tuple(file for each in results for file in each.delete_files),
        sum(each.record_count for each in results),
        sum(each.byte_count for each in results),
    )
