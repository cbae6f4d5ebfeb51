"""One query, from the worker's hand to its record."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.errors import EngineLost, GatewayError, TableNotFound
from service.ports import Catalogs, Clock, Engine, EngineResult, Journal, ResultStore, Statement
from service.query.live import LiveQuery
from service.query.parameters import check_parameters
from service.query.vet import vet

MAX_PLAN_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class QueryPorts:
    """What a query needs from outside, and the bounds that it runs within."""

    engine: Engine
    catalogs: Catalogs
    results: ResultStore
    journal: Journal
    clock: Clock
    max_sql_bytes: int
    engine_retries: int


def run_query(query: LiveQuery, ports: QueryPorts) -> None:
    """Runs the query to its end; a failure becomes its state, never an exception."""
    if not query.start(ports.clock.elapsed_ms()):
        return
    plan_text = ""
    try:
        vet(query.request.sql, ports.max_sql_bytes)
        check_parameters(query.request.sql, query.request.parameters)
        result = run_on_engine(query, ports)
        manifest = ports.results.put(query.query_id, result.rows, result.columns, result.is_truncated)
        query.succeed(result, manifest, ports.clock.elapsed_ms())
        plan_text = result.plan_text()
    except GatewayError as failure:
        query.fail(with_nearest(failure, query, ports.catalogs), ports.clock.elapsed_ms())
    record(query, ports.journal, plan_text)


def run_on_engine(query: LiveQuery, ports: QueryPorts) -> EngineResult:
    """Runs it once more when the engine was lost on the way: queries only read, so nothing is done twice."""
    request = query.request
    statement = Statement(
        query_id=query.query_id,
        sql=request.sql,
        parameters=request.parameters,
        catalog=request.catalog,
        schema=request.schema,
        row_limit=request.row_limit,
        byte_limit=request.byte_limit,
        is_canceled=query.is_canceled,
    )
    for _ in range(ports.engine_retries):
        try:
            return ports.engine.run(statement)
        except EngineLost:
            if query.is_canceled():
                raise
    return ports.engine.run(statement)


def record(query: LiveQuery, journal: Journal, plan_text: str = "") -> None:
    """Puts what the query leaves behind on its way to the metrics store."""
    journal.append(replace(query.record, spark_plan=plan_text[:MAX_PLAN_CHARACTERS]))
    query.recorded.set_result(None)


def with_nearest(failure: GatewayError, query: LiveQuery, catalogs: Catalogs) -> GatewayError:
    """An unknown table with the names that look most like it; any other failure as it is."""
    if not isinstance(failure, TableNotFound) or failure.nearest:
        return failure
    missing = 3 - len(failure.table.split("."))
    home = [query.request.catalog, *(query.request.schema or "").split(".")][:missing] if missing > 0 else []
    full = ".".join([part for part in home if part] + [failure.table])
    return TableNotFound(failure.table, catalogs.nearest(full))
