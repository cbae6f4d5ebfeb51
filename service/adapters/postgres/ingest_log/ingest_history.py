"""Reads many ingests of the log on PostgreSQL at once, and deletes old ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    String,
    and_,
    cast,
    delete,
    exists,
    func,
    or_,
    select,
    tuple_,
)

from service.adapters.postgres.ingest_log.ingest_rows import ingest_record
from service.adapters.postgres.ingest_log.ingest_sums import accepted, failed, rounds, table_ingests
from service.adapters.postgres.ingest_log.ingest_tables import CommitRoundRow, IngestCommitRow, IngestRow
from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.adapters.postgres.shared.pool_use import pool_use
from service.adapters.postgres.shared.postgres_errors import transaction
from service.adapters.postgres.shared.storable import storable
from service.adapters.postgres.streams.stream_tables import StreamRow
from service.model.ingest.ingest import IngestRecord, IngestState
from service.model.ingest.ingest_history import IngestListing, TableIngests
from service.model.operations.usage import PoolUse


class PostgresIngestHistory:
    """The `IngestHistory` port. It has its own connections, so that reading history delays no ingest."""

    def __init__(self, url: str) -> None:
        self._engine = store_engine(url, CONNECTION, pool_size=1, max_overflow=3, pool_timeout=3)

    def ingests(self, listing: IngestListing) -> Sequence[IngestRecord]:
        """A caller's ingests, the newest first.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        place = tuple_(IngestRow.accepted_at, IngestRow.ingest_id)
        statement = select(IngestRow).where(IngestRow.caller == storable(listing.caller))
        if listing.state is not None:
            statement = statement.where(_is_in_state(listing.state))
        if listing.before is not None:
            statement = statement.where(place < (listing.before.accepted_at, listing.before.ingest_id))
        statement = statement.order_by(IngestRow.accepted_at.desc(), IngestRow.ingest_id.desc())
        with transaction(self._engine) as session:
            return [ingest_record(row) for row in session.scalars(statement.limit(listing.limit))]

    def tables(self, since: datetime, table: str | None) -> Sequence[TableIngests]:
        """Every table with an ingest accepted, or a round committed, since then; ordered by name.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        with transaction(self._engine) as session:
            asked = (accepted(since, table), failed(since, table), rounds(since, table))
            return table_ingests(*(session.execute(statement).all() for statement in asked))

    def forget_before(self, moment: datetime, limit: int) -> int:
        """Deletes at most `limit` ingests that ended before then, and returns how many it deleted.

        It keeps ingests with a waiting part, and those of a stream's batch that the stream does not know to
        be done: such a batch may be given again. The files of deleted ingests belong to the table, or are
        orphans.

        Raises:
            MetricsStoreDown: the log does not answer.
        """
        of_checkpoint = cast(StreamRow.checkpoint_id, String) == func.split_part(
            IngestRow.stream_batch, "/", 1
        )
        # A join, because with EXISTS PostgreSQL would search all streams for each ingest.
        old = select(IngestRow.ingest_id).outerjoin(StreamRow, of_checkpoint).order_by(IngestRow.accepted_at)
        old = old.where(_ended_before(moment), _is_forgettable())
        with transaction(self._engine) as session:
            ids = session.scalars(old.limit(limit)).all()
            options = {"synchronize_session": False}
            session.execute(delete(IngestRow).where(IngestRow.ingest_id.in_(ids)), execution_options=options)
            session.execute(
                delete(CommitRoundRow).where(CommitRoundRow.ended_at < moment), execution_options=options
            )
        return len(ids)

    @property
    def pool(self) -> PoolUse:
        """How many of its connections are in use."""
        return pool_use(self._engine)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


def _has(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().where(IngestCommitRow.ingest_id == IngestRow.ingest_id, *conditions)


def _is_in_state(state: IngestState) -> ColumnElement[bool]:
    has_failed = _has(IngestCommitRow.error_code.is_not(None))
    has_uncommitted = _has(IngestCommitRow.snapshot_id.is_(None))
    match state:
        case IngestState.FAILED:
            return has_failed
        case IngestState.COMMITTED:
            return ~has_uncommitted
        case IngestState.ACCEPTED:
            return and_(has_uncommitted, ~has_failed)


def _ended_before(moment: datetime) -> ColumnElement[bool]:
    row = IngestCommitRow
    still_waits = _has(row.snapshot_id.is_(None), row.error_code.is_(None))
    ended_since = exists().where(
        row.ingest_id == IngestRow.ingest_id,
        CommitRoundRow.round_id == row.round_id,
        CommitRoundRow.ended_at >= moment,
    )
    return and_(IngestRow.accepted_at < moment, ~still_waits, ~ended_since)


def _is_forgettable() -> ColumnElement[bool]:
    """Whether Spark cannot give it again as a stream's batch; else only its row says that it was accepted.

    A stream that was stopped in its first batch does not know its checkpoint; only the batch does.
    """
    batch_id = cast(func.split_part(IngestRow.stream_batch, "/", 2), BigInteger)
    return or_(IngestRow.stream_batch.is_(None), StreamRow.last_batch_id >= batch_id)
