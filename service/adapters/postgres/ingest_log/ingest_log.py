"""The ingest log on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from uuid import UUID

from sqlalchemy import ColumnElement, func, insert, select
from sqlalchemy.orm import Session

from service.adapters.clock import SystemClock
from service.adapters.postgres.ingest_log.accepting import accepting
from service.adapters.postgres.ingest_log.commit_rounds import PostgresCommitRounds, RoundBounds
from service.adapters.postgres.ingest_log.ingest_rows import commit_values, ingest_record, ingest_values
from service.adapters.postgres.ingest_log.ingest_tables import IngestCommitRow, IngestRow
from service.adapters.postgres.shared.connecting import DURABLE, store_engine
from service.adapters.postgres.shared.outage import Outage
from service.adapters.postgres.shared.pool_use import pool_use
from service.adapters.postgres.shared.postgres_errors import answering, transaction
from service.adapters.postgres.shared.storable import storable
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.commit_rounds import PendingRound, WaitingIngests
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.writing import TableKey, WriteResult
from service.model.operations.usage import PoolUse
from service.model.tables.tables import TableName
from service.ports.stores.ingest_log import OnRefused, count_nothing

KEYS_AT_ONCE = 1_000
DEFAULT_BOUNDS = RoundBounds()
SILENT_AT_MOST_S = 6
"""Callers wait for these statements, which may be repeated, so the limit is lower than elsewhere."""
COMMITS_AT_ONCE = 16
"""For more tables, the rows follow the ingest's row in the same transaction."""


class PostgresIngestLog:
    """The `IngestLog` port; the tables must be there (`migrations.upgrade`).

    `parallel_rounds` is how many rounds may be open at once in this process; each has its own connection.
    Statements that callers wait for are repeated through an `outage`. Those of rounds are not: the holder of
    a round tries again.
    """

    def __init__(
        self,
        url: str,
        connections: int = 8,
        parallel_rounds: int = 4,
        round_bounds: RoundBounds = DEFAULT_BOUNDS,
        outage: Outage | None = None,
    ) -> None:
        self._outage = outage or Outage(0, SystemClock())
        self._engine = store_engine(
            url, DURABLE, silent_at_most_s=SILENT_AT_MOST_S, pool_size=connections, pool_timeout=10
        )
        # For single statements, each a transaction of its own.
        self._at_once = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._rounds = PostgresCommitRounds(url, parallel_rounds, round_bounds)

    def accept(self, record: IngestRecord, results: Sequence[WriteResult]) -> IngestRecord:
        """Keeps the ingest durably; from now on it will be committed, whatever happens to this process.

        The exception is a table that changes so that the ingest cannot be committed; its `IngestState` then
        reports that. The first of a caller's requests with the same `request_id` wins: all get its record.

        Raises:
            MetricsStoreDown: the log does not answer; the ingest may or may not be in it.
        """
        ingest, commits = ingest_values(record), commit_values(record, results)
        # If an attempt's answer was lost, the next attempt finds its row under the same id.
        return self._outage.outlast(lambda: self._accept_once(record, ingest, commits))

    def find(self, ingest_id: UUID) -> IngestRecord | None:
        """Returns the ingest as it is now.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        return self._outage.outlast(lambda: self._found(IngestRow.ingest_id == ingest_id))

    def find_request(self, caller: str, request_id: UUID) -> IngestRecord | None:
        """Returns the same, by the id that this caller gave the request.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        return self._outage.outlast(lambda: self._found(_is_request(caller, request_id)))

    def waiting(self) -> WaitingIngests:
        """Everything that waits to be committed, at all replicas. An ingest of several tables counts once.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        row = IngestCommitRow
        key = (row.catalog, row.schema, row.table_name, row.branch)
        is_waiting = row.snapshot_id.is_(None) & row.error_code.is_(None)
        ingests = select(func.count(row.ingest_id.distinct())).where(is_waiting).correlate(None)
        oldest = select(row.ingest_id).where(is_waiting).order_by(row.arrival).limit(1).correlate(None)
        oldest_at = select(IngestRow.accepted_at).where(IngestRow.ingest_id == oldest.scalar_subquery())
        statement = (
            select(ingests.scalar_subquery(), oldest_at.scalar_subquery(), *key)
            .where(is_waiting)
            .group_by(*key)
            .order_by(func.min(row.arrival))
            .limit(KEYS_AT_ONCE)
        )
        with transaction(self._engine) as session:
            found = session.execute(statement).all()
        if not found:
            return WaitingIngests([], 0)
        keys = [TableKey(TableName(*table), branch) for _, _, *table, branch in found]
        ingest_count, accepted_at, *_ = found[0]
        return WaitingIngests(keys, ingest_count, accepted_at)

    def round(
        self, key: TableKey, max_files: int, on_refused: OnRefused = count_nothing
    ) -> AbstractContextManager[PendingRound | None]:
        """Opens a round of all that waits for one table and branch; no other process has it while it is open.

        None: nothing waits, or another replica has the round. A round that a crash left open is handed out
        again, with the same id and the same files, before any new one. `on_refused` receives how many of its
        ingests are rejected, including those that cannot be read any more.

        Raises:
            MetricsStoreDown: the log does not answer.
            CommittableVersionUnknown: a newer gateway wrote what waits.
        """
        return self._rounds.round(key, max_files, on_refused)

    @property
    def pool(self) -> PoolUse:
        """How many of its connections are in use."""
        return pool_use(self._engine)

    @property
    def rounds_pool(self) -> PoolUse:
        """How many connections of commit rounds are in use; each round holds one."""
        return self._rounds.pool

    def close(self) -> None:
        """Closes all connections."""
        self._rounds.close()
        self._engine.dispose()

    def _found(self, condition: ColumnElement[bool]) -> IngestRecord | None:
        with transaction(self._engine) as session:
            return _one(session, condition)

    def _accept_once(
        self, record: IngestRecord, ingest: Mapping[str, object], commits: Sequence[Mapping[str, object]]
    ) -> IngestRecord:
        with answering():
            if self._accept(ingest, commits):
                return record
        with transaction(self._engine) as session:
            # The winner's transaction has ended: until then, the insert waited.
            return self._winner(session, record)

    def _accept(self, ingest: Mapping[str, object], commits: Sequence[Mapping[str, object]]) -> bool:
        if len(commits) <= COMMITS_AT_ONCE:
            statement, parameters = accepting(ingest, commits)
            with self._at_once.connect() as connection:
                return connection.scalar(statement, parameters) is not None
        first, parameters = accepting(ingest, [])
        with self._engine.begin() as connection:
            if connection.scalar(first, parameters) is None:
                return False
            connection.execute(insert(IngestCommitRow), commits)
            return True

    def _winner(self, session: Session, record: IngestRecord) -> IngestRecord:
        by_request = record.request_id and _one(session, _is_request(record.caller, record.request_id))
        winner = by_request or _one(session, IngestRow.ingest_id == record.ingest_id)
        if winner is None:
            # Deleted in the meantime by the cleanup of old ingests.
            raise MetricsStoreDown
        return winner


def _is_request(caller: str, request_id: UUID) -> ColumnElement[bool]:
    return (IngestRow.caller == storable(caller)) & (IngestRow.request_id == request_id)


def _one(session: Session, condition: ColumnElement[bool]) -> IngestRecord | None:
    row = session.scalars(select(IngestRow).where(condition)).one_or_none()
    return ingest_record(row) if row else None
