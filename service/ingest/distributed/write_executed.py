"""Large inputs: executors read and write them, and their results are combined here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import UUID

from service.committables import write_results_to_bytes
from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid
from service.ingest.dead_letters.dead_letters import (
    DeadLetters,
    DeadLetterSink,
    DeadLettersOf,
    DeferredDeadLetters,
)
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.distributed.folder_batch import (
    dead_letters_of_files,
    names_in_folder,
    without_names,
    write_readable,
)
from service.ingest.distributed.large_parts import LargeInputs, LargeParts, parts_of_body, parts_of_files
from service.ingest.distributed.sorted_rows import MAX_REPORTED, SplitOutcome
from service.ingest.distributed.split_task import OpenedDeadLetters, SplitTask
from service.ingest.distributed.task_runs import TaskRuns, results_of
from service.ingest.joined_routes import joined_routes
from service.ingest.read_target import read_target
from service.ingest.write_schema.written_fields import written_fields
from service.model.ingest.ingest import BadRecord, OnError, Rejected
from service.model.ingest.ingest_request import IngestRequest, StreamedRecords
from service.model.ingest.micro_batches import MicroBatchFiles, MicroBatchRecords
from service.model.ingest.sources import SourceFile, SourceRecords
from service.model.ingest.validation_schema import ReadAs, UnreadableFile, ValidatedSchemas
from service.model.ingest.writing import Destination, TableKey, WritableTable, WriteResult, WriteTarget
from service.model.tables.dead_letter_names import dead_letter_name
from service.ports.clock import Clock
from service.ports.tables.data_files import DataFiles
from service.ports.tables.table_changes import DeadLetterTables


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePorts:
    """The ports for writing files."""

    data_files: DataFiles
    dead_letters: DeadLetterTables
    clock: Clock


class ExecutedWrite:
    """Files of one request, written by executors; `results` and `rejected` are known once `run` has ended.

    `files` are the files of a source, if they were already found.
    """

    def __init__(
        self,
        request: IngestRequest,
        ingest_id: UUID,
        destinations: Sequence[Destination],
        ports: WritePorts,
        large: LargeInputs,
        files: Sequence[SourceFile] | None = None,
    ) -> None:
        self._files = files
        self._request = request
        self._ingest_id = ingest_id
        self._runs = TaskRuns(
            large=large,
            ingest_id=ingest_id,
            # An ingest of dead letters alone appends them, whatever the rows are.
            is_keyed=request.validation_schema is None
            and any(destination.target.is_upsert for destination in destinations),
            discard=self._discard,
        )
        self._destinations = tuple(destinations)
        self._ports = ports
        self._large = large
        self._found: dict[WriteTarget, list[WriteResult]] = {}
        self._bad: list[BadRecord] = []
        self._bad_count = 0
        self._row_count = 0
        self._unreadable: tuple[UnreadableFile, ...] = ()
        self.tables: dict[TableKey, WritableTable] = {
            destination.table.key: destination.table for destination in destinations
        }

    def run(self) -> None:
        """Writes everything; or deletes the known files, and raises.

        Raises:
            SourceInvalid, SourceNotAllowed, SourceChanged: the files cannot be read.
            RecordsInvalid: records do not fit, and one bad record rejects all.
            IngestInvalid: the input is not in its format, or an upsert has too many rows.
            StorageDown: a body cannot be put where executors find it.
            ExecutorsFailed, EngineNotReady, EngineLost: the executors could not write them.
            StreamFailed: a file cannot be read, though other tables already have its rows.
        """
        try:
            self._take(self._outcomes())
            self._check()
        except BaseException:
            self.discard()
            raise

    @property
    def results(self) -> list[WriteResult]:
        """One result for each target that has rows, in the order of the request's writes."""
        targets = dict.fromkeys((*(destination.target for destination in self._destinations), *self._found))
        merged = (WriteResult.merged(target, self._found.get(target, ())) for target in targets)
        return [result for result in merged if not result.is_empty]

    @property
    def rejected(self) -> Rejected:
        """The records that did not fit; none for dead letters alone, as they were reported with the rows."""
        if self._request.validation_schema is not None:
            return Rejected()
        return Rejected(self._bad_count, tuple(self._bad))

    @property
    def validated_schemas(self) -> ValidatedSchemas | None:
        """The fields that the records were read as, if dead letters follow."""
        is_later = self._has_dead_letters_later and self._bad_count
        if not is_later:
            return None
        reads = tuple(
            ReadAs(target.fields, target.partition, target.deletes, target.rest) for target in self._targets()
        )
        return ValidatedSchemas(reads, self._unreadable)

    def discard(self) -> None:
        """Deletes the known files; files of abandoned tasks are orphans."""
        for results in self._found.values():
            self._discard(results)

    def _discard(self, results: Sequence[WriteResult]) -> None:
        for result in results:
            with suppress(GatewayError):
                self._ports.data_files.discard(self.tables[result.target.key], result)

    def _outcomes(self) -> Sequence[SplitOutcome]:
        has_rows = self._request.validation_schema is None
        task = SplitTask(self._destinations, self._ports.data_files, self._dead_letters(), has_rows=has_rows)
        match self._request.executed:
            case MicroBatchRecords(batch, left_out, _):
                return self._runs.of_messages(replace(task, left_out=left_out), batch, self._plan())
            case MicroBatchFiles() as folder:
                return self._of_folder(replace(task, left_out=folder.left_out), folder)
            case SourceRecords() as source:
                files = self._large.sources.files(source.uri) if self._files is None else self._files
                return self._runs.of_parts(task, self._parts_of(source, files))
            case None:
                body = self._request.shared
                assert isinstance(body, StreamedRecords), "nothing that executors write"
                table = self._destinations[0].table
                with parts_of_body(body, self._plan(), self._large, self._target_bytes, table) as parts:
                    return self._runs.of_parts(task, parts)

    def _of_folder(self, task: SplitTask, folder: MicroBatchFiles) -> Sequence[SplitOutcome]:
        source, validation_schema = folder.records, self._request.validation_schema
        unreadable = folder.unreadable if validation_schema is None else validation_schema.unreadable
        # A file that is a dead letter, or becomes one, may have been removed.
        names = names_in_folder(folder.batch.files(), source.uri)
        found = folder.found(without_names(names, unreadable))

        def mapped(task: SplitTask, files: Sequence[SourceFile]) -> Sequence[SplitOutcome]:
            return self._runs.of_parts(task, self._parts_of(source, files))

        if self._has_dead_letters_later:
            written = write_readable(
                task,
                found,
                mapped,
                lambda outcome: self._discard(results_of(outcome)),
                are_taken=folder.are_taken,
            )
            self._unreadable = written.unreadable
            return written.outcomes
        outcomes = mapped(task, found.all())
        if validation_schema is None or task.dead_letters is None:
            return outcomes
        write = None if self._request.route else 0
        pairs = dead_letters_of_files(task.dead_letters, unreadable, source.record_format, write)
        wanted = (pair for pair in pairs if pair[0].target.key not in task.left_out)
        dead_letters = self._ports.data_files.write_all(wanted)
        return [*outcomes, SplitOutcome(write_results_to_bytes(dead_letters))]

    def _parts_of(self, source: SourceRecords, files: Sequence[SourceFile]) -> LargeParts:
        return parts_of_files(files, source, self._plan(), self._large, self._target_bytes)

    @property
    def _target_bytes(self) -> int:
        # An ingest of dead letters alone has only their tables.
        tables = [destination.table for destination in self._destinations] or self.tables.values()
        return min(map(self._ports.data_files.target_bytes, tables))

    def _plan(self) -> ReadPlan:
        targets = tuple(self._targets())
        # An ingest of dead letters alone has no destinations, and its route stays as it is.
        return ReadPlan(targets, joined_routes(self._request.route, self._destinations, targets))

    def _targets(self) -> Iterator[ReadTarget]:
        if self._request.validation_schema is not None:
            for read in self._request.validation_schema.reads:
                yield ReadTarget(read.fields, partition=read.partition, deletes=read.deletes, rest=read.rest)
            return
        for write, destination in zip(self._request.writes, self._destinations, strict=True):
            written = written_fields(destination.table.schema, destination.target.write_schema_column_ids)
            yield read_target(write, destination, written, self._large.bounds.body_reading.rest_bytes)

    @property
    def _has_dead_letters_later(self) -> bool:
        """Whether the dead letters of a micro-batch follow, by an ingest of their own.

        The state of a table decides which records are rows and which are dead letters. If both were committed
        side by side and one of them were refused, another try would decide by another state: a record could
        end up in both, or in neither.
        """
        is_batch = isinstance(self._request.executed, MicroBatchRecords | MicroBatchFiles)
        has_dead_letters = self._request.on_error is OnError.DEAD_LETTER
        return is_batch and has_dead_letters and self._request.validation_schema is None

    def _dead_letters(self) -> DeadLetterSink | None:
        if self._request.on_error is not OnError.DEAD_LETTER:
            return None
        if self._has_dead_letters_later:
            return DeferredDeadLetters()
        validation_schema = self._request.validation_schema
        if validation_schema is None:
            return self._opened_dead_letters(range(len(self._request.writes)))
        # Records without a route go to the dead letters of the first write.
        return DeadLettersOf(
            self._opened_dead_letters(sorted(validation_schema.writes | {0})), validation_schema.writes
        )

    def _opened_dead_letters(self, writes: Iterable[int]) -> DeadLetters:
        names = dict.fromkeys(dead_letter_name(self._request.writes[write].key.table) for write in writes)
        opened = {name: self._ports.dead_letters.opened(name) for name in names}
        self.tables |= {table.key: table for table in opened.values()}
        received_at = self._ports.clock.now()
        # Executors cannot create tables.
        return DeadLetters(self._ingest_id, received_at, self._request, OpenedDeadLetters(opened))

    def _take(self, outcomes: Sequence[SplitOutcome]) -> None:
        for outcome in outcomes:
            for result in results_of(outcome):
                self._found.setdefault(result.target, []).append(result)
            self._bad += outcome.bad[: MAX_REPORTED - len(self._bad)]
            self._bad_count += outcome.bad_count
            self._row_count += outcome.row_count
        for outcome in outcomes:
            if outcome.failure is not None:
                raise outcome.failure

    def _check(self) -> None:
        # New files in a folder may be empty, and the batch must end all the same.
        if not self._bad_count + self._row_count and self._request.stream_batch is None:
            raise IngestInvalid("There are no records.")
        if self._bad_count and self._request.on_error is OnError.REJECT_REQUEST:
            count = self._bad_count + self._row_count
            reported = f"{self._bad_count} of {count} records do not fit."
            raise RecordsInvalid(reported, self._bad, self._bad_count)
