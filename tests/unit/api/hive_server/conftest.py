from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from api.bootstrap.settings import Settings
from api.hive_server.calls.methods import METHODS
from api.hive_server.calls.protocol_numbers import V6, V10
from api.hive_server.hive_server import HiveServer
from api.http.app import create_app
from api.http.protocol_servers import ProtocolEdge
from service.model.tables.contents import SchemaEntry
from service.ports.clock import Clock
from tests.fakes.contents import FakeContents
from tests.fakes.gateway import FakeGateway
from tests.unit.api.hive_server.thrift_values import Reply, read_reply, written_call


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class HiveClient:
    """A client of the protocol: one connection, and the bytes as Apache Thrift's own library has them."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    is_framed: bool = True
    session: dict[str, Any] = field(default_factory=dict)

    async def sasl(
        self, name: str = "kim", password: str = "x", mechanism: bytes = b"PLAIN"
    ) -> tuple[int, bytes]:
        self.writer.write(struct.pack(">bi", 1, len(mechanism)) + mechanism)
        token = f"\0{name}\0{password}".encode()
        self.writer.write(struct.pack(">bi", 2, len(token)) + token)
        return await self.sasl_answer()

    async def sasl_answer(self) -> tuple[int, bytes]:
        status, length = struct.unpack(">bi", await self.reader.readexactly(5))
        return status, await self.reader.readexactly(length)

    async def call(self, method: str, request: Mapping[str, Any] = {}, **more: Any) -> dict[int, Any]:
        """Returns the fields of the answer."""
        reply = await self.reply(written_call(method, METHODS[method].request, {**request, **more}))
        assert reply.type == 2, reply
        found: dict[int, Any] = reply.fields[0]
        return found

    async def reply(self, message: bytes) -> Reply:
        self.send(message)
        return await self.receive()

    def send(self, message: bytes) -> None:
        self.writer.write((struct.pack(">i", len(message)) if self.is_framed else b"") + message)

    async def receive(self) -> Reply:
        assert self.is_framed, "an answer without a frame is read by its own end"
        (length,) = struct.unpack(">i", await self.reader.readexactly(4))
        return read_reply(await self.reader.readexactly(length))

    async def open(self, protocol: int = V10, **request: Any) -> dict[int, Any]:
        """Opens a session, which later calls have."""
        answer = await self.call("OpenSession", {"client_protocol": protocol}, **request)
        if answer[1][1] == 0:
            handle = answer[3][1]
            self.session = {"sessionHandle": {"sessionId": {"guid": handle[1], "secret": handle[2]}}}
        return answer

    async def execute(self, sql: str, **request: Any) -> dict[int, Any]:
        return await self.call("ExecuteStatement", self.session, statement=sql, **request)

    async def is_closed(self) -> bool:
        """Whether the server closes the connection, without another byte."""
        async with asyncio.timeout(20):
            try:
                return await self.reader.read(1) == b""
            except ConnectionError:
                return True


def operation_of(answer: Mapping[int, Any]) -> dict[str, Any]:
    """Returns the handle of the operation that an answer has."""
    assert answer[1][1] == 0, answer
    found = answer[2][1]
    return {"operationHandle": {"operationId": {"guid": found[1], "secret": found[2]}}}


def rows_of(answer: Mapping[int, Any]) -> list[list[Any]]:
    """Returns the columns of a fetch, without NULLs."""
    assert answer[1][1] == 0, answer
    return [next(iter(column.values()))[1] for column in answer[3][3]]


@dataclass
class Running:
    """A listener over a gateway in memory."""

    gateway: FakeGateway
    server: HiveServer
    app: Any
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def connect(self) -> HiveClient:
        assert self.server.listener is not None
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.listener.port)
        self.writers.append(writer)
        return HiveClient(reader, writer)

    async def close(self) -> None:
        """Closes all connections."""
        for writer in self.writers:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def client(self, protocol: int = V6, **request: Any) -> HiveClient:
        """Returns a client with a session."""
        client = await self.connect()
        assert await client.sasl() == (5, b"")
        assert (await client.open(protocol, **request))[1][1] == 0
        return client


@asynccontextmanager
async def running(clock: Clock | None = None, **settings: Any) -> AsyncIterator[Running]:
    """Runs the app with a listener, over a gateway in memory."""
    gateway = FakeGateway()
    gateway.contents = FakeContents([SchemaEntry("lake", "tpcds"), SchemaEntry("lake", "empty")])
    made: list[HiveServer] = []

    def factory(edge: ProtocolEdge) -> HiveServer:
        made.append(HiveServer(edge))
        return made[0]

    given: dict[str, Any] = {"hive_port": 0, "default_schema": "tpcds"} | settings
    app = create_app(Settings(**given), lambda: gateway, clock=clock, protocols=[factory])
    async with app.router.lifespan_context(app):
        await app.state.app_context.access.opened()
        server = Running(gateway, made[0], app)
        try:
            yield server
        finally:
            await server.close()
