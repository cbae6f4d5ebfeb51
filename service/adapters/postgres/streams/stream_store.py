"""The store of streams on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Connection,
    NullPool,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError

from service.adapters.postgres.shared.advisory_lock import lock_number
from service.adapters.postgres.shared.connecting import DURABLE, store_engine
from service.adapters.postgres.shared.pool_use import pool_use
from service.adapters.postgres.shared.postgres_errors import transaction
from service.adapters.postgres.shared.storable import storable
from service.adapters.postgres.streams.stream_tables import StreamRow
from service.errors.gateway_error import GatewayError
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.streams import BatchDone, CreatorRoles, StreamRecord, StreamState
from service.model.operations.usage import PoolUse

# A replica that vanished must not keep its streams until TCP gives up, which takes hours.
_KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
STREAMS_AT_MOST = 10_000


class PostgresStreamStore:
    """The `StreamStore` port; its table must be there (`migrations.upgrade`)."""

    def __init__(self, url: str) -> None:
        self._engine = store_engine(url, DURABLE, pool_size=2, pool_timeout=10)
        # Each lease has a connection of its own, for as long as it is held.
        self._leases = store_engine(
            url,
            DURABLE | {"options": f"{DURABLE['options']} {_KEEPALIVE}"},
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
        )

    def add(self, record: StreamRecord) -> StreamRecord:
        """Keeps a new stream. The first of a caller's with the same `request_id` wins; all get it.

        Raises:
            MetricsStoreDown: the store does not answer; the stream may or may not be in it.
        """
        values = (
            asdict(record)
            | _creator_values(record.creator_roles)
            | {
                "caller": storable(record.caller),
                "name": storable(record.name),
                "state": record.state.value,
            }
        )
        del values["creator_roles"]
        is_first = insert(StreamRow).values(values).on_conflict_do_nothing().returning(StreamRow.stream_id)
        with transaction(self._engine) as session:
            if session.scalar(is_first) is not None:
                return record
        with transaction(self._engine) as session:
            # The winner's transaction has ended: until then, the insert waited.
            is_winner = StreamRow.caller == storable(record.caller), StreamRow.request_id == record.request_id
            return _record(session.scalars(select(StreamRow).where(*is_winner)).one())

    def streams(self, caller: str | None = None, state: StreamState | None = None) -> Sequence[StreamRecord]:
        """The streams of a caller, or in a state, the newest first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        statement = select(StreamRow).order_by(StreamRow.created_at.desc()).limit(STREAMS_AT_MOST)
        if caller is not None:
            statement = statement.where(StreamRow.caller == storable(caller))
        if state is not None:
            statement = statement.where(StreamRow.state == state.value)
        with transaction(self._engine) as session:
            return [_record(scalar) for scalar in session.scalars(statement)]

    def move(
        self,
        stream_id: UUID,
        state: StreamState,
        error: GatewayError | None = None,
        *,
        resumed_by: CreatorRoles | None = None,
    ) -> None:
        """See `service.ports.stores.stream_store.StreamStore`.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        condition = StreamRow.stream_id == stream_id
        if resumed_by is None:
            condition &= StreamRow.state == StreamState.RUNNING.value
        values = _creator_values(resumed_by) | {
            "state": state.value,
            "error_code": None if error is None else error.code,
            "error_detail": None if error is None else storable(error.detail),
        }
        with transaction(self._engine) as session:
            session.execute(update(StreamRow).where(condition).values(values))

    def done(self, stream_id: UUID, batch: BatchDone) -> None:
        """Records that a micro-batch is in the tables; once, however often it is reported.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        row = StreamRow
        is_new = or_(row.last_batch_id.is_(None), row.last_batch_id < batch.batch_id)
        values = {
            "checkpoint_id": batch.checkpoint_id,
            "last_batch_id": batch.batch_id,
            "last_batch_at": batch.at,
            "batch_count": row.batch_count + 1,
            "record_count": row.record_count + batch.record_count,
            "rejected_count": row.rejected_count + batch.rejected_count,
        }
        with transaction(self._engine) as session:
            session.execute(update(row).where(row.stream_id == stream_id, is_new).values(values))

    def lease(self, stream_id: UUID) -> PostgresStreamLease | None:
        """Returns the right to run the stream. None: another replica has it.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        number = lock_number("stream", str(stream_id))
        try:
            connection = self._leases.connect()
            try:
                if connection.scalar(select(func.pg_try_advisory_lock(number))):
                    return PostgresStreamLease(connection)
            except BaseException:
                connection.close()
                raise
        except SQLAlchemyError as error:
            raise MetricsStoreDown() from error
        connection.close()
        return None

    @property
    def pool(self) -> PoolUse:
        """How many of its connections are in use."""
        return pool_use(self._engine)

    def close(self) -> None:
        """Closes all connections but those of leases."""
        self._engine.dispose()
        self._leases.dispose()


class PostgresStreamLease:
    """An advisory lock, which goes with its connection. Used by one thread at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def is_held(self) -> bool:
        """Whether this replica still holds it."""
        try:
            return self._connection.scalar(select(1)) == 1
        except SQLAlchemyError:
            return False

    def release(self) -> None:
        """Lets another replica have it."""
        try:
            self._connection.close()
        except SQLAlchemyError:
            self._connection.invalidate()


def _record(row: StreamRow) -> StreamRecord:
    return StreamRecord(
        stream_id=row.stream_id,
        caller=row.caller,
        name=row.name,
        body=row.body,
        created_at=row.created_at.astimezone(UTC),
        state=StreamState(row.state),
        error_code=row.error_code,
        error_detail=row.error_detail,
        checkpoint_id=row.checkpoint_id,
        last_batch_id=row.last_batch_id,
        last_batch_at=_utc(row.last_batch_at),
        batch_count=row.batch_count,
        record_count=row.record_count,
        rejected_count=row.rejected_count,
        request_id=row.request_id,
        fingerprint=row.fingerprint,
        creator_roles=_creator_roles(row),
    )


def _creator_values(creator: CreatorRoles | None) -> dict[str, Any]:
    """Returns the columns of who the creator is; none if that stays as it is."""
    if creator is None:
        return {}
    return {
        "principal_kind": creator.kind,
        "roles": [storable(role) for role in sorted(creator.roles)],
        "key_id": creator.key_id,
    }


def _creator_roles(row: StreamRow) -> CreatorRoles | None:
    if row.principal_kind is None or row.roles is None:
        return None
    return CreatorRoles(row.principal_kind, frozenset(row.roles), row.key_id)


def _utc(at: datetime | None) -> datetime | None:
    return None if at is None else at.astimezone(UTC)
