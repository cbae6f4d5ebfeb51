"""HiveServer2's protocol over HTTP: each request is a message, and its answer the next one."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from fastapi import APIRouter, Request, Response

from api.hive_server.calls.client import Client
from api.hive_server.calls.context import CallContext
from api.hive_server.calls.message_answers import answer
from api.hive_server.transport.hive_connection import bounds_of
from api.hive_server.wire.scan import check_message
from api.hive_server.wire.unreadable_message import MessageFault
from api.http.app_context import gone, principal_of
from api.http.authentication.basic import named_in
from api.http.connections.peers import peer_of
from api.http.problems.http_errors import InvalidRequest
from api.sql_protocols.login import ProtocolCaller, check_name
from service.faults import Fault

_MEDIA_TYPE = "application/x-thrift"
PATHS = ("/cliservice", "/cliservice/", "/sql/protocolv1/o/{organization}/{cluster}")
"""Some clients end the path with a slash; dbt's method `http` has the path of another vendor."""


def http_router(context: CallContext) -> APIRouter:
    """Returns the routes. Their requests were authenticated as all others, or with a name and a password."""
    router = APIRouter()

    async def call(request: Request) -> Response:
        message = await request.body()
        try:
            check_message(message, bounds_of(context.settings))
            answered = await _answered(context, request, message)
        except MessageFault as fault:
            raise InvalidRequest([Fault(f"the body is no message: {fault}")]) from None
        return Response(answered, media_type=_MEDIA_TYPE)

    for path in PATHS:
        router.add_api_route(path, call, methods=["POST"], include_in_schema=False)
    return router


async def _answered(context: CallContext, request: Request, message: bytes) -> bytes:
    principal = await principal_of(request)
    if not context.parts.login.is_open:
        check_name(named_in(request.scope), principal)
    watching = asyncio.create_task(gone(request))
    client = Client(
        peer_of(request.scope.get("client")), ProtocolCaller(principal, _peer(request)), watching.done
    )
    try:
        return await answer(context, client, message)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


def _peer(request: Request) -> str:
    return request.client.host if request.client else ""
