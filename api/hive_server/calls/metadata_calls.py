"""Answers drivers' metadata calls. Each is an operation whose rows are there at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import pyarrow as pa

from api.hive_server.calls.client import Client
from api.hive_server.calls.context import CallContext
from api.hive_server.calls.operations import Operation
from api.hive_server.calls.protocol_numbers import OperationType
from api.hive_server.calls.session_handles import read_handle
from api.hive_server.calls.statement_ends import count_end
from api.hive_server.calls.statuses import OK
from api.hive_server.metadata import metadata_tables as tables
from api.hive_server.rows.result_rows import rows_of_table
from api.sql_protocols.listing import ALL_KINDS, NamePatterns
from api.sql_protocols.login import ProtocolCaller
from api.sql_protocols.patterns import like
from api.sql_protocols.running_statement import POLL_S
from api.sql_protocols.statement_runs import StatementRequest
from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryFailed

MAX_WITH_COMMENTS = 200
"""Beyond so many tables, their comments are left out: each needs its table's metadata."""
_SHOW_FUNCTIONS = "SHOW FUNCTIONS"


async def get_type_info(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Lists the types."""
    return await _answered(context, client, request, OperationType.GET_TYPE_INFO, tables.types_table)


async def get_catalogs(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Lists the catalogs that the caller may know of."""
    listing, caller = context.parts.listing, client.caller

    def rows() -> pa.Table:
        return tables.catalogs_table(listing.catalogs(caller))

    return await _answered(context, client, request, OperationType.GET_CATALOGS, rows)


async def get_schemas(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Lists schemas."""
    listing, caller = context.parts.listing, client.caller

    def rows() -> pa.Table:
        return tables.schemas_table(listing.schemas(caller, _patterns(request)))

    return await _answered(context, client, request, OperationType.GET_SCHEMAS, rows)


async def get_tables(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Lists tables and views, with their comments if they are few."""
    listing, caller = context.parts.listing, client.caller
    asked = request.get("tableTypes") or []
    named = {tables.TABLE_TYPES.get(name.upper()) for name in asked}
    kinds = {kind for kind in named if kind is not None} if asked else ALL_KINDS

    def rows() -> pa.Table:
        found = listing.relations(caller, _patterns(request), kinds)
        return tables.tables_table(listing.described(found) if len(found) <= MAX_WITH_COMMENTS else found)

    return await _answered(context, client, request, OperationType.GET_TABLES, rows)


async def get_table_types(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Lists the types of tables."""
    return await _answered(context, client, request, OperationType.GET_TABLE_TYPES, tables.kinds_table)


async def get_columns(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Lists the columns of tables and views."""
    listing, caller = context.parts.listing, client.caller

    def rows() -> pa.Table:
        return tables.columns_table(listing.columns(caller, _patterns(request)))

    return await _answered(context, client, request, OperationType.GET_COLUMNS, rows)


async def get_functions(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Lists the engine's functions."""
    caller, pattern = client.caller, like(request.get("functionName"))

    def rows() -> pa.Table:
        names = _function_names(context, caller, client.is_gone)
        return tables.functions_table(name for name in names if pattern.fullmatch(name))

    return await _answered(context, client, request, OperationType.GET_FUNCTIONS, rows)


async def get_primary_keys(
    context: CallContext, client: Client, request: Mapping[str, Any]
) -> dict[str, Any]:
    """Lists the identifier fields of tables. Rows are not held to them."""
    listing, caller = context.parts.listing, client.caller
    table, schema, catalog = (request.get(part) for part in ("tableName", "schemaName", "catalogName"))

    def rows() -> pa.Table:
        return tables.primary_keys_table(listing.key_columns(caller, table or "", schema, catalog))

    return await _answered(context, client, request, OperationType.UNKNOWN, rows)


async def get_cross_reference(
    context: CallContext, client: Client, request: Mapping[str, Any]
) -> dict[str, Any]:
    """Lists no keys: tables do not refer to each other."""
    return await _answered(
        context, client, request, OperationType.UNKNOWN, tables.CROSS_REFERENCE.empty_table
    )


async def _answered(
    context: CallContext,
    client: Client,
    request: Mapping[str, Any],
    type_: OperationType,
    rows: Callable[[], pa.Table],
) -> dict[str, Any]:
    session = read_handle(request, client.caller.name)
    context.operations.check_room(session.session_id)
    operation = Operation(uuid4(), client.caller.name, session, type_)
    try:
        # It also keeps the session alive.
        await context.in_thread(context.parts.sessions.values, client.caller, session.session_id)
        operation.rows = rows_of_table(await context.in_thread(rows))
    except GatewayError:
        count_end(context, operation, "failed")
        raise
    count_end(context, context.operations.add(operation), "succeeded")
    return {"status": OK, "operationHandle": operation.handle()}


def _patterns(request: Mapping[str, Any]) -> NamePatterns:
    return NamePatterns(
        catalog=request.get("catalogName"),
        schema=request.get("schemaName"),
        table=request.get("tableName"),
        column=request.get("columnName"),
    )


def _function_names(context: CallContext, caller: ProtocolCaller, is_gone: Callable[[], bool]) -> list[str]:
    statement = context.parts.statements.start(caller, StatementRequest(sql=_SHOW_FUNCTIONS))
    while not statement.wait(POLL_S):
        if is_gone():
            statement.cancel()
            raise QueryCanceled("The client has gone.")
    failure = statement.status().failure
    if failure is not None:
        raise QueryFailed(failure.text)
    return [str(name) for chunk in statement.chunks() for name in chunk.column(0).to_pylist()]
