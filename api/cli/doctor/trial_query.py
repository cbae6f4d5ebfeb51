"""Cheap queries through the engine that answers callers."""

from __future__ import annotations

import time
from collections.abc import Collection
from uuid import uuid4

from api.cli.part_checks import Found, State
from service.model.policies.decisions import FULL_ACCESS
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.ports.engine.query_engine import Engine, EngineResult, Statement
from service.ports.tables.catalogs import Catalogs

TABLES_LOOKED_AT = 200
COUNTED_ROWS = 1_000


def trial_query(engine: Engine, within_s: float) -> str:
    """Runs `SELECT 1`.

    Raises:
        GatewayError: the engine does not answer it.
    """
    result = _run(engine, "SELECT 1", within_s)
    return f"SELECT 1: {result.rows.num_rows} row, planned in {result.planning_ms} ms"


def trial_table_query(engine: Engine, catalogs: Catalogs, down: Collection[str], within_s: float) -> Found:
    """Counts some rows of the smallest table with rows, in a catalog that is not `down` in the engine.

    Raises:
        GatewayError: no catalog answers, or the engine does not.
    """
    names = [table for table in catalogs.tables().tables if table.catalog not in down]
    facts = _smallest(catalogs, names[:TABLES_LOOKED_AT])
    if facts is None:
        return Found("No table has rows.", State.SKIPPED)
    quoted = ".".join(f"`{part.replace('`', '``')}`" for part in facts.name.parts)
    sql = f"SELECT count(*) AS n FROM (SELECT 1 FROM {quoted} LIMIT {COUNTED_ROWS})"
    rows = _run(engine, sql, within_s).rows
    return Found(f"{facts.name}: counted {rows.column(0)[0].as_py()} rows of it")


def _smallest(catalogs: Catalogs, names: Collection[TableName]) -> TableFacts | None:
    facts = catalogs.facts_of([TableAt(name) for name in names]).values()
    having_rows = (fact for fact in facts if fact.record_count)
    return min(having_rows, key=lambda row: row.total_bytes, default=None)


def _run(engine: Engine, sql: str, within_s: float) -> EngineResult:
    until_s = time.monotonic() + within_s
    return engine.run(
        Statement(
            query_id=uuid4(),
            sql=sql,
            parameters=(),
            catalog=None,
            schema=None,
            row_limit=10,
            byte_limit=1024**2,
            is_canceled=lambda: time.monotonic() > until_s,
            access=FULL_ACCESS,
        )
    )
