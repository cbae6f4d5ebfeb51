"""Tests that PyHive connects as it is in each of its ways, over a real connection, with and without TLS."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from impala.dbapi import connect as impala_connect
from pyhive import hive as pyhive
from pyhive.exc import OperationalError
from thrift.transport.TSSLSocket import TSSLSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException
from thrift_sasl import TSaslClientTransport

from tests.integration.tls import Authority
from tests.unit.api.hive_server.conftest import Running, running

pytestmark = pytest.mark.anyio
HOST, NAME, PASSWORD = "127.0.0.1", "kim", "secret"
TOKENS = {NAME: hashlib.sha256(PASSWORD.encode()).hexdigest()}
ROWS = [(1, "a"), (2, None), (3, 'b,"c"')]


def rows(connect: Callable[[], Any]) -> list[tuple[Any, ...]]:
    with closing(connect()) as connection, closing(connection.cursor()) as cursor:
        cursor.arraysize = 2
        cursor.execute("SELECT * FROM store_returns")
        return [tuple(row) for row in cursor.fetchall()]


async def read(server: Running, **arguments: Any) -> list[tuple[Any, ...]]:
    """Reads the rows by PyHive."""
    return await asyncio.to_thread(
        rows, lambda: pyhive.connect(HOST, port_of(server), username=NAME, **arguments)
    )


def port_of(server: Running) -> int:
    assert server.server.listener is not None
    return server.server.listener.port


@pytest.mark.parametrize("settings", [{}, {"hive_authentication": "none"}], ids=["plain", "none"])
@pytest.mark.parametrize(
    "arguments",
    [{}, {"auth": "NONE"}, {"auth": "LDAP", "password": "any"}, {"auth": "CUSTOM", "password": "any"}],
    ids=["default", "none", "ldap", "custom"],
)
async def test_pyhive_connects_by_sasl_without_authentication(
    settings: dict[str, Any], arguments: dict[str, Any]
) -> None:
    async with running(**settings) as server:
        assert await read(server, **arguments) == ROWS


async def test_pyhive_connects_without_sasl() -> None:
    async with running(hive_authentication="nosasl") as server:
        assert await read(server, auth="NOSASL") == ROWS


async def test_impyla_connects_without_sasl() -> None:
    async with running(hive_authentication="nosasl") as server:

        def connect() -> Any:
            return impala_connect(host=HOST, port=port_of(server), auth_mechanism="NOSASL")

        assert await asyncio.to_thread(rows, connect) == ROWS


@pytest.mark.parametrize("auth", ["LDAP", "CUSTOM"])
async def test_pyhive_sends_its_password_by_sasl(auth: str) -> None:
    async with running(api_tokens=TOKENS) as server:
        assert await read(server, auth=auth, password=PASSWORD) == ROWS
        with pytest.raises(TTransportException, match="UNAUTHENTICATED"):
            await read(server, auth=auth, password="wrong")
        with pytest.raises(TTransportException, match="UNAUTHENTICATED"):
            await read(server, auth="NONE")


async def test_pyhive_has_no_password_without_sasl() -> None:
    async with running(api_tokens=TOKENS, hive_authentication="nosasl") as server:
        with pytest.raises(OperationalError, match="UNAUTHENTICATED"):
            await read(server, auth="NOSASL")


def over_tls(port: int, authority: Path, auth: str) -> Any:
    """Connects by a transport of the caller's own: PyHive itself has TLS over HTTP only."""
    socket = TSSLSocket(HOST, port, cert_reqs=ssl.CERT_REQUIRED, ca_certs=str(authority))
    if auth == "NOSASL":
        return pyhive.connect(thrift_transport=TBufferedTransport(socket))

    def sasl() -> Any:
        return pyhive.get_installed_sasl(HOST, "PLAIN", username=NAME, password=PASSWORD)

    return pyhive.connect(thrift_transport=TSaslClientTransport(sasl, "PLAIN", socket))


@pytest.mark.parametrize(
    ("auth", "settings"),
    [("LDAP", {"api_tokens": TOKENS}), ("NOSASL", {"hive_authentication": "nosasl"})],
    ids=["sasl", "nosasl"],
)
async def test_pyhive_takes_a_transport_with_tls(tmp_path: Path, auth: str, settings: dict[str, Any]) -> None:
    authority, stranger = Authority(tmp_path / "ours"), Authority(tmp_path / "other", "stranger")
    certificate = authority.certificate(HOST)
    tls: dict[str, Any] = {"tls_certificate_file": certificate, "tls_key_file": certificate}
    async with running(**tls, **settings) as server:
        port = port_of(server)
        assert await asyncio.to_thread(rows, lambda: over_tls(port, authority.ca, auth)) == ROWS
        # Thrift's socket raises the last one when it closes a connection that it could not open.
        with pytest.raises((TTransportException, ssl.SSLError, AttributeError)):
            await asyncio.to_thread(rows, lambda: over_tls(port, stranger.ca, auth))
