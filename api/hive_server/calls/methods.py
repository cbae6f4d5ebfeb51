"""The methods of the protocol by name, with the structs of their requests and answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from api.hive_server.calls import metadata_calls, result_calls, session_calls, statement_calls
from api.hive_server.calls.client import Client
from api.hive_server.calls.context import CallContext
from api.hive_server.wire import structs
from api.hive_server.wire.thrift_types import Struct

Call = Callable[[CallContext, Client, Mapping[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method: what it reads, what it answers, and what it does."""

    request: Struct
    answer: Struct
    call: Call


_OF_SESSION, _STARTED, _STATUS = structs.OF_SESSION, structs.STARTED, structs.STATUS_ONLY
METHODS: Mapping[str, Method] = {
    "OpenSession": Method(structs.OPEN_SESSION, structs.OPENED, session_calls.open_session),
    "CloseSession": Method(_OF_SESSION, _STATUS, session_calls.close_session),
    "GetInfo": Method(structs.GET_INFO, structs.INFO, session_calls.get_info),
    "SetClientInfo": Method(structs.SET_CLIENT_INFO, _STATUS, session_calls.set_client_info),
    "ExecuteStatement": Method(structs.EXECUTE, _STARTED, statement_calls.execute_statement),
    "GetTypeInfo": Method(_OF_SESSION, _STARTED, metadata_calls.get_type_info),
    "GetCatalogs": Method(_OF_SESSION, _STARTED, metadata_calls.get_catalogs),
    "GetSchemas": Method(structs.GET_SCHEMAS, _STARTED, metadata_calls.get_schemas),
    "GetTables": Method(structs.GET_TABLES, _STARTED, metadata_calls.get_tables),
    "GetTableTypes": Method(_OF_SESSION, _STARTED, metadata_calls.get_table_types),
    "GetColumns": Method(structs.GET_COLUMNS, _STARTED, metadata_calls.get_columns),
    "GetFunctions": Method(structs.GET_FUNCTIONS, _STARTED, metadata_calls.get_functions),
    "GetPrimaryKeys": Method(structs.GET_PRIMARY_KEYS, _STARTED, metadata_calls.get_primary_keys),
    "GetCrossReference": Method(_OF_SESSION, _STARTED, metadata_calls.get_cross_reference),
    "GetOperationStatus": Method(
        structs.GET_STATUS, structs.OPERATION_STATUS, statement_calls.get_operation_status
    ),
    "CancelOperation": Method(structs.OF_OPERATION, _STATUS, statement_calls.cancel_operation),
    "CloseOperation": Method(structs.OF_OPERATION, _STATUS, statement_calls.close_operation),
    "GetQueryId": Method(structs.OF_OPERATION, structs.QUERY_ID, statement_calls.get_query_id),
    "GetResultSetMetadata": Method(
        structs.OF_OPERATION, structs.RESULT_METADATA, result_calls.get_result_set_metadata
    ),
    "FetchResults": Method(structs.FETCH, structs.FETCHED, result_calls.fetch_results),
    "GetLog": Method(structs.GET_LOG, structs.LOG, result_calls.get_log),
    "GetDelegationToken": Method(_OF_SESSION, _STATUS, session_calls.refuse_delegation),
    "CancelDelegationToken": Method(_OF_SESSION, _STATUS, session_calls.refuse_delegation),
    "RenewDelegationToken": Method(_OF_SESSION, _STATUS, session_calls.refuse_delegation),
}
