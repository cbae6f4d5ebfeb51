"""The committer: it commits everything that the ingest log has accepted."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from service.errors.gateway_error import GatewayError, PartDown
from service.ingest.committing.commit_pace import CommitPace
from service.ingest.committing.commit_round import CommitRound, commit_round
from service.ingest.committing.log_backlog import LogBacklog
from service.ingest.committing.missing_tables import MissingTables
from service.ingest.committing.rewriting import Rewriting
from service.ingest.committing.round_queue import RoundQueue
from service.ingest.committing.waiters import Outcome, Waiters, unsettled
from service.ingest.no_ingest_metrics import NoIngestMetrics
from service.model.ingest.commit_rounds import IngestBacklog
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.writing import TableKey
from service.model.query.lineage import EndedRound
from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock
from service.ports.stores.ingest_log import IngestLog
from service.ports.tables.table_changes import TableCommits
from service.ports.telemetry.ingest_metrics import IngestMetrics
from service.ports.telemetry.lineage import Lineage, NoLineage

log = structlog.get_logger(__name__)
# After each failed round. The remaining ingests are looked up after the next rounds.
_ASKED_AT_ONCE = 20


class Committer:
    """Threads that commit, round by round, what waits in the log, of this process and of others.

    They begin with what a crash has left. When the log or a catalog is down, everything that cannot be
    committed stays in the log, in its order, and is tried again.
    """

    def __init__(
        self,
        ingests: IngestLog,
        commits: TableCommits,
        clock: Clock,
        pace: CommitPace,
        metrics: IngestMetrics | None = None,
        rewriting: Rewriting | None = None,
        lineage: Lineage | None = None,
    ) -> None:
        self._rewriting = rewriting
        self._lineage = lineage or NoLineage()
        self._metrics = metrics or NoIngestMetrics()
        self._log = ingests
        self._commits = commits
        self._clock = clock
        self._pace = pace
        self._waiters = Waiters()
        self._log_backlog = LogBacklog()
        self._queue = RoundQueue(pace)
        self._missing_tables = MissingTables(clock, pace.absence_final_after_ms)
        self._changed = threading.Condition()
        self._closed = threading.Event()
        names = (f"commit-{number}" for number in range(pace.parallel_rounds))
        self._threads = [threading.Thread(target=self._work, name=name, daemon=True) for name in names]
        self._looking = PeriodicWorker("commit-look", self._poll, pace.look_around_ms / 1000)
        for thread in self._threads:
            thread.start()
        self._looking.start()

    @contextmanager
    def expecting(self, keys: Iterable[TableKey]) -> Iterator[None]:
        """Lets rounds of these keys wait for an ingest that is being written, within the pace's interval."""
        expected = tuple(keys)
        with self._changed:
            self._queue.expect(expected)
        try:
            yield
        finally:
            with self._changed:
                self._queue.expect_no_more(expected)
                self._changed.notify_all()

    def follow(self, record: IngestRecord) -> Future[None]:
        """Makes sure that an accepted ingest is committed soon; the future resolves when nothing of it waits.

        Its outcome is in the log. The future also resolves when the committer is closed before.
        """
        settled = self._waiters.wait_for(record)
        self._put(unsettled(record))
        if self._closed.is_set():
            self._waiters.release()
        return settled

    def following(self, ingest_id: UUID) -> Future[None] | None:
        """Returns the future of an ingest that `follow` follows; None: settled, or another replica's."""
        return self._waiters.future_of(ingest_id)

    def settled(self, ingest_id: UUID) -> IngestRecord | None:
        """Returns one of the ingests that were settled here last; None: ask the log."""
        return self._waiters.settled(ingest_id)

    def backlog(self) -> IngestBacklog:
        """Returns what waits, as far as this process knows."""
        with self._changed:
            key_count = self._queue.key_count
        return IngestBacklog(len(self._waiters), key_count, self._oldest_ms())

    @property
    def waiting_count(self) -> int:
        """The number of ingests that wait to be committed, in all replicas and from earlier processes.

        The log has all of them, but was polled a moment ago. The count of this process's own is up to date.
        """
        return max(len(self._waiters), self._log_backlog.ingest_count)

    def close(self, timeout_s: float) -> None:
        """Ends running rounds, if they end in time; everything that waits is left for the next start."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        self._looking.close()
        deadline_ms = self._clock.elapsed_ms() + timeout_s * 1000
        for thread in self._threads:
            thread.join(max(0.0, (deadline_ms - self._clock.elapsed_ms()) / 1000))
        self._looking.close(max(0.0, (deadline_ms - self._clock.elapsed_ms()) / 1000))
        self._waiters.release()

    def _oldest_ms(self) -> int:
        # The log has all of them, but was polled a moment ago, and is not polled while it is down.
        in_log = self._log_backlog.oldest_accepted_at if self.waiting_count else None
        own = self._waiters.oldest_accepted_at()
        return max(self._lags_ms(filter(None, (own, in_log))), default=0)

    def _lags_ms(self, accepted_at: Iterable[datetime]) -> list[int]:
        now = self._clock.now()
        return [max((now - moment) // timedelta(milliseconds=1), 0) for moment in accepted_at]

    def _work(self) -> None:
        while (key := self._next()) is not None:
            self._try_round(key)
            with self._changed:
                self._changed.notify_all()

    def _next(self) -> TableKey | None:
        with self._changed:
            while not self._closed.is_set():
                now_ms = self._clock.elapsed_ms()
                key = self._queue.take(now_ms)
                if key is not None:
                    return key
                due_in_ms = self._queue.due_in_ms(now_ms)
                self._changed.wait(None if due_in_ms is None else max(1, due_in_ms) / 1000)
        return None

    def _try_round(self, key: TableKey) -> None:
        try:
            is_settled = self._round(key)
        except PartDown as down:
            log.warning("commit_postponed", table=str(key.table), branch=key.branch, reason=down.detail)
            self._metrics.round_postponed(down.code)
        except Exception:  # the outermost edge of a worker: other tables must not wait for this fault of ours
            log.exception("commit_crashed", table=str(key.table), branch=key.branch)
            self._metrics.round_postponed(GatewayError.code)
        else:
            with self._changed:
                if is_settled:
                    self._queue.ended(key)
                else:
                    self._queue.pause(key, self._clock.elapsed_ms())
            return
        with self._changed:
            self._queue.failed(key, self._clock.elapsed_ms())

    def _round(self, key: TableKey) -> bool:
        """Returns whether there is nothing more to do for the key at present."""
        started_ms = self._clock.elapsed_ms()
        try:
            ended = commit_round(
                key,
                self._log,
                self._commits,
                self._pace.max_files,
                self._rewriting,
                self._missing_tables,
                self._metrics.failed,
            )
        except Exception:
            # A refused ingest leaves the round, which may go on without it and fail again and again.
            with suppress(PartDown):
                self._settle_known(key)
            raise
        if ended is None:
            return self._is_settled_elsewhere(key)
        took_ms = self._clock.elapsed_ms() - started_ms
        _report(ended, took_ms)
        error_code = None if ended.refusal is None else ended.refusal.code
        self._metrics.round_ended(ended.committable, error_code, took_ms)
        self._lineage.round_ended(EndedRound.of(ended.committable, ended.result, error_code, took_ms))
        if ended.refusal is None:
            accepted_at = self._waiters.accepted_at(ended.committable.ingest_ids)
            self._metrics.committed_after(self._lags_ms(accepted_at))
        self._log_backlog.ended(len(ended.ingest_ids))
        self._waiters.settle(key, ended.ingest_ids, _outcome(ended))
        # A round may not take everything, and more may have arrived while it ran.
        self._put([key])
        return True

    def _is_settled_elsewhere(self, key: TableKey) -> bool:
        """Returns whether no caller here waits for the key: another replica or round took it all."""
        while (ingest_id := self._waiters.oldest(key)) is not None:
            if not self._is_settled(key, ingest_id):
                return False
        return True

    def _settle_known(self, key: TableKey) -> None:
        """Resolves some waiters whose part the log has already settled."""
        for ingest_id in self._waiters.least_asked(key, _ASKED_AT_ONCE):
            self._is_settled(key, ingest_id)

    def _is_settled(self, key: TableKey, ingest_id: UUID) -> bool:
        """Returns whether the log has an outcome for this part; if so, its waiters are resolved."""
        record = self._log.find(ingest_id)
        if record is not None and key in unsettled(record):
            return False
        self._waiters.settle(key, [ingest_id])
        return True

    def _poll(self) -> None:
        try:
            self._put([*self._log_backlog.look(self._log), *self._waiters.keys()])
        except GatewayError as down:
            log.warning("ingest_log_down", reason=down.detail)

    def _put(self, keys: Iterable[TableKey]) -> None:
        with self._changed:
            for key in keys:
                self._queue.put(key, self._clock.elapsed_ms())
            self._changed.notify_all()


def _report(ended: CommitRound, took_ms: int) -> None:
    key, results = ended.committable.key, ended.committable.write_results
    reported = log.bind(
        table=str(key.table),
        branch=key.branch,
        round_id=str(ended.committable.round_id),
        ingests=len(ended.committable.ingest_ids),
        files=sum(len(result.data_files) + len(result.delete_files) for result in results),
        took_ms=took_ms,
    )
    if ended.refusal is not None:
        reported.warning("round_refused", code=ended.refusal.code, reason=ended.refusal.detail)
    elif ended.result is not None:
        reported.info(
            "round_committed", snapshot_id=ended.result.snapshot_id, repeated=ended.result.is_repeated
        )


def _outcome(ended: CommitRound) -> Outcome | None:
    if not ended.is_alike or (ended.result is not None and any(ended.result.late_counts)):
        # The log has the outcome of each ingest.
        return None
    if ended.refusal is not None:
        return Outcome(None, ended.refusal.code, ended.refusal.detail)
    return Outcome(None if ended.result is None else ended.result.snapshot_id)
