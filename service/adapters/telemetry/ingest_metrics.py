"""Counts ingests in this process, from its start."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from service.model.ingest.commit_rounds import IngestBacklog
from service.model.ingest.ingest import IngestRecord, IngestState
from service.model.ingest.writing import Committable

COMMIT_BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
LAG_BOUNDS_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
MEMBERS_OF_A_ROUND = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000)


class RegisteredIngestMetrics:
    """The `IngestMetrics` port in a registry shared with others. Thread-safe."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._ingests = Counter(
            "sluice_ingests",
            "Ingests: ACCEPTED once they are durable; COMMITTED or FAILED once for each table that they"
            " wrote to.",
            ["state"],
            registry=registry,
        )
        for state in IngestState:
            self._ingests.labels(state.value)
        self._refused = Counter(
            "sluice_ingests_refused",
            "Ingest requests that were refused as a whole, by error code.",
            ["code"],
            registry=registry,
        )
        self._rejected = Counter(
            "sluice_ingest_rejected_records",
            "Records that did not fit and were not written.",
            registry=registry,
        )
        self._rows = Counter("sluice_ingest_rows", "Rows of accepted ingests.", registry=registry)
        self._bytes = Counter(
            "sluice_ingest_bytes", "Bytes of the data files of accepted ingests.", registry=registry
        )
        self._files = Counter("sluice_ingest_files", "Data files of accepted ingests.", registry=registry)
        self._writes = Histogram(
            "sluice_ingest_write_seconds",
            "Time from the start of an ingest until it was accepted.",
            buckets=COMMIT_BOUNDS_S,
            registry=registry,
        )
        self._rounds = _Rounds(registry)
        self._waiting = Gauge(
            "sluice_ingests_waiting", "Ingests of this process that wait for their commit.", registry=registry
        )
        self._waiting_tables = Gauge(
            "sluice_ingest_tables_waiting",
            "Tables and branches with ingests that wait for their commit, whichever gateway accepted them.",
            registry=registry,
        )
        self._oldest = Gauge(
            "sluice_ingest_oldest_seconds",
            "Time since the oldest waiting ingest was accepted, by whichever gateway; 0: no ingest waits.",
            registry=registry,
        )
        self._lags = Histogram(
            "sluice_ingest_commit_lag_seconds",
            "Time from the acceptance of an ingest by this process until it was in a table.",
            buckets=LAG_BOUNDS_S,
            registry=registry,
        )

    def accepted(self, record: IngestRecord) -> None:
        """Counts an ingest that is durable now."""
        targets = [target for commit in record.commits for target in commit.targets]
        self._ingests.labels(IngestState.ACCEPTED.value).inc()
        self._rows.inc(sum(target.record_count for target in targets))
        self._bytes.inc(sum(target.byte_count for target in targets))
        self._files.inc(sum(target.data_file_count for target in targets))
        self._rejected.inc(record.rejected.count)
        self._writes.observe(record.write_ms / 1000)

    def refused(self, code: str) -> None:
        """Counts a request from which nothing was accepted."""
        self._refused.labels(code).inc()

    def rejected(self, record_count: int) -> None:
        """Counts records that did not fit."""
        self._rejected.inc(record_count)

    def round_ended(self, committable: Committable, error_code: str | None, took_ms: int) -> None:
        """Counts a commit round, and its ingests unless it was rejected, with an `error_code`."""
        if error_code is None:
            self._ingests.labels(IngestState.COMMITTED.value).inc(len(committable.ingest_ids))
        self._rounds.count(committable, error_code, took_ms)

    def round_postponed(self, code: str) -> None:
        """Counts a commit round that is tried again, by the code of the error that prevented it."""
        self._rounds.postponed.labels(code).inc()

    def committed_after(self, lags_ms: Sequence[int]) -> None:
        """Records how long ingests waited from their acceptance until they were in a table."""
        for lag in lags_ms:
            self._lags.observe(lag / 1000)

    def failed(self, ingest_count: int) -> None:
        """Counts accepted ingests that one of their tables rejected."""
        self._ingests.labels(IngestState.FAILED.value).inc(ingest_count)

    def backlog(self, backlog: IngestBacklog) -> None:
        """Sets the current backlog."""
        self._waiting.set(backlog.ingest_count)
        self._waiting_tables.set(backlog.key_count)
        self._oldest.set(backlog.oldest_ms / 1000)


class _Rounds:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._committed = Counter(
            "sluice_commit_rounds", "Commit rounds that created a snapshot.", registry=registry
        )
        self._refused = Counter(
            "sluice_commit_rounds_refused",
            "Commit rounds that can never be committed, by error code.",
            ["code"],
            registry=registry,
        )
        self.postponed = Counter(
            "sluice_commit_rounds_postponed",
            "Failed attempts of commit rounds that are tried again, by error code.",
            ["code"],
            registry=registry,
        )
        self._durations = Histogram(
            "sluice_commit_seconds",
            "Duration of a commit round, from the ingest log to the catalog and back.",
            buckets=COMMIT_BOUNDS_S,
            registry=registry,
        )
        self._ingests = Histogram(
            "sluice_commit_round_ingests",
            "Ingests in one commit round.",
            buckets=MEMBERS_OF_A_ROUND,
            registry=registry,
        )
        self._targets = Histogram(
            "sluice_commit_round_write_targets",
            "Write targets (write schemas) in one commit round.",
            buckets=MEMBERS_OF_A_ROUND,
            registry=registry,
        )

    def count(self, committable: Committable, error_code: str | None, took_ms: int) -> None:
        if error_code is not None:
            self._refused.labels(error_code).inc()
            return
        self._committed.inc()
        self._durations.observe(took_ms / 1000)
        self._ingests.observe(len(committable.ingest_ids))
        self._targets.observe(committable.target_count)
