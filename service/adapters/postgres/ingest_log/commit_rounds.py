"""Commit rounds of the ingest log on PostgreSQL: one at a time per table and branch, across replicas."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

import structlog
from sqlalchemy import (
    Connection,
    and_,
    func,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from service.adapters.postgres.ingest_log.ingest_tables import IngestCommitRow, IngestRow
from service.adapters.postgres.ingest_log.next_round import RoundSize, WaitingCommit, next_round
from service.adapters.postgres.ingest_log.open_round import OpenRound, is_in_round, is_waiting
from service.adapters.postgres.shared.advisory_lock import advisory_lock
from service.adapters.postgres.shared.connecting import DURABLE, store_engine
from service.adapters.postgres.shared.pool_use import pool_use
from service.committables import write_results_from_bytes
from service.errors.ingest_errors import CommittableUnreadable
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.commit_rounds import PendingRound, RevisedRound, RoundPart, RoundRevision
from service.model.ingest.writing import Committable, TableKey
from service.model.operations.usage import PoolUse
from service.ports.stores.ingest_log import OnRefused
from service.tracing import TraceContext

# A replica that vanished must not keep its locks until TCP gives up, which takes hours.
_KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundBounds:
    """The most that one round has in memory: ingests, and the bytes that describe their files.

    `joined_rows` and `joined_files` bound what an upsert may be compared with, its own included.
    """

    ingests: int = 10_000
    byte_count: int = 64 << 20
    joined_rows: int = 1_000_000
    joined_files: int = 1_000


class PostgresCommitRounds:
    """Hands out rounds under an advisory lock of the connection that runs all of a round's statements.

    The lock goes with its connection, and the holder of the round may not notice at once. Therefore an ingest
    gets its round's id here, once, before anything is committed, and a commit looks for that id.
    """

    def __init__(self, url: str, parallel_rounds: int, bounds: RoundBounds) -> None:
        self._bounds = bounds
        # Every statement is a transaction of its own: the lock is held for as long as a commit takes, and no
        # transaction may be open that long.
        self._engine = store_engine(
            url,
            DURABLE | {"options": f"{DURABLE['options']} {_KEEPALIVE}"},
            pool_size=parallel_rounds,
            pool_timeout=10,
            isolation_level="AUTOCOMMIT",
        )

    @contextmanager
    def round(self, key: TableKey, max_files: int, on_refused: OnRefused) -> Iterator[PendingRound | None]:
        """Implements the port's `round`."""
        try:
            with advisory_lock(self._engine, *_lock_words(key)) as connection:
                if connection is None:
                    yield None
                else:
                    yield _pending(connection, key, max_files, self._bounds, on_refused)
        except SQLAlchemyError as error:
            # The driver's own message may hold the address, the user and the values.
            raise MetricsStoreDown() from error

    @property
    def pool(self) -> PoolUse:
        """How many of its connections are in use."""
        return pool_use(self._engine)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


def _lock_words(key: TableKey) -> tuple[str, ...]:
    return (key.table.catalog, key.table.schema, key.table.table, key.branch)


def _pending(
    connection: Connection, key: TableKey, max_files: int, bounds: RoundBounds, on_refused: OnRefused
) -> PendingRound | None:
    round_id = _open_round(connection, key) or _new_round(connection, key, max_files, bounds)
    return None if round_id is None else _given(connection, key, round_id, on_refused)


def _given(
    connection: Connection, key: TableKey, round_id: UUID, on_refused: OnRefused
) -> PendingRound | None:
    """The round as the log has it now. None: no part of it is waiting any more."""
    members = _members(connection, key, round_id, on_refused)
    if not members:
        return None
    committable = Committable(
        key,
        round_id,
        tuple(member.part.ingest_id for member in members),
        tuple(result for member in members for result in member.part.write_results),
        tuple(member.stream_batch for member in members if member.stream_batch),
    )
    digests = {member.part.ingest_id: member.digest for member in members}
    parts = tuple(member.part for member in members)
    open_round = OpenRound(connection, committable, digests, on_refused, parts)

    def revise(revisions: Sequence[RoundRevision], code: str) -> RevisedRound:
        taken = frozenset(revision.ingest_id for revision in revisions if open_round.revise(revision, code))
        return RevisedRound(taken, open_round.ask(lambda: _given(connection, key, round_id, on_refused)))

    return PendingRound(
        committable,
        open_round.committed,
        open_round.refused,
        open_round.postponed,
        open_round.is_open,
        parts,
        revise,
    )


def _open_round(connection: Connection, key: TableKey) -> UUID | None:
    row = IngestCommitRow
    statement = select(row.round_id).where(is_waiting(key), row.round_id.is_not(None))
    return connection.scalar(statement.order_by(row.arrival).limit(1))


def _new_round(connection: Connection, key: TableKey, max_files: int, bounds: RoundBounds) -> UUID | None:
    row = IngestCommitRow
    size = func.length(row.results)
    columns = (row.arrival, row.layout, row.is_upsert, row.file_count, size, row.record_count)
    statement = select(*columns).where(is_waiting(key))
    found = connection.execute(statement.order_by(row.arrival).limit(bounds.ingests))
    round_size = RoundSize(max_files, bounds.byte_count, bounds.joined_rows, bounds.joined_files)
    members = next_round([WaitingCommit(*row) for row in found], round_size)
    if not members:
        return None
    round_id = uuid4()
    chosen = and_(
        is_waiting(key), row.round_id.is_(None), row.arrival.in_([member.arrival for member in members])
    )
    connection.execute(update(row).where(chosen).values(round_id=round_id))
    return round_id


@dataclass(frozen=True, slots=True)
class _Member:
    """One ingest's part of a round. `digest` is the hash of the bytes that the part was read from."""

    part: RoundPart
    digest: bytes
    stream_batch: str | None


def _members(connection: Connection, key: TableKey, round_id: UUID, on_refused: OnRefused) -> list[_Member]:
    row = IngestCommitRow
    sent = select(row.ingest_id, row.results, IngestRow.stream_batch, IngestRow.traceparent).join(IngestRow)
    statement = sent.where(is_in_round(key, round_id)).order_by(row.arrival)
    members: list[_Member] = []
    for ingest_id, data, stream_batch, traceparent in connection.execute(statement).all():
        try:
            results = write_results_from_bytes(data or b"")
            part = RoundPart(ingest_id, results, TraceContext.of(traceparent))
        except CommittableUnreadable as error:
            log.error("committable_unreadable", ingest_id=str(ingest_id), detail=error.detail)
            is_unreadable = and_(is_in_round(key, round_id), row.ingest_id == ingest_id)
            values = {"error_code": error.code, "error_detail": CommittableUnreadable().detail}
            on_refused(connection.execute(update(row).where(is_unreadable).values(values)).rowcount)
        else:
            members.append(_Member(part, hashlib.sha256(data or b"").digest(), stream_batch))
    return members
