"""Hostile requests get an error of the caller's, with a stable code, and change and reveal nothing."""

from __future__ import annotations

import json
import re
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import rows
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.hostile_requests import SECRETS, HostileRequest, all_hostile_requests
from tests.integration.lakehouse import make_star
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration

REQUESTS = all_hostile_requests()
KINDS = sorted({request.kind for request in REQUESTS})
ANONYMOUS, READER, NOBODY, ADMIN = "anonymous", "reader", "nobody", "admin"
ROLES = (ANONYMOUS, READER, NOBODY, ADMIN)
"""The anonymous caller asks a gateway that is open, the others one with policies."""
TOKENS = {role: f"token-of-the-{role}-5c1d" for role in ROLES if role != ANONYMOUS}
GRANTS = {
    READER: {
        "grants": [{"tables": "lake.*.*", "actions": ["select"]}],
        "rowFilters": [{"tables": "lake.shop.sales", "predicate": "amount > 0"}],
    },
    ADMIN: {"grants": [{"tables": "*.*.*", "actions": ["admin"]}]},
}
DENIED = frozenset({"TABLE_ACCESS_DENIED", "ADMIN_REQUIRED"})
AT_LEAST = 500
WAIT_S = 75
_CODE = re.compile(r"[A-Z][A-Z_]{3,40}")
_SERVERS_OWN = frozenset({"INTERNAL"})


@dataclass(frozen=True, slots=True)
class Target:
    """A gateway with its tables, and the headers that a role sends to it."""

    running: RunningGateway
    lake: SqlCatalog
    headers: Mapping[str, str]

    def answers(self, request: HostileRequest) -> bool:
        """Whether a gateway may answer: with credentials, it does so for any name in `Host`."""
        return bool(self.headers) and any(name == "Host" for name, _ in request.headers)

    @property
    def client(self) -> httpx.Client:
        return self.running.client_with(self.headers.get("Authorization", "").removeprefix("Bearer ") or None)


@pytest.fixture(scope="module")
def policed(folder: Path) -> Iterator[tuple[RunningGateway, SqlCatalog]]:
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_DEFAULT_SCHEMA": "shop",
        "SLUICE_INGEST_SOURCE_PREFIXES": (folder / "sources").as_uri(),
        "SLUICE_API_TOKENS": json.dumps(
            {role: sha256(text.encode()).hexdigest() for role, text in TOKENS.items()}
        ),
        "SLUICE_PRINCIPAL_ROLES": json.dumps({role: [role] for role in TOKENS}),
        "SLUICE_ADMINS": ADMIN,
        "SLUICE_AUTHORIZATION": "policies",
    }
    gateway = RunningGateway.start(folder / "policed", settings)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            make_star(lake)
            with gateway.client_with(TOKENS[ADMIN]) as admin:
                version = admin.get("/policies").json()["version"]
                put = admin.put("/policies", json={"version": version, "roles": GRANTS})
                assert put.status_code == 200, put.text
            yield gateway, lake
    finally:
        gateway.stop()


@pytest.fixture(scope="module", params=ROLES)
def target(request: pytest.FixtureRequest) -> Target:
    if request.param == ANONYMOUS:
        return Target(request.getfixturevalue("running"), request.getfixturevalue("lake"), {})
    gateway, lake = request.getfixturevalue("policed")
    return Target(gateway, lake, {"Authorization": f"Bearer {TOKENS[request.param]}"})


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
    return f"code {code}" if request.codes and code not in request.codes | DENIED else ""


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_request_is_the_callers_error(kind: str, target: Target) -> None:
    tables = sorted(target.lake.list_tables("shop"))
    location = target.lake.load_table("shop.sales").metadata_location
    jvm = target.running.jvm()
    faults = []
    for request in REQUESTS:
        if request.kind == kind and not target.answers(request):
            status, head, body = answered(target.running, request, target.headers)
            if fault := fault_in(request, status, head, body):
                sent = (request.headers, request.content[:160])
                faults.append(f"{fault}: {request.method} {request.target[:80]} {sent!r} -> {body[:200]}")
    assert not faults, "\n".join(faults)
    assert target.running.jvm() == jvm
    assert sorted(target.lake.list_tables("shop")) == tables
    assert target.lake.load_table("shop.sales").metadata_location == location
    with target.client as client:
        assert rows(client, "SELECT 1") == [[1]]


def test_the_gateway_is_well_after_all_of_them(gateway: httpx.Client) -> None:
    assert gateway.get("/readyz").status_code == 200
