"""Tests what hostile and broken clients can do to the listener: nothing."""

from __future__ import annotations

import asyncio
import struct

import pytest

from api.bootstrap.settings import Settings
from tests.unit.api.hive_server.conftest import HiveClient, Running, running

pytestmark = pytest.mark.anyio
SASL_START = struct.pack(">bi", 1, 5) + b"PLAIN"


async def closed_after(server: Running, data: bytes) -> bool:
    client = await server.connect()
    client.writer.write(data)
    return await client.is_closed()


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x80\x01\x00\x01",
        struct.pack(">bi", 1, 2**31 - 1),
        struct.pack(">bi", 1, -1),
        SASL_START + struct.pack(">bi", 4, 0),
    ],
    ids=["http", "without sasl", "2 GB", "negative", "client error"],
)
async def test_what_is_no_handshake_ends_the_connection(data: bytes) -> None:
    async with running() as server:
        assert await closed_after(server, data)


@pytest.mark.parametrize(
    ("mechanism", "token"),
    [(b"GSSAPI", b"\0kim\0x"), (b"PLAIN", b"kim"), (b"PLAIN", b"lou\0kim\0x"), (b"PLAIN", b"\0\xff\0x")],
    ids=["mechanism", "parts", "another name", "not utf-8"],
)
async def test_a_handshake_that_cannot_be_accepted_is_told_why(mechanism: bytes, token: bytes) -> None:
    async with running() as server:
        client = await server.connect()
        client.writer.write(struct.pack(">bi", 1, len(mechanism)) + mechanism)
        client.writer.write(struct.pack(">bi", 2, len(token)) + token)
        status, text = await client.sasl_answer()
        assert (status, bool(text), await client.is_closed()) == (3, True, True)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">i", 2**31 - 1),
        struct.pack(">i", -1),
        struct.pack(">i", 8) + b"not thri",
        struct.pack(">i", 5000) + b"\x80\x01\x00\x01\0\0\0\0\0\0\0\1" + b"\x0c\0\1" * 1663,
        struct.pack(">i", 16) + b"\x80\x01\x00\x01\x7f\xff\xff\xff" + bytes(8),
    ],
    ids=["2 GB", "negative", "no message", "deep", "name of 2 GB"],
)
async def test_what_is_no_message_ends_the_connection(data: bytes) -> None:
    async with running() as server:
        client = await server.connect()
        await client.sasl()
        client.writer.write(data)
        told = await client.receive()
        assert (told.type, told.fields[2], told.fields[1][:16]) == (3, 7, b"INVALID_REQUEST:")
        assert await client.is_closed()
        assert (await (await server.client()).execute("SELECT 1"))[1][1] == 0


async def test_a_message_may_come_in_any_pieces_and_frames() -> None:
    async with running() as server:
        client = await server.client()
        from api.hive_server.wire import structs
        from tests.unit.api.hive_server.thrift_values import written_call

        message = written_call("GetInfo", structs.GET_INFO, {**client.session, "infoType": 17})
        for start in range(0, len(message), 7):
            part = message[start : start + 7]
            client.writer.write(struct.pack(">i", 0) + struct.pack(">i", len(part)))
            await client.writer.drain()
            client.writer.write(part)
        assert (await client.receive()).fields[0][2] == {1: b"Spark SQL"}


async def test_connections_that_say_nothing_are_closed() -> None:
    async with running(hive_handshake_timeout_s=1, hive_idle_timeout_s=1, hive_message_timeout_s=1) as server:
        silent, half, idle, cut = [await server.connect() for _ in range(4)]
        half.writer.write(SASL_START[:3])
        await idle.sasl()
        await cut.sasl()
        cut.writer.write(struct.pack(">i", 100) + b"\x80\x01\x00\x01")
        for client in (silent, half, idle, cut):
            assert await client.is_closed()


async def test_connections_have_a_bound_and_half_open_ones_make_room() -> None:
    async with running(hive_max_connections=3, hive_max_connections_per_peer=3) as server:
        silent = [await server.connect() for _ in range(3)]
        clients = [await server.client() for _ in range(3)]
        for client in silent:
            assert await client.is_closed()
        assert await (await server.connect()).is_closed()
        for client in clients:
            assert (await client.execute("SELECT 1"))[1][1] == 0
        clients[0].writer.close()
        await asyncio.sleep(0.1)
        assert (await (await server.client()).execute("SELECT 1"))[1][1] == 0


async def test_a_stuck_engine_keeps_nobody_from_being_bounded() -> None:
    async with running(hive_handshake_timeout_s=1) as server:
        server.gateway.queries.may_answer.clear()
        try:
            stuck = await server.client()
            stuck.send(b"")
            waiting = asyncio.create_task(stuck.execute("SELECT 1"))
            await asyncio.sleep(0.1)
            assert await (await server.connect()).is_closed()
            assert not waiting.done()
        finally:
            server.gateway.queries.may_answer.set()
        assert (await waiting)[1][1] == 0


async def test_nosasl_has_no_handshake_and_sasl_is_refused_there() -> None:
    async with running(hive_authentication="nosasl") as server:
        assert await closed_after(server, SASL_START)
        client = await server.connect()
        plain = HiveClient(client.reader, client.writer, is_framed=False)
        from api.hive_server.wire import structs
        from tests.unit.api.hive_server.thrift_values import written_call

        plain.send(written_call("OpenSession", structs.OPEN_SESSION, {"client_protocol": 9}))
        assert (await client.reader.readexactly(4)) == b"\x80\x01\x00\x02"


@pytest.mark.parametrize(
    "settings",
    [
        {"hive_port": 0, "hive_host": "0.0.0.0"},
        {"hive_http": True, "host": "0.0.0.0", "allow_unauthenticated": True},
        {"hive_port": 0, "hive_authentication": "none", "api_keys": True},
        {"hive_fetch_max_bytes": 2**28, "hive_max_unread_bytes": 2**28},
    ],
    ids=["port", "http", "none with keys", "bytes"],
)
def test_settings_that_let_strangers_in_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"hive|Hive"):
        Settings(**settings)  # type: ignore[arg-type]
