"""The one statement that gives queries of lost replicas their record."""

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
from service.errors import ReplicaLost
from service.model.query.query import QueryState

REPLICAS = cast(Table, ReplicaRow.__table__)
OPEN_QUERIES = cast(Table, OpenQueryRow.__table__)
QUERIES = cast(Table, QueryRow.__table__)
NOW = func.clock_timestamp(type_=DateTime(timezone=True))

_KEPT = ("caller", "sql", "submitted_at", "catalog", "schema", "fingerprint", "tags")
_ZERO = ("planning_ms", "row_count", "byte_count", "parse_ms", "detect_ms", "filters_ms")


def has_open_queries() -> ColumnElement[bool]:
    """Of a row of `replicas`: whether queries are open at it."""
    return exists().where(OPEN_QUERIES.c.replica_id == REPLICAS.c.replica_id)


def milliseconds(interval: ColumnElement[Any]) -> ColumnElement[int]:
    """An interval as a whole number; of a moment, since 1970."""
    return sql_cast(extract("epoch", interval) * 1000, BigInteger)


def take_lost(lost_after_s: float) -> Executable:
    """Moves the open queries of replicas that were not seen for so long to `queries`, and returns their ids.

    One that was seen as far in the future is gone, too: the clock was set back since, and whoever lives has
    beaten again. Of several who run it at once, the locks of the replicas' rows let one see these queries. A
    replica that beats meanwhile is looked at again once its beat is written, and left alone.
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
    """The record: its times end where its replica was seen last."""
    is_queued = taken.state == QueryState.QUEUED.value
    queued_ms = case((is_queued, taken.lived_ms), else_=taken.queued_ms)
    return {
        "query_id": taken.query_id,
        **{name: taken[name] for name in _KEPT},
        # Whoever sends it again under its requestId has it run anew.
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
