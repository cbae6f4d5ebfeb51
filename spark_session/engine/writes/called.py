"""CALL: names one of the gateway's own operations of maintenance. The engine runs nothing for it."""

from __future__ import annotations

import time
from dataclasses import replace

import pyarrow as pa

from service.errors.query_errors import QueryCanceled
from service.errors.statement_errors import StatementNotAllowed
from service.maintenance.called_procedures import check_call
from service.model.writes.procedure_calls import ProcedureCall
from service.model.writes.writes import BeginWrite
from service.policies.require import require
from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.writes.asked_target import asked_target
from spark_session.session.write_statements import ParsedWrite


def called(
    statement: Statement, parsed: ParsedWrite, call: ProcedureCall, begin: BeginWrite, started: float
) -> EngineResult:
    """Checks a call, and begins it. Whoever has sent the statement does the maintenance.

    The procedure of the catalog is never run: it has no floors, and does not know which ingests wait.

    Raises:
        TableAccessDenied: its principal may not maintain the table.
        StatementNotAllowed: no such procedure or argument is offered, or the table is of another catalog.
        SqlInvalid: an argument has another type, or is missing.
        QueryCanceled: it was canceled; nothing has begun.
    """
    check_call(call)
    write = replace(asked_target(parsed), call=call)
    if not parsed.is_in_iceberg or write.table.catalog != call.name[0]:
        raise StatementNotAllowed(f"{write.table} is not an Iceberg table of the catalog {call.name[0]}.")
    for action in write.kind.needs:
        require(statement.access, action, write.table)
    if statement.is_canceled():
        raise QueryCanceled
    begin(write)
    return EngineResult(
        rows=pa.table({}),
        columns=(),
        is_truncated=False,
        planning_ms=round((time.monotonic() - started) * 1000),
        running_ms=0,
        scans=(),
        plan_text=str,
    )
