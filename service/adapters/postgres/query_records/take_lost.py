"""The single statement that writes the records of lost replicas' queries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    DateTime,
    Executable,
    Table,
    Uuid,
    case,
    delete,
    exists,
    extract,
    func,
    literal,
    null,
    select,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects.postgresql import JSONB, insert

from service.adapters.postgres.query_records.replica_tables import OpenQueryRow, ReplicaRow
from service.adapters.postgres.shared.metrics_tables import QueryRow
from service.errors.query_errors import ReplicaLost
from service.model.query.query import QueryState

REPLICAS = cast(Table, ReplicaRow.__table__)
OPEN_QUERIES = cast(Table, OpenQueryRow.__table__)
QUERIES = cast(Table, QueryRow.__table__)
NOW = func.clock_timestamp(type_=DateTime(timezone=True))

_COPIED = ("caller", "sql", "submitted_at", "catalog", "schema", "fingerprint", "tags")
_ZERO = ("planning_ms", "row_count", "byte_count", "parse_ms", "detect_ms", "filters_ms")


def has_open_queries() -> ColumnElement[bool]:
    """Whether a row of `replicas` has open queries."""
    return exists().where(OPEN_QUERIES.c.replica_id == REPLICAS.c.replica_id)


def milliseconds(interval: ColumnElement[Any]) -> ColumnElement[int]:
    """An interval in whole milliseconds; a timestamp in milliseconds since 1970."""
    return sql_cast(extract("epoch", interval) * 1000, BigInteger)


def take_lost(lost_after_s: float) -> Executable:
    """Moves the open queries of replicas not seen for this long to `queries`, and returns their ids.

    A replica last seen equally far in the future is lost, too: the clock was set back since then, and a live
    replica would have sent another heartbeat. If several processes run this at once, the locks on the
    replicas' rows let only one see these queries. If a replica sends a heartbeat at the same time, its row is
    checked again once the heartbeat is written, and the replica is left alone.
    """
    silence = timedelta(seconds=lost_after_s)
    gone = (
        select(REPLICAS.c.replica_id, REPLICAS.c.last_seen)
        .where(~REPLICAS.c.last_seen.between(NOW - silence, NOW + silence), has_open_queries())
        .with_for_update()
        .cte("gone")
    )
    row = OPEN_QUERIES.c
    seen_ms = milliseconds(func.greatest(gone.c.last_seen, row.told_at) - row.told_at)
    taken = (
        delete(OPEN_QUERIES)
        .where(row.replica_id == gone.c.replica_id)
        .returning(*row, (row.elapsed_ms + seen_ms).label("lived_ms"))
        .cte("taken")
    )
    values = _values(taken.c)
    statement = insert(QUERIES).from_select(list(values), select(*values.values()))
    return statement.on_conflict_do_nothing().returning(QUERIES.c.query_id)


def _values(taken: Any) -> dict[str, ColumnElement[Any]]:
    """Returns the record's columns. Its times end when its replica was last seen."""
    is_queued = taken.state == QueryState.QUEUED.value
    queued_ms = case((is_queued, taken.lived_ms), else_=taken.queued_ms)
    return {
        "query_id": taken.query_id,
        **{name: taken[name] for name in _COPIED},
        # A caller who sends it again under its requestId gets a new run.
        "request_id": sql_cast(null(), Uuid),
        "state": literal(QueryState.FAILED.value),
        "error_code": literal(ReplicaLost.code),
        "error_detail": literal(ReplicaLost().detail),
        "queued_ms": queued_ms,
        "running_ms": func.greatest(0, taken.lived_ms - queued_ms),
        **dict.fromkeys(_ZERO, literal(0)),
        "spark_plan": literal(""),
        "rewrites": sql_cast(literal("[]"), JSONB),
    }
