"""Hundreds of connections, most of them half open: all others are served, and nothing is left of them."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.hive_server.calls.methods import METHODS
from tests.unit.api.hive_server.conftest import HiveClient, Running, operation_of, running
from tests.unit.api.hive_server.thrift_values import written_call

SASL_START = struct.pack(">bi", 1, 5) + b"PLAIN"
LOGIN = SASL_START + struct.pack(">bi", 2, 6) + b"\0kim\0x"
OF_EACH_KIND = 100
HALF_OPEN = {
    "silent": b"",
    "half of a start": SASL_START[:3],
    "half of a login": LOGIN[:-2],
    "half of a frame": LOGIN + struct.pack(">i", 100)[:2],
    "half of a message": LOGIN + struct.pack(">i", 100) + b"\x80\x01\x00\x01",
}
ROWS = pa.table({"text": ["x" * 1_000_000] * 8})
WITHIN_S = 60


async def stop_reading(server: Running) -> None:
    """Asks for 8 MB, and reads none of them."""
    client = await server.client()
    operation = operation_of(await client.execute("SELECT 1"))
    client.send(written_call("FetchResults", METHODS["FetchResults"].request, {**operation, "maxRows": 100}))
    await client.writer.drain()


def descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def open_connections(server: Running) -> int:
    assert server.server.listener is not None
    return server.server.listener.connections


@pytest.mark.anyio
async def test_500_connections_that_stop_half_way_keep_nobody_out() -> None:
    bounds: dict[str, Any] = {
        "hive_handshake_timeout_s": 3,
        "hive_idle_timeout_s": 3,
        "hive_message_timeout_s": 3,
    }
    async with running(hive_max_connections=450, hive_max_connections_per_peer=450, **bounds) as server:
        server.gateway.queries.rows = ROWS
        before = descriptors(), len(asyncio.all_tasks())
        for data in HALF_OPEN.values():
            for _ in range(OF_EACH_KIND):
                client = await server.connect()
                client.writer.write(data)
        for _ in range(10):
            await stop_reading(server)
        assert open_connections(server) <= 450
        async with asyncio.timeout(WITHIN_S):
            for _ in range(5):
                honest = await server.client()
                assert (await honest.execute("SELECT 1"))[1][1] == 0
                honest.writer.close()
            while open_connections(server):
                await asyncio.sleep(0.1)
        await server.close()
        server.writers.clear()
        async with asyncio.timeout(WITHIN_S):
            while descriptors() > before[0] or len(asyncio.all_tasks()) > before[1]:
                await asyncio.sleep(0.1)


def changed(message: bytes, random: Random) -> bytes:
    """Returns the message with bytes changed, left out or repeated, or with lengths that are not its own."""
    data = bytearray(message)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(data))
        match random.randrange(4):
            case 0:
                data[at] = random.randrange(256)
            case 1:
                del data[at : at + random.randint(1, 8)]
            case 2:
                data[at:at] = data[at : at + random.randint(1, 64)]
            case _:
                data[at : at + 4] = struct.pack(">i", random.choice((2**31 - 1, -1, 2**16, 0)))
        if not data:
            return b"\0"
    return bytes(data)


def messages(client: HiveClient) -> Iterator[bytes]:
    for method, request in {
        "OpenSession": {"client_protocol": 9, "configuration": {"use:database": "tpcds"}},
        "ExecuteStatement": {**client.session, "statement": "SELECT 1", "runAsync": True},
        "GetTables": {**client.session, "tableName": "%", "tableTypes": ["TABLE"]},
        "GetInfo": {**client.session, "infoType": 17},
    }.items():
        yield written_call(method, METHODS[method].request, request)


async def send_changed(seeds: list[int]) -> None:
    bounds: dict[str, Any] = {
        "hive_handshake_timeout_s": 2,
        "hive_message_timeout_s": 2,
        "hive_idle_timeout_s": 2,
    }
    async with running(**bounds) as server:
        honest = await server.client()
        for seed in seeds:
            random = Random(seed)
            client = await server.client()
            message = changed(random.choice(list(messages(client))), random)
            client.send(message)
            # It may look like the beginning of a longer message.
            client.writer.write_eof()
            async with asyncio.timeout(WITHIN_S):
                await client.reader.read()
            assert (await honest.execute("SELECT 1"))[1][1] == 0
        async with asyncio.timeout(WITHIN_S):
            honest.writer.close()
            while open_connections(server):
                await asyncio.sleep(0.05)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(seeds=st.lists(st.integers(0, 2**32), min_size=25, max_size=40))
def test_changed_messages_are_answered_or_end_their_connection_alone(seeds: list[int]) -> None:
    asyncio.run(send_changed(seeds))
