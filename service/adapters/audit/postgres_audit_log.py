"""Implements the `AuditLog` port on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, timedelta

from sqlalchemy import Connection, RowMapping, Select, Table, func, select
from sqlalchemy.dialects.postgresql import insert

from service.adapters.audit.audit_tables import AuditRow
from service.adapters.postgres.shared.advisory_lock import lock_number
from service.adapters.postgres.shared.connecting import DURABLE, store_engine
from service.adapters.postgres.shared.postgres_errors import answering
from service.adapters.postgres.shared.storable import storable
from service.model.audit.events import AuditEntry, AuditEvent, AuditSelection, Details, Origin

FORGOTTEN_AT_ONCE = 5_000
_EVENTS: Table = AuditRow.metadata.tables["audit_events"]
_LOCK = lock_number("audit events")
# A process that is stopped within a transaction must not hold the lock for long.
_CONNECTION = DURABLE | {"options": f"{DURABLE['options']} -c idle_in_transaction_session_timeout=10000"}


class PostgresAuditLog:
    """Events in a table that `migrations.upgrade` creates. Any thread may call any method."""

    def __init__(self, url: str) -> None:
        self._engine = store_engine(url, _CONNECTION, pool_size=2, max_overflow=2, pool_timeout=3)

    def add(self, events: Sequence[AuditEvent]) -> None:
        """See the port's `add`."""
        if not events:
            return
        statement = insert(AuditRow).on_conflict_do_nothing(index_elements=["event_id"])
        with self._transaction() as connection:
            # Replicas add one after the other, so that positions are visible in their order. Otherwise a
            # reader could pass a position whose transaction was not committed yet.
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            connection.execute(statement, [_values(event) for event in events])

    def entries(self, selection: AuditSelection) -> Sequence[AuditEntry]:
        """See the port's `entries`."""
        with self._transaction() as connection:
            return [_entry(row) for row in connection.execute(_selected(selection)).mappings()]

    def forget(self, older_than: timedelta) -> int:
        """See the port's `forget`."""
        statement = select(func.sluice_forget_audit_events(older_than, FORGOTTEN_AT_ONCE))
        forgotten = 0
        while True:
            with self._transaction() as connection:
                deleted: int = connection.scalar(statement) or 0
            forgotten += deleted
            if deleted < FORGOTTEN_AT_ONCE:
                return forgotten

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with answering(), self._engine.begin() as connection:
            yield connection


def _selected(selection: AuditSelection) -> Select[tuple[object, ...]]:
    wanted = select(_EVENTS).where(_EVENTS.c.position > selection.after)
    if selection.since is not None:
        wanted = wanted.where(_EVENTS.c.stored_at >= selection.since)
    if selection.until is not None:
        wanted = wanted.where(_EVENTS.c.stored_at < selection.until)
    if selection.principal is not None:
        wanted = wanted.where(_EVENTS.c.principal == storable(selection.principal))
    if selection.action is not None:
        wanted = wanted.where(_EVENTS.c.action == selection.action)
    return wanted.order_by(_EVENTS.c.position).limit(selection.limit)


def _values(event: AuditEvent) -> dict[str, object]:
    origin, details = event.origin, event.details
    values: dict[str, object] = {
        "event_id": event.event_id,
        "at": event.at,
        "action": str(event.action),
        "outcome": str(event.outcome),
        "error_code": event.error_code,
        "principal": origin.principal,
        "principal_kind": origin.kind,
        "principal_class": origin.caller_class,
        "roles": list(map(storable, origin.roles)),
        "key_id": origin.key_id,
        "address": origin.address,
        "request_id": origin.request_id,
        "query_id": details.query_id,
        "ingest_id": details.ingest_id,
        "target": details.target,
        "fingerprint": details.fingerprint,
        "statement": details.statement,
        "tables": list(map(storable, details.tables)),
        "columns": {storable(table): list(map(storable, names)) for table, names in details.columns.items()},
        "policies": list(map(storable, details.policies)),
        "is_shortened": details.is_shortened,
        "row_count": details.row_count,
        "byte_count": details.byte_count,
        "duration_ms": event.duration_ms,
        "count": event.count,
    }
    return {name: storable(value) if isinstance(value, str) else value for name, value in values.items()}


def _entry(row: RowMapping) -> AuditEntry:
    event = AuditEvent(
        event_id=row["event_id"],
        at=row["at"].astimezone(UTC),
        action=row["action"],
        outcome=row["outcome"],
        origin=Origin(
            principal=row["principal"],
            kind=row["principal_kind"],
            roles=tuple(row["roles"]),
            caller_class=row["principal_class"],
            key_id=row["key_id"],
            address=row["address"],
            request_id=row["request_id"],
        ),
        details=Details(
            query_id=row["query_id"],
            ingest_id=row["ingest_id"],
            target=row["target"],
            fingerprint=row["fingerprint"],
            statement=row["statement"],
            tables=tuple(row["tables"]),
            columns={table: tuple(names) for table, names in row["columns"].items()},
            policies=tuple(row["policies"]),
            row_count=row["row_count"],
            byte_count=row["byte_count"],
            is_shortened=row["is_shortened"],
        ),
        error_code=row["error_code"],
        duration_ms=row["duration_ms"],
        count=row["count"],
    )
    return AuditEntry(row["position"], row["stored_at"].astimezone(UTC), event)
