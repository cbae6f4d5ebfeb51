"""Gateways that speak all protocols of SQL: one with policies for callers with tokens, one that is open."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import make_star
from tests.integration.running import RunningGateway
from tests.java_options import long_lived_jvms

ANONYMOUS, READER, NOBODY, ADMIN = "anonymous", "reader", "nobody", "admin"
ROLES = (ANONYMOUS, READER, NOBODY, ADMIN)
"""The anonymous caller asks a gateway that is open, the others one with policies."""
VICTIM = "victim"
"""Whose sessions, statements and results the others try to reach."""
TOKENS = {role: f"token-of-the-{role}-7e2b" for role in (READER, NOBODY, ADMIN, VICTIM)}
_READS = [{"tables": "lake.*.*", "actions": ["select"]}]
_GRANTS = {
    READER: {
        "grants": _READS,
        "rowFilters": [{"tables": "lake.shop.sales", "predicate": "amount > 0"}],
    },
    VICTIM: {"grants": _READS},
    ADMIN: {"grants": [{"tables": "*.*.*", "actions": ["admin"]}]},
}


@dataclass(frozen=True)
class Place:
    """A gateway, its tables, and where it speaks HiveServer2's protocol and Arrow Flight SQL."""

    running: RunningGateway
    lake: SqlCatalog
    hive_port: int
    flight_port: int

    @property
    def http_url(self) -> str:
        return f"{self.running.url}/cliservice"


@dataclass(frozen=True)
class Caller:
    """One who calls a place. The token is empty for the anonymous caller."""

    role: str
    place: Place
    token: str = field(repr=False)

    @property
    def is_known(self) -> bool:
        """Whether it has credentials that could be wrong, and others whose things it could reach for."""
        return bool(self.token)


@pytest.fixture(scope="package")
def policed(shared_folder: Path) -> Iterator[Place]:
    digests = {name: sha256(token.encode()).hexdigest() for name, token in TOKENS.items()}
    settings = {
        "SLUICE_API_TOKENS": json.dumps(digests),
        "SLUICE_PRINCIPAL_ROLES": json.dumps({name: [name] for name in TOKENS}),
        "SLUICE_ADMINS": ADMIN,
        "SLUICE_AUTHORIZATION": "policies",
        # All callers have one address, and send many wrong tokens.
        "SLUICE_AUTH_FAILURES_PER_MINUTE": "100000",
    }
    for place in _place(shared_folder / "policed", settings):
        for name, token in TOKENS.items():
            place.running.watch_password(name, token)
        with place.running.client_with(TOKENS[ADMIN]) as admin:
            version = admin.get("/policies").json()["version"]
            put = admin.put("/policies", json={"version": version, "roles": _GRANTS})
            assert put.status_code == 200, put.text
        yield place


@pytest.fixture(scope="package")
def opened(shared_folder: Path) -> Iterator[Place]:
    yield from _place(shared_folder / "opened", {})


@pytest.fixture(scope="package", params=ROLES)
def caller(request: pytest.FixtureRequest) -> Caller:
    if request.param == ANONYMOUS:
        return Caller(ANONYMOUS, request.getfixturevalue("opened"), "")
    return Caller(request.param, request.getfixturevalue("policed"), TOKENS[request.param])


@pytest.fixture
def victim(caller: Caller) -> Caller:
    """The victim, where the caller is."""
    return Caller(VICTIM, caller.place, TOKENS[VICTIM]) if caller.is_known else caller


def _place(folder: Path, settings: Mapping[str, str]) -> Iterator[Place]:
    hive_port, flight_port = _free_port(), _free_port()
    whole = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_DEFAULT_SCHEMA": "shop",
        "SLUICE_HIVE_PORT": str(hive_port),
        "SLUICE_HIVE_HTTP": "true",
        "SLUICE_FLIGHT_PORT": str(flight_port),
        "SLUICE_FLIGHT_MAX_MESSAGE_BYTES": str(1024 * 1024),
        **settings,
    }
    with long_lived_jvms():
        running = RunningGateway.start(folder, whole, within_s=400)
    try:
        with closing(embedded_catalog(running.data_dir)) as lake:
            make_star(lake)
            yield Place(running, lake, hive_port, flight_port)
    finally:
        running.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
