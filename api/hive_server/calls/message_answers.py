"""Answers messages: finds the method, reads its request, and writes its answer or its failure."""

from __future__ import annotations

import structlog

from api.hive_server.calls.client import Client
from api.hive_server.calls.context import CallContext
from api.hive_server.calls.methods import METHODS
from api.hive_server.calls.statuses import failed
from api.hive_server.wire.message_writer import (
    INTERNAL_ERROR,
    PROTOCOL_ERROR,
    UNKNOWN_METHOD,
    exception,
    reply,
)
from api.hive_server.wire.reading import Head, MessageType, Reader
from api.hive_server.wire.thrift_types import Field, Struct
from api.hive_server.wire.unreadable_message import MessageFault
from api.http.problems.http_errors import InvalidRequest
from api.sql_protocols.failures import failure_of

_WITHOUT_STATUS = frozenset({"GetQueryId"})
_log = structlog.stdlib.get_logger("api.hive_server")


async def answer(context: CallContext, client: Client, message: bytes) -> bytes:
    """Returns the message that answers one which was checked. A failure is an answer, and never a traceback.

    Raises:
        MessageFault: the message cannot be read.
    """
    reader = Reader(message)
    head = reader.head()
    method = METHODS.get(head.name)
    if method is None or head.type != MessageType.CALL:
        return exception(head, UNKNOWN_METHOD, f"This server has no method {head.name[:100]}.")
    arguments = reader.struct(Struct({1: Field("request", method.request)}))
    try:
        await client.check_again()
        answered = await method.call(context, client, arguments.get("request", {}))
    except MessageFault:
        raise
    except Exception as error:  # noqa: BLE001
        # The outermost edge of a call: whatever went wrong, the client gets a status and nothing else.
        failure = failure_of(error)
        _log.info("hive_call_failed", method=head.name, code=failure.code)
        if head.name in _WITHOUT_STATUS:
            return exception(head, INTERNAL_ERROR, failure.text)
        return reply(head, method.answer, {"status": failed(failure)} | _required(head.name))
    return reply(head, method.answer, answered)


def unreadable(fault: MessageFault) -> bytes:
    """Returns the last message on a connection whose client sent bytes that are not a message."""
    text = f"{InvalidRequest.code}: The bytes are no message: {fault}."
    return exception(Head(MessageType.EXCEPTION, "", 0), PROTOCOL_ERROR, text)


def _required(method: str) -> dict[str, object]:
    """Returns the fields that clients want also in an answer that has failed."""
    match method:
        case "OpenSession":
            return {"serverProtocolVersion": 0}
        case "GetInfo":
            return {"infoValue": {"stringValue": ""}}
        case _:
            return {}
