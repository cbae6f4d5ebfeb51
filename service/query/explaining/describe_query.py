"""Describes one query: what it returns, and what its parameters are. It is analyzed, and not run."""

from __future__ import annotations

from service.errors.query_errors import QueryCanceled
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import EngineNotReady
from service.model.query.description import Description
from service.query.execution.run_pruned import statement_of
from service.query.execution.run_query import QueryPorts, as_seen
from service.query.execution.validate import validate
from service.query.explaining.only_run import without_writes
from service.query.registry.query_handle import QueryHandle
from service.tracing import step


def describe_query(query: QueryHandle, ports: QueryPorts) -> Description:
    """Returns the columns and parameters; leaves no record.

    Raises:
        CallerError: the query could not be run.
        QueryEnded: it was canceled.
        PartDown: there is no engine now.
    """
    if not query.start(ports.clock.elapsed_ms()):
        raise QueryCanceled
    if ports.describer is None:
        raise EngineNotReady
    with step("sluice.query.validate"):
        validate(query.request.sql, ports.max_sql_bytes, ports.max_sql_nesting)
    try:
        with step("sluice.query.describe"), without_writes(ports):
            return ports.describer.describe(statement_of(query, query.text.sql))
    except TableNotFound as failure:
        raise as_seen(failure, query, ports.catalogs) from failure
