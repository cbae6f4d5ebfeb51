"""Hostile requests get an error of the caller's, with a stable code, and change and reveal nothing."""

from __future__ import annotations

import json
import re
import socket
from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import rows
from tests.integration.hostile_requests import SECRETS, HostileRequest, all_hostile_requests
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration

REQUESTS = all_hostile_requests()
KINDS = sorted({request.kind for request in REQUESTS})
ROLES: Mapping[str, Mapping[str, str]] = {"anonymous": {}}
"""The headers that each role authenticates with."""
AT_LEAST = 500
WAIT_S = 75
_CODE = re.compile(r"[A-Z][A-Z_]{3,40}")
_SERVERS_OWN = frozenset({"INTERNAL"})


def test_there_are_enough_of_each_kind() -> None:
    counts = Counter(request.kind for request in REQUESTS)
    assert counts.total() >= AT_LEAST
    assert all(count >= 20 for count in counts.values()), counts


def answered(
    running: RunningGateway, request: HostileRequest, role: Mapping[str, str]
) -> tuple[int, str, str]:
    """Returns the status, the head and the body; the status is 0 if the connection was only closed."""
    address = urlsplit(running.url)
    assert address.hostname is not None
    assert address.port is not None
    with socket.create_connection((address.hostname, address.port), WAIT_S) as peer:
        received = _exchanged(peer, request.as_bytes(address.netloc, role))
    head, _, body = received.decode("utf-8", "replace").partition("\r\n\r\n")
    found = re.match(r"HTTP/1\.1 (\d{3})", head)
    return (int(found[1]) if found else 0), head, body


def _exchanged(peer: socket.socket, sent: bytes) -> bytes:
    """Returns what comes back until the other side closes. Half a close would cancel the query."""
    received = b""
    try:
        peer.sendall(sent)
        while more := peer.recv(65_536):
            received += more
    except (ConnectionError, TimeoutError):
        pass
    return received


def fault_in(request: HostileRequest, status: int, head: str, body: str) -> str:
    """Returns what is wrong with the answer; empty if nothing is."""
    if any(secret in head + body for secret in SECRETS):
        return "reveals something"
    if not 400 <= status < 500:
        return f"status {status}"
    if "application/problem+json" not in head:
        return "no problem+json"
    code = str(json.loads(body).get("code"))
    if not _CODE.fullmatch(code) or code in _SERVERS_OWN:
        return f"code {code}"
    return f"code {code}" if request.codes and code not in request.codes else ""


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_request_is_the_callers_error(
    kind: str, role: str, running: RunningGateway, lake: SqlCatalog
) -> None:
    tables = sorted(lake.list_tables("shop"))
    location = lake.load_table("shop.sales").metadata_location
    jvm = running.jvm()
    faults = []
    for request in REQUESTS:
        if request.kind == kind:
            status, head, body = answered(running, request, ROLES[role])
            if fault := fault_in(request, status, head, body):
                sent = (request.headers, request.content[:160])
                faults.append(f"{fault}: {request.method} {request.target[:80]} {sent!r} -> {body[:200]}")
    assert not faults, "\n".join(faults)
    assert running.jvm() == jvm
    assert sorted(lake.list_tables("shop")) == tables
    assert lake.load_table("shop.sales").metadata_location == location
    assert rows(running.client, "SELECT 1") == [[1]]


def test_the_gateway_is_well_after_all_of_them(gateway: httpx.Client) -> None:
    assert gateway.get("/readyz").status_code == 200
