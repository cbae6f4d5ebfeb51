"""Tells the columns of results, and fetches their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from api.hive_server.calls.client import Client
from api.hive_server.calls.context import CallContext
from api.hive_server.calls.operations import Operation, Projection
from api.hive_server.calls.protocol_numbers import FetchType, Orientation
from api.hive_server.calls.session_calls import FETCH_ROWS
from api.hive_server.calls.statement_calls import NO_COLUMNS
from api.hive_server.calls.statement_ends import ended_status
from api.hive_server.calls.statuses import OK, failed
from api.hive_server.rows.kept_chunks import ChunkPlace
from api.hive_server.rows.result_rows import ResultRows, StoredChunks, rows_of_table
from api.hive_server.rows.type_ids import column_descriptions
from api.hive_server.rows.written_column import written_column
from api.sql_protocols.failures import Failure
from api.sql_protocols.running_statement import RunningStatement
from service.errors.statement_errors import SqlInvalid

_LOG = pa.schema([("Log", pa.string())])


async def get_result_set_metadata(
    context: CallContext, client: Client, request: Mapping[str, Any]
) -> dict[str, Any]:
    """Tells the columns of a result, once its statement has ended."""
    operation = context.operations.find(request, client.caller.name)
    async with operation.reading:
        found = await _rows(context, client, operation)
    if isinstance(found, Failure):
        return {"status": failed(found)}
    return {"status": OK, "schema": {"columns": column_descriptions(found.schema)}}


async def fetch_results(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the next rows of a result; none after the last one, which ends every client.

    Raises:
        SqlInvalid: rows are asked for in an order that is not offered.
        ResultExpired: the result is gone.
    """
    operation = context.operations.find(request, client.caller.name)
    if request.get("fetchType", FetchType.ROWS) == FetchType.LOG:
        return _log(operation)
    orientation = request.get("orientation", Orientation.NEXT)
    if orientation not in (Orientation.NEXT, Orientation.FIRST):
        raise SqlInvalid("Rows are fetched forward, or from the first one again.")
    async with operation.reading:
        found = await _rows(context, client, operation)
        if isinstance(found, Failure):
            return {"status": failed(found)}
        if orientation == Orientation.FIRST:
            found.rewind()
        asked = request.get("maxRows") or 0
        max_rows = min(asked if asked > 0 else FETCH_ROWS, context.settings.hive_fetch_max_rows)
        return await context.in_thread(_page, found, max_rows, context.settings.hive_fetch_max_bytes)


async def get_log(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the log of an operation as one text."""
    operation = context.operations.find(request, client.caller.name)
    return {"status": OK, "log": "\n".join(operation.log_lines)}


async def _rows(context: CallContext, client: Client, operation: Operation) -> ResultRows | Failure:
    statement = operation.statement
    if operation.rows is None and statement is not None:
        status = await ended_status(context, client, operation, statement)
        if status.failure is not None:
            return status.failure
        assert operation.place is not None
        operation.rows = await context.in_thread(_result, statement, operation.projection, operation.place)
    assert operation.rows is not None
    return operation.rows


def _result(statement: RunningStatement, projection: Projection | None, place: ChunkPlace) -> ResultRows:
    manifest = statement.manifest()
    if not manifest.columns:
        return rows_of_table(NO_COLUMNS.empty_table())
    counts = [chunk.row_count for chunk in manifest.chunks]
    projected = projection or _as_they_are

    def load(index: int) -> pa.Table:
        return projected(statement.chunk(index))

    first = load(0)
    # The first fetch needs it again.
    place.keep(0, first)
    # The manifest is refused as soon as the rows are: the result is gone, or policies have changed.
    return ResultRows(first.schema, counts, StoredChunks(load, statement.manifest, place))


def _as_they_are(rows: pa.Table) -> pa.Table:
    return rows


def _page(found: ResultRows, max_rows: int, max_bytes: int) -> dict[str, Any]:
    page = found.page(max_rows, max_bytes)
    return _fetched(page.rows, page.offset)


def _log(operation: Operation) -> dict[str, Any]:
    lines, operation.log_lines = operation.log_lines, []
    return _fetched(pa.table([pa.array(lines, pa.string())], schema=_LOG), 0)


def _fetched(rows: pa.Table, offset: int) -> dict[str, Any]:
    columns = [written_column(column) for column in rows.columns]
    return {
        "status": OK,
        # Clients understand it in different ways; all of them end at a fetch without rows.
        "hasMoreRows": rows.num_rows > 0,
        "results": {"startRowOffset": offset, "rows": [], "columns": columns},
    }
