"""One connection: who it is, and its calls, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import structlog

from api.bootstrap.settings import Settings
from api.bootstrap.settings.protocols.hive_server import HiveAuthentication
from api.hive_server.calls.client import Client
from api.hive_server.calls.context import CallContext
from api.hive_server.calls.message_answers import answer, unreadable
from api.hive_server.transport.answers import Answers
from api.hive_server.transport.byte_sources import FramedSource, PlainSource, Source, read_message
from api.hive_server.transport.sasl import (
    HEAD,
    MAX_SASL_BYTES,
    MECHANISM,
    SaslStatus,
    plain_credentials,
    sasl_message,
)
from api.hive_server.wire.scan import VERSION, MessageBounds
from api.hive_server.wire.unreadable_message import MessageFault
from api.http.middleware.request_caller import calling
from api.sql_protocols.failures import failure_of
from api.sql_protocols.login import ProtocolCaller
from service.errors.credential_errors import CredentialFault, CredentialRefused
from service.errors.gateway_error import GatewayError

_log = structlog.stdlib.get_logger("api.hive_server")
_FIRST_OF_MESSAGE = VERSION >> 8


class Refused(Exception):
    """The connection ends before its first call, for this reason."""


class Connection:
    """A connection of a client. `serve` runs until it ends; the caller closes it."""

    def __init__(
        self,
        context: CallContext,
        answers: Answers,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        peer: str,
    ) -> None:
        self._context = context
        self._answers = answers
        self._reader = reader
        self._writer = writer
        self._certificate: Mapping[str, Any] | None = writer.get_extra_info("peercert") or None
        self.client = Client(peer, None, self.is_gone, self._certificate)

    def is_gone(self) -> bool:
        """Whether the client has closed the connection."""
        return self._reader.at_eof() or self._writer.transport.is_closing()

    async def negotiate(self) -> Source:
        """Finds out who the client is, and how its messages are framed.

        Raises:
            Refused: the connection has to end.
            TimeoutError, IncompleteReadError, ConnectionError: the client did not go on.
        """
        settings = self._context.settings
        async with asyncio.timeout(settings.hive_handshake_timeout_s):
            first = await self._reader.readexactly(1)
            if settings.hive_authentication is HiveAuthentication.NOSASL:
                if first[0] != _FIRST_OF_MESSAGE:
                    raise Refused("not_nosasl")
                if self._context.parts.login.is_open:
                    self._found(await self._context.parts.login.by_password("", "", self.client.peer))
                return PlainSource(self._reader, first)
            if first[0] != SaslStatus.START:
                raise Refused("not_sasl")
            return await self._negotiate_plain(first)

    async def serve(self, source: Source) -> None:
        """Answers calls until the client goes, or is idle for too long.

        Raises:
            Refused: its credentials are not accepted any more, which its last answer says.
            MessageFault: a message cannot be read, which its last answer says.
            TimeoutError, IncompleteReadError, ConnectionError: the client did not go on.
        """
        try:
            await self._serve(source)
        except MessageFault as fault:
            await self._answers.write(self._writer, source.framed(unreadable(fault)))
            raise

    async def _serve(self, source: Source) -> None:
        settings = self._context.settings
        bounds = bounds_of(settings)
        while True:
            message = await read_message(
                source,
                bounds,
                idle_s=settings.hive_idle_timeout_s,
                message_s=settings.hive_message_timeout_s,
            )
            if self.client.found is not None:
                calling.set(self.client.found.name)
            answered = await answer(self._context, self.client, message)
            await self._answers.write(self._writer, source.framed(answered))
            if self.client.is_refused:
                raise Refused("credentials_lost")

    async def _negotiate_plain(self, first: bytes) -> Source:
        _, mechanism = await self._sasl_message(first)
        if mechanism != MECHANISM:
            await self._refuse(
                "mechanism", _malformed("This server speaks SASL with the mechanism PLAIN alone.")
            )
        status, token = await self._sasl_message(b"")
        if status not in (SaslStatus.OK, SaslStatus.COMPLETE):
            raise Refused("client_ended_sasl")
        try:
            sent = plain_credentials(token)
            login_again = self.client.password_login(self._context.parts.login, sent.name, sent.password)
            caller = await login_again()
        except MessageFault as fault:
            await self._refuse("credentials", _malformed(f"The credentials cannot be read: {fault}."))
        except GatewayError as error:
            await self._refuse("credentials", failure_of(error).text)
        else:
            self._found(caller)
            self.client.login_again = login_again
            await self._answers.write(self._writer, sasl_message(SaslStatus.COMPLETE))
        return FramedSource(self._reader, self._context.settings.hive_max_message_bytes)

    def _found(self, caller: ProtocolCaller) -> None:
        self.client.found = caller
        calling.set(caller.name)

    async def _sasl_message(self, first: bytes) -> tuple[int, bytes]:
        status, length = HEAD.unpack(first + await self._reader.readexactly(HEAD.size - len(first)))
        if not 0 <= length <= MAX_SASL_BYTES:
            raise Refused("sasl_too_large")
        return status, await self._reader.readexactly(length)

    async def _refuse(self, reason: str, text: str) -> None:
        await self._answers.write(self._writer, sasl_message(SaslStatus.BAD, text))
        raise Refused(reason)


def _malformed(detail: str) -> str:
    return failure_of(CredentialRefused(detail, CredentialFault.MALFORMED)).text


def bounds_of(settings: Settings) -> MessageBounds:
    """Returns the bounds of a client's messages."""
    return MessageBounds(settings.hive_max_message_bytes)
