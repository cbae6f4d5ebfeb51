"""Opens and closes sessions, and tells who serves them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from api.bootstrap.settings.protocols.hive_server import HiveAuthentication
from api.bootstrap.version import version_of
from api.hive_server.calls.client import Client
from api.hive_server.calls.client_configuration import PROXY_USER, database_of, settings_of
from api.hive_server.calls.context import CallContext
from api.hive_server.calls.protocol_numbers import V6, V10, InfoType
from api.hive_server.calls.session_handles import SessionHandle, read_handle, written_handle
from api.hive_server.calls.statement_ends import end_operation
from api.hive_server.calls.statuses import OK
from service.errors.credential_errors import CredentialFault, CredentialRefused
from service.errors.gateway_error import GatewayError
from service.errors.statement_errors import StatementNotAllowed

FETCH_ROWS = 10_000
"""The number of rows that drivers fetch at once: those of a chunk."""
_SERVER, _DBMS = "Sluice", "Spark SQL"
_NAME_LENGTH = 255


async def open_session(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Opens a session with the client's catalog, schema and settings.

    Raises:
        StatementNotAllowed: the client speaks a version from before columns, or wants to be someone else.
        GatewayError: the session cannot be opened.
    """
    protocol = min(request.get("client_protocol", 0), V10)
    if protocol < V6:
        raise StatementNotAllowed(
            f"This client speaks version {protocol + 1} of the protocol. Use one of version 6 or later, as"
            " drivers of Hive 0.13 and later do."
        )
    await _login(context, client, request)
    configuration = request.get("configuration") or {}
    if configuration.get(PROXY_USER):
        raise CredentialRefused("Nobody may act in another's name here.", CredentialFault.PRINCIPAL)
    catalog, schema = database_of(configuration)
    session = await context.in_thread(
        context.parts.sessions.open, client.caller, catalog, schema, settings_of(configuration)
    )
    client.sessions.add(session.session_id)
    handle = SessionHandle(session.session_id, protocol, is_plain=not configuration and protocol == V6)
    return {
        "status": OK,
        "serverProtocolVersion": protocol,
        "sessionHandle": written_handle(handle, client.caller.name),
        # Drivers take it for their fetches.
        "configuration": {"hive.server2.thrift.resultset.default.fetch.size": str(FETCH_ROWS)},
    }


async def close_session(context: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Ends a session, and cancels what runs in it."""
    handle = read_handle(request, client.caller.name)
    await end_session(context, client, handle.session_id)
    return {"status": OK}


async def end_session(context: CallContext, client: Client, session_id: UUID) -> None:
    """Ends a session, and cancels what runs in it."""
    client.sessions.discard(session_id)
    # Anyone can make a handle with another caller's session in it.
    for operation in context.operations.take_session(session_id, client.caller.name):
        await end_operation(context, operation)
    await context.in_thread(context.parts.sessions.close, client.caller, session_id)


async def end_all(context: CallContext, client: Client) -> None:
    """Ends the sessions of a connection that is gone."""
    for session_id in tuple(client.sessions):
        # The others end on their own, and their statements too.
        with suppress(GatewayError):
            await end_session(context, client, session_id)


async def get_info(_: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Tells one fact about the server. Clients choose their dialect by the name of the database."""
    read_handle(request, client.caller.name)
    asked = request.get("infoType", 0)
    texts = {
        InfoType.SERVER_NAME: _SERVER,
        InfoType.DBMS_NAME: _DBMS,
        InfoType.DBMS_VERSION: version_of("pyspark"),
        InfoType.SEARCH_PATTERN_ESCAPE: "\\",
        InfoType.IDENTIFIER_QUOTE: "`",
    }
    lengths = (
        InfoType.MAX_COLUMN_NAME_LENGTH,
        InfoType.MAX_SCHEMA_NAME_LENGTH,
        InfoType.MAX_CATALOG_NAME_LENGTH,
        InfoType.MAX_TABLE_NAME_LENGTH,
    )
    value = {"lenValue": _NAME_LENGTH} if asked in lengths else {"stringValue": texts.get(asked, "")}
    return {"status": OK, "infoValue": value}


async def set_client_info(_: CallContext, client: Client, request: Mapping[str, Any]) -> dict[str, Any]:
    """Takes what a client tells of itself, and does nothing with it."""
    read_handle(request, client.caller.name)
    return {"status": OK}


async def refuse_delegation(_: CallContext, __: Client, ___: Mapping[str, Any]) -> dict[str, Any]:
    """Refuses tokens in another's name.

    Raises:
        StatementNotAllowed: always.
    """
    raise StatementNotAllowed("This gateway has no delegation tokens. Send an API key or a token.")


async def _login(context: CallContext, client: Client, request: Mapping[str, Any]) -> None:
    """Finds the caller on a connection without SASL."""
    if client.found is not None:
        return
    assert context.settings.hive_authentication is HiveAuthentication.NOSASL
    name, password = request.get("username") or "", request.get("password") or ""
    login_again = client.password_login(context.parts.login, name, password)
    client.found = await login_again()
    client.login_again = login_again
