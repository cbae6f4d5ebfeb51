"""Shortcuts for statements that write, which an engine runs without a gateway."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.query import Parameters
from service.model.sessions.sessions import SessionValues
from service.model.writes.writes import MARK, Write
from service.ports.engine.query_engine import Statement
from spark_session.engine.engine import SparkEngine
from tests.integration.sql.engine_calls import root_of


def write(
    engine: SparkEngine,
    sql: str,
    parameters: Parameters = (),
    access: Access = FULL_ACCESS,
    begin: Callable[[Write], None] | None = None,
    session: SessionValues | None = None,
) -> UUID:
    """Runs a statement that writes, with all checks; returns its id."""
    query_id = uuid4()
    statement = Statement(
        query_id,
        sql,
        parameters,
        None,
        None,
        1000,
        10**6,
        is_canceled=lambda: False,
        access=access,
        begin_write=begin or (lambda _: None),
        session=session,
    )
    engine.run(statement)
    return query_id


def rows(engine: SparkEngine, sql: str) -> list[tuple[object, ...]]:
    """Returns the rows of a query that runs without checks."""
    return [tuple(row) for row in root_of(engine).sql(sql).collect()]


def marked(engine: SparkEngine, table: str, query_id: UUID) -> list[dict[str, str]]:
    """Returns the summaries of those snapshots of a table that have the mark of a query."""
    found = root_of(engine).sql(f"SELECT summary FROM {table}.snapshots ORDER BY committed_at").collect()
    return [row[0] for row in found if row[0].get(MARK) == str(query_id)]
