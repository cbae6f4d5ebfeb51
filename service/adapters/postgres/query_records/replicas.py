"""Replicas and their open queries on PostgreSQL, whose clock is the only one that counts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Select,
    Table,
    case,
    delete,
    event,
    exists,
    func,
    null,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.sql.dml import ReturningInsert

from service.adapters.postgres.query_records.metrics_rows import query_values
from service.adapters.postgres.query_records.progress_json import progress_json, progress_report
from service.adapters.postgres.query_records.take_lost import (
    NOW,
    OPEN_QUERIES,
    QUERIES,
    REPLICAS,
    has_open_queries,
    milliseconds,
    take_lost,
)
from service.adapters.postgres.shared.advisory_lock import lock_key, lock_number
from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.adapters.postgres.shared.postgres_errors import answering
from service.adapters.postgres.shared.storable import storable
from service.errors.query_errors import ReplicaLost
from service.model.query.history import MAX_SQL_CHARACTERS, QueryListing, QuerySummary, summary_of
from service.model.query.query import QueryRecord, QueryState
from service.model.query.replicas import (
    BegunRequest,
    Decided,
    OpenQuery,
    ProgressReport,
    Replica,
    SeenReplica,
)

# If a crash of PostgreSQL loses the latest rows, nothing is lost: the next heartbeat writes them again.
_CONNECTION = CONNECTION | {"options": f"{CONNECTION['options']} -c synchronous_commit=off"}
_FORGOTTEN_AFTER = timedelta(days=1)
_LATELY = timedelta(minutes=5)
_HELD = text(
    """
    SELECT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND (classid::bigint << 32) | objid::bigint = :lock
    )
    """
)
# A row that another process has locked is left out: who waits for no lock is in no deadlock, and the record
# of a query that ends needs its row.
_REPORTED = text(
    """
    WITH free AS (
        SELECT query_id, report.value
        FROM open_queries JOIN jsonb_each(CAST(:reports AS jsonb)) AS report
            ON query_id = CAST(report.key AS uuid)
        WHERE replica_id = :replica_id
        FOR NO KEY UPDATE OF open_queries SKIP LOCKED
    )
    UPDATE open_queries
    SET progress = free.value,
        progress_at = clock_timestamp(),
        progress_until = clock_timestamp() + make_interval(secs => :valid_s)
    FROM free
    WHERE open_queries.query_id = free.query_id
    """
)
_OPENED = (
    "query_id",
    "caller",
    "sql",
    "state",
    "submitted_at",
    "catalog",
    "schema",
    "request_id",
    "fingerprint",
    "tags",
    "queued_ms",
)


class PostgresReplicas:
    """The `Replicas` port of one replica; the tables must be there (`migrations.upgrade`)."""

    def __init__(self, url: str, replica: Replica) -> None:
        self._replica = replica
        self._engine = store_engine(url, _CONNECTION, pool_size=2, max_overflow=2, pool_timeout=3)

        held = lock_key(*_presence(replica.replica_id))

        @event.listens_for(self._engine, "connect")
        def _connected(connection: psycopg.Connection[Any], _record: object) -> None:
            # It goes with the connection, so that others know at once when this process has ended.
            connection.execute("SELECT pg_advisory_lock_shared(%s)", (held,))
            connection.commit()

    def beat(
        self, opened: Sequence[OpenQuery], reported: Collection[UUID], closed: Collection[UUID]
    ) -> Decided:
        """Implements the port's `beat`. It waits while another process checks this replica."""
        known = {*reported, *(query.record.query_id for query in opened)}
        with self._transaction() as connection:
            at_ms = connection.execute(_seen(self._replica)).scalar_one()
            has_others = connection.scalar(_has_others(self._replica))
            lost = frozenset(connection.scalars(_lost_among(known))) if known else frozenset()
            rows = [self._values(query) for query in opened if query.record.query_id not in lost]
            if rows:
                connection.execute(_opened(rows))
            if closed:
                connection.execute(delete(OPEN_QUERIES).where(OPEN_QUERIES.c.query_id.in_(closed)))
            canceled = frozenset(connection.scalars(self._canceled())) if known else frozenset()
        return Decided(lost, canceled, at_ms, bool(has_others))

    def take_lost(self, lost_after_s: float) -> Collection[UUID]:
        """Implements the port's `take_lost`; it also deletes replicas that ended long ago."""
        old = REPLICAS.c.last_seen < NOW - _FORGOTTEN_AFTER
        with self._transaction() as connection:
            lost = connection.scalars(take_lost(lost_after_s)).all()
            connection.execute(delete(REPLICAS).where(old, ~has_open_queries()))
        return lost

    def find(self, query_ids: Collection[UUID]) -> Mapping[UUID, OpenQuery]:
        """Implements the port's `find`."""
        statement = _opened_rows().where(OPEN_QUERIES.c.query_id.in_(query_ids))
        with self._transaction() as connection:
            return {row.query_id: _open_query(row) for row in connection.execute(statement)}

    def find_request(self, caller: str, request_id: UUID) -> OpenQuery | None:
        """Implements `OpenRequests`. The newest of several queries counts."""
        row = OPEN_QUERIES.c
        asked = select(row.query_id).where(row.caller == storable(caller), row.request_id == request_id)
        with self._transaction() as connection:
            found = connection.scalar(asked.order_by(row.submitted_at.desc()).limit(1))
        return None if found is None else self.find((found,)).get(found)

    def claim(self, query: OpenQuery) -> BegunRequest | None:
        """Implements `OpenRequests`. Claims of one request take turns."""
        request = storable(query.record.caller), query.record.request_id
        with self._transaction() as connection:
            turn = lock_number("request", request[0], str(request[1]))
            connection.execute(select(func.pg_advisory_xact_lock(turn)))
            begun = connection.execute(_begun(OPEN_QUERIES, *request, OPEN_QUERIES.c.replica_id)).all()
            begun = [row for row in begun if self._is_there(connection, row.replica_id)]
            # In this order: the transaction that writes a record deletes the open row.
            begun = begun or list(connection.execute(_begun(QUERIES, *request)).all())
            if begun:
                return BegunRequest(begun[0].query_id, begun[0].fingerprint)
            # Beats update this row. Claims do not, so that they need not wait for one another.
            connection.execute(_known(self._replica))
            connection.execute(_opened([self._values(query)]))
        return None

    def listed(self, listing: QueryListing) -> Sequence[QuerySummary]:
        """Implements `OpenElsewhere`."""
        statement = _listed(listing).where(OPEN_QUERIES.c.replica_id != self._replica.replica_id)
        with self._transaction() as connection:
            found = [_open_query(row) for row in connection.execute(statement)]
        return [replace(summary_of(query.record, query.elapsed_ms), queue=query.queue) for query in found]

    def seen(self, limit: int) -> Sequence[SeenReplica]:
        """Implements `SeenReplicas`."""
        with self._transaction() as connection:
            return [self._seen_replica(row) for row in connection.execute(_seen_last(limit))]

    def ask_to_cancel(self, query_id: UUID) -> None:
        """Implements the port's `ask_to_cancel`."""
        asked = OPEN_QUERIES.c.query_id == query_id
        with self._transaction() as connection:
            connection.execute(update(OPEN_QUERIES).where(asked).values(is_canceled=True))

    def canceled(self) -> Collection[UUID]:
        """Implements the port's `canceled`."""
        with self._transaction() as connection:
            return frozenset(connection.scalars(self._canceled()))

    def report_progress(self, reports: Mapping[UUID, ProgressReport], valid_s: float) -> None:
        """Implements `SharedProgress`."""
        written = {str(query_id): progress_json(report) for query_id, report in reports.items()}
        given = {"replica_id": self._replica.replica_id, "reports": json.dumps(written), "valid_s": valid_s}
        with self._transaction() as connection:
            connection.execute(_REPORTED, given)

    def leave(self) -> None:
        """Implements the port's `leave`."""
        own = REPLICAS.c.replica_id == self._replica.replica_id
        with self._transaction() as connection:
            connection.execute(delete(REPLICAS).where(own, ~has_open_queries()))
            connection.execute(update(REPLICAS).where(own).values(last_seen=text("'-infinity'")))

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with answering(), self._engine.begin() as connection:
            yield connection

    def _values(self, query: OpenQuery) -> dict[str, object]:
        values = query_values(query.record)
        opened_row = {name: values[name] for name in _OPENED}
        return opened_row | {"replica_id": self._replica.replica_id, "elapsed_ms": query.elapsed_ms}

    def _seen_replica(self, row: Any) -> SeenReplica:
        replica = Replica(row.replica_id, row.name)
        is_this_one = row.replica_id == self._replica.replica_id
        started_at = row.started_at.astimezone(UTC)
        return SeenReplica(replica, started_at, row.silent_ms, row.open_queries, is_this_one)

    def _is_there(self, connection: Connection, replica_id: UUID) -> bool:
        """Whether the replica has a connection to the store: each one of it holds this lock."""
        if replica_id == self._replica.replica_id:
            return True
        # To try the lock would hold it for a moment: another claim would take that for the replica.
        return bool(connection.scalar(_HELD, {"lock": lock_key(*_presence(replica_id))}))

    def _canceled(self) -> Executable:
        row = OPEN_QUERIES.c
        return select(row.query_id).where(row.replica_id == self._replica.replica_id, row.is_canceled)


def _presence(replica_id: UUID) -> tuple[str, str]:
    """Returns the words of the lock that the connections of a replica hold."""
    return "replica", str(replica_id)


def _begun(
    table: Table, caller: str, request_id: UUID | None, *more: ColumnElement[Any]
) -> Select[tuple[Any, ...]]:
    row = table.c
    asked = select(row.query_id, row.fingerprint, *more)
    return asked.where(row.caller == caller, row.request_id == request_id).order_by(row.submitted_at.desc())


def _known(replica: Replica) -> Executable:
    return _inserted(replica).on_conflict_do_nothing(index_elements=["replica_id"])


def _inserted(replica: Replica) -> Insert:
    return insert(REPLICAS).values(replica_id=replica.replica_id, name=storable(replica.name))


def _seen(replica: Replica) -> ReturningInsert[int]:
    statement = _inserted(replica).on_conflict_do_update(
        index_elements=["replica_id"], set_={"last_seen": NOW}
    )
    return statement.returning(milliseconds(REPLICAS.c.last_seen))


def _has_others(replica: Replica) -> Executable:
    row = REPLICAS.c
    return select(exists().where(row.replica_id != replica.replica_id, row.last_seen > NOW - _LATELY))


def _seen_last(limit: int) -> Executable:
    row = REPLICAS.c
    opened = (
        select(func.count()).where(OPEN_QUERIES.c.replica_id == row.replica_id).correlate(REPLICAS)
    ).scalar_subquery()
    # One that has left has no time, and an infinite interval has no milliseconds. If the clock was set back,
    # a time in the future says as little of a replica as one equally long ago.
    silent_ms = case(
        (func.isfinite(row.last_seen), func.abs(milliseconds(NOW - row.last_seen))), else_=null()
    )
    return (
        select(
            row.replica_id,
            row.name,
            row.started_at,
            silent_ms.label("silent_ms"),
            opened.label("open_queries"),
        )
        .order_by(row.last_seen.desc(), row.replica_id)
        .limit(limit)
    )


def _opened(rows: Sequence[Mapping[str, object]]) -> Executable:
    statement = insert(OPEN_QUERIES).values(rows)
    changed = {name: statement.excluded[name] for name in ("state", "queued_ms", "elapsed_ms")}
    return statement.on_conflict_do_update(index_elements=["query_id"], set_=changed | {"told_at": NOW})


def _opened_rows(sql: ColumnElement[str] = OPEN_QUERIES.c.sql) -> Select[tuple[Any, ...]]:
    row = OPEN_QUERIES.c
    by_now_ms = row.elapsed_ms + milliseconds(NOW - row.told_at)
    is_fresh = NOW.between(row.progress_at, row.progress_until)
    progress = case((is_fresh, row.progress), else_=null()).label("progress")
    others = (column for column in row if column.name not in ("sql", "progress"))
    return select(*others, sql, progress, by_now_ms.label("by_now_ms"))


def _listed(listing: QueryListing) -> Select[tuple[Any, ...]]:
    row = OPEN_QUERIES.c
    statement = _opened_rows(func.left(row.sql, MAX_SQL_CHARACTERS).label("sql"))
    statement = statement.order_by(row.submitted_at.desc(), row.query_id.desc()).limit(listing.limit)
    if listing.caller is not None:
        statement = statement.where(row.caller == storable(listing.caller))
    if listing.state is not None:
        statement = statement.where(row.state == listing.state.value)
    if listing.before is not None:
        before = (listing.before.submitted_at, listing.before.query_id)
        statement = statement.where(tuple_(row.submitted_at, row.query_id) < before)
    return statement


def _lost_among(query_ids: Collection[UUID]) -> Executable:
    is_lost = QUERIES.c.error_code == ReplicaLost.code
    return select(QUERIES.c.query_id).where(QUERIES.c.query_id.in_(query_ids), is_lost)


def _open_query(row: Any) -> OpenQuery:
    record = QueryRecord(
        query_id=row.query_id,
        caller=row.caller,
        sql=row.sql,
        state=QueryState(row.state),
        submitted_at=row.submitted_at.astimezone(UTC),
        catalog=row.catalog,
        schema=row.schema,
        request_id=row.request_id,
        fingerprint=row.fingerprint,
        tags=row.tags,
        queued_ms=row.queued_ms,
    )
    return OpenQuery(record, row.by_now_ms, progress_report(row.progress))
