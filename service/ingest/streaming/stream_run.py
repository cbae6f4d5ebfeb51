"""Runs one stream: each of its micro-batches is an ingest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from hashlib import sha256
from itertools import count

from service.errors.gateway_error import GatewayError, PartDown
from service.errors.ingest_errors import RecordsInvalid
from service.errors.policy_errors import TableAccessDenied
from service.errors.query_errors import RequestIdReused
from service.errors.source_errors import GrantRevoked, StreamFailed
from service.errors.unavailable import ShuttingDown
from service.ingest.committing.waiters import unsettled
from service.ingest.ingest_service import Accepted, IngestService
from service.ingest.streaming.batch_progress import BatchProgress
from service.ingest.streaming.creator_policies import CreatorRights
from service.ingest.streaming.stream_creator import creator_of
from service.ingest.write_rights import check_write_rights
from service.model.ingest.ingest import BadRecord, IngestRecord, IngestState
from service.model.ingest.ingest_request import IngestRequest
from service.model.ingest.micro_batches import FoundFiles, MicroBatch, MicroBatchFiles, MicroBatchRecords
from service.model.ingest.streams import (
    BatchDone,
    DirectorySource,
    KafkaSource,
    StreamDefinition,
    StreamRecord,
    batch_request_id,
)
from service.model.ingest.validation_schema import ValidationSchema
from service.model.ingest.writing import TableKey
from service.ports.clock import Clock
from service.ports.engine.stream_queries import RunningStream
from service.ports.stores.stream_store import StreamLease, StreamStore

_LOOK_AROUND_S = 0.2
BatchRecords = MicroBatchRecords | MicroBatchFiles
# A table that changes during every one of these attempts will change during the next one too.
_NEW_ATTEMPTS = 10


class StreamRun:
    """A stream that this replica runs, under a lease.

    A micro-batch is an ingest whose requestId is derived from the checkpoint and the batch. If a batch comes
    again after a crash, it finds its earlier ingest and writes nothing. Where a table did not take its part,
    the next attempt has an id of its own, and leaves out the tables that did. Dead letters are a separate
    ingest, which follows (`BatchProgress`).
    """

    def __init__(
        self,
        record: StreamRecord,
        definition: StreamDefinition,
        lease: StreamLease,
        ingests: IngestService,
        store: StreamStore,
        clock: Clock,
        found: Callable[[Sequence[str]], FoundFiles],
        policies: CreatorRights,
        on_done: Callable[[], None] = lambda: None,
    ) -> None:
        self.record = record
        self.lease = lease
        self.query: RunningStream | None = None
        self.creator = creator_of(record)
        """For whom it writes."""
        self._definition = definition
        self._ingests = ingests
        self._store = store
        self._clock = clock
        self._found = found
        self._policies = policies
        self._on_done = on_done
        self._last_batch_id = record.last_batch_id
        self._stopping = threading.Event()

    def take(self, batch: MicroBatch) -> None:
        """Returns once the batch is in the tables.

        Raises:
            GatewayError: it is not, and will not be until it comes again.
        """
        known = self.record.checkpoint_id
        if known is not None and known != batch.checkpoint_id:
            raise StreamFailed(
                "It is no longer known what this stream has read: its checkpoint is gone, or belongs to"
                " another stream. To continue would write rows again."
            )
        if self._last_batch_id is not None and batch.batch_id <= self._last_batch_id:
            self._check_same(batch)
            return
        done = self._written(batch)
        self._store.done(self.record.stream_id, done)
        self._last_batch_id = batch.batch_id
        self._on_done()

    def check_rights(self) -> None:
        """Checks that the stream's creator may write to all of its tables now.

        Raises:
            GrantRevoked: it may not.
            PoliciesDown: the policies are not known now.
        """
        access = self._policies.access_of(self.creator)
        try:
            check_write_rights(self._definition.writes, self._definition.on_error, access)
        except TableAccessDenied as denied:
            raise GrantRevoked(denied.table) from denied

    def stop(self) -> None:
        """Ends the query, and lets another replica take over the stream."""
        self._stopping.set()
        if self.query is not None:
            self.query.stop()
        self.lease.release()

    def _written(self, batch: MicroBatch) -> BatchDone:
        progress = BatchProgress(self._definition.writes)
        for ended in self._attempts(batch, lambda: self._rows(batch, progress)):
            progress.tried_rows(ended)
        if validation_schema := progress.validation_schema:
            dead_letters = self._attempts(
                batch,
                lambda: self._dead_letters(batch, progress.settled_dead_letters, validation_schema),
                holds_dead_letters=True,
            )
            for ended in dead_letters:
                progress.tried_dead_letters(ended)
        return BatchDone(
            batch.checkpoint_id,
            batch.batch_id,
            self._clock.now(),
            progress.record_count,
            progress.rejected_count,
        )

    def _check_same(self, batch: MicroBatch) -> None:
        """Checks that a batch in the tables is unchanged, because otherwise records would be skipped."""
        request_id = batch_request_id(batch.checkpoint_id, batch.batch_id)
        known = self._ingests.sent_before(request_id, self.record.caller)
        if known is not None and known.fingerprint != self._fingerprint(batch):
            raise _planned_again(batch)

    def _fingerprint(self, batch: MicroBatch) -> str:
        """Returns a fingerprint of the planned batch; for a folder it needs the file names.

        A folder's position is only a number, which may stand for other files.
        """
        if isinstance(self._definition.source, KafkaSource):
            return _planned(batch)
        files = sha256("\n".join(sorted(batch.files())).encode()).hexdigest()
        return f"{_planned(batch)} {files}"

    def _attempts(
        self, batch: MicroBatch, records: Callable[[], BatchRecords], *, holds_dead_letters: bool = False
    ) -> Iterator[IngestRecord]:
        """Yields the result of each attempt, until all tables have taken their part."""
        made = 0
        attempts = count()
        fingerprint = self._fingerprint(batch)
        while made < _NEW_ATTEMPTS:
            attempt = next(attempts)
            request = IngestRequest(
                self._definition.writes,
                fingerprint=fingerprint,
                request_id=batch_request_id(
                    batch.checkpoint_id, batch.batch_id, attempt, holds_dead_letters=holds_dead_letters
                ),
                on_error=self._definition.on_error,
                route=self._definition.route,
                stream_batch=f"{batch.checkpoint_id}/{batch.batch_id}",
                executed=records(),
                origin=self._definition.source.uri,
            )
            try:
                accepted = self._accepted(request)
            except RequestIdReused:
                raise _planned_again(batch) from None
            ended = self._settled(accepted)
            yield ended
            if ended.state is IngestState.COMMITTED:
                return
            # An attempt that is already FAILED here was made by an earlier run, and its cause may have been
            # fixed since. All others wait at first, even those that a crash has left.
            made += accepted.record.state is not IngestState.FAILED
        raise _refused(ended)

    def _accepted(self, request: IngestRequest) -> Accepted:
        access = self._policies.access_of(self.creator)
        try:
            return self._ingests.accept(request, self.record.caller, access)
        except TableAccessDenied as denied:
            raise GrantRevoked(denied.table) from denied
        except RecordsInvalid as refused:
            raise _with_first_reason(refused) from refused

    def _rows(self, batch: MicroBatch, progress: BatchProgress) -> BatchRecords:
        match self._definition.source:
            case DirectorySource(records):
                return MicroBatchFiles(
                    batch,
                    records,
                    self._found,
                    progress.settled,
                    unreadable=progress.unreadable,
                    are_taken=progress.are_taken,
                )
            case KafkaSource():
                return MicroBatchRecords(batch, progress.settled)

    def _dead_letters(
        self, batch: MicroBatch, left_out: frozenset[TableKey], validation_schema: ValidationSchema
    ) -> BatchRecords:
        match self._definition.source:
            case DirectorySource(records):
                return MicroBatchFiles(batch, records, self._found, left_out, validation_schema)
            case KafkaSource():
                return MicroBatchRecords(batch, left_out, validation_schema)

    def _settled(self, accepted: Accepted) -> IngestRecord:
        while not self._stopping.is_set():
            # It polls even without a signal: the log may know an outcome that the committer here does not.
            is_reported = bool(wait([accepted.settled], _LOOK_AROUND_S).done)
            try:
                record = self._ingests.find(accepted.record.ingest_id, self.record.caller)
            except PartDown:
                if is_reported:
                    raise
                continue
            # A failed ingest may still wait for other tables. The next attempt can leave out tables only when
            # all are settled.
            if not unsettled(record):
                return record
            if is_reported:
                # The committer is closing, and the next one commits what waits.
                self._stopping.wait(_LOOK_AROUND_S)
        raise ShuttingDown("The stream is being stopped.")


def _planned(batch: MicroBatch) -> str:
    return f"stream {batch.checkpoint_id} {batch.batch_id} {batch.position()}"


def _planned_again(batch: MicroBatch) -> StreamFailed:
    return StreamFailed(
        f"Batch {batch.batch_id} was ingested before with other records: the stream's checkpoint has gone"
        " back. To continue would lose records. Restore it as it was, or create another stream for the"
        " records that were not read yet."
    )


def _with_first_reason(refused: RecordsInvalid) -> RecordsInvalid:
    """Returns the error with only the first reason: a stream's error has no space for all of them."""
    first = next((violation for violation in refused.violations if isinstance(violation, BadRecord)), None)
    reason = "" if first is None else f" The first: {first.reason}"
    return RecordsInvalid(f"{refused.detail}{reason}", refused.violations, refused.bad_count)


def _refused(ended: IngestRecord) -> GatewayError:
    first = next(commit for commit in ended.commits if commit.error_code is not None)
    return StreamFailed(f"{first.key.table} refused the files: {first.error_detail} ({first.error_code})")
