"""A gateway as in production: no embedded servers, callers with tokens, two catalogs, small limits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import httpx
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.lakehouse import RETURNS, make, returns_row
from tests.integration.rest_catalog.jars import rest_catalog_class_path
from tests.integration.rest_catalog.server import RestCatalogServer, rest_catalog_server
from tests.integration.running import RunningGateway, run_sluice
from tests.integration.servers import Postgres, Valkey, postgres, valkey

TOKENS = {"alice": "alices-token-9c1f", "bob": "bobs-token-77aa"}
CATALOG_TOKEN = "catalogs-token-5e7d"
CHUNK_ROWS = 100
RESULT_TTL_S = 4
WORKERS = 2
MAX_QUEUED = 2
MAX_SQL_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Guarded:
    """The gateway, its two callers, and all servers that it uses."""

    running: RunningGateway
    alice: httpx.Client
    bob: httpx.Client
    store: Postgres
    lake_server: Postgres
    cache: Valkey
    rest_server: RestCatalogServer
    lake: SqlCatalog
    rest: RestCatalog
    settings: dict[str, str]
    start_before_migration: CompletedProcess[str]
    printed_settings: CompletedProcess[str]

    def secrets(self) -> list[str]:
        """Returns the secrets that nobody may read anywhere."""
        passwords = [self.store.password, self.lake_server.password, self.cache.password]
        return [*TOKENS.values(), CATALOG_TOKEN, *passwords]


@contextmanager
def guarded_gateway(folder: Path) -> Iterator[Guarded]:
    """Runs a gateway with a table in each catalog, and stops everything at the end."""
    with ExitStack() as stack:
        store = stack.enter_context(postgres(folder / "store", "metrics"))
        lake_server = stack.enter_context(postgres(folder / "lake", "lake"))
        cache = stack.enter_context(valkey())
        class_path = rest_catalog_class_path(folder / "rest-jars")
        rest_server = stack.enter_context(rest_catalog_server(class_path, folder / "rest"))
        catalogs = {
            "lake": {
                "type": "sql",
                "uri": lake_server.url("lake"),
                "warehouse": (folder / "warehouse").as_uri(),
            },
            "rest": {"type": "rest", "uri": rest_server.uri, "token": CATALOG_TOKEN},
        }
        lake = stack.enter_context(closing(SqlCatalog("lake", **catalogs["lake"], pool_pre_ping="true")))
        rest = stack.enter_context(closing(RestCatalog("rest", **catalogs["rest"])))
        for catalog in (lake, rest):
            catalog.create_namespace("shop")
            make(catalog, "shop.returns", RETURNS).append(returns_row(1))
        settings = _settings(store, cache, catalogs)
        refused = run_sluice("serve", folder / "data", settings | {"SLUICE_STORES_MAX_WAIT_S": "0"})
        migrated = run_sluice("migrate", folder / "data", settings)
        assert migrated.returncode == 0, migrated.stderr
        printed = run_sluice("config", folder / "data", settings)
        running = RunningGateway.start(folder / "data", settings)
        stack.callback(running.stop)
        alice = stack.enter_context(running.client_with(TOKENS["alice"]))
        bob = stack.enter_context(running.client_with(TOKENS["bob"]))
        parts = (store, lake_server, cache, rest_server, lake, rest, settings)
        yield Guarded(running, alice, bob, *parts, refused, printed)


def _settings(store: Postgres, cache: Valkey, catalogs: dict[str, dict[str, str]]) -> dict[str, str]:
    hashes = {caller: hashlib.sha256(token.encode()).hexdigest() for caller, token in TOKENS.items()}
    return {
        "SLUICE_METRICS_STORE_URL": store.url("metrics"),
        "SLUICE_FILTER_CACHE_URL": cache.url,
        "SLUICE_CATALOGS": json.dumps(catalogs),
        "SLUICE_API_TOKENS": json.dumps(hashes),
        # All callers of the tests have one address, and some of them send many wrong tokens.
        "SLUICE_AUTH_FAILURES_PER_MINUTE": "1000",
        "SLUICE_SPARK_MASTER": "local[4]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_QUERY_WORKERS": str(WORKERS),
        # A `SELECT 1` would pass the queries that these tests let wait.
        "SLUICE_SHORT_QUERY_WORKERS": "0",
        "SLUICE_MAX_QUEUED_QUERIES": str(MAX_QUEUED),
        "SLUICE_RESULT_TTL_S": str(RESULT_TTL_S),
        "SLUICE_CHUNK_ROWS": str(CHUNK_ROWS),
        "SLUICE_MAX_SQL_BYTES": str(MAX_SQL_BYTES),
        "SLUICE_MAX_PARAMETERS": "5",
        "SLUICE_MAX_ROW_LIMIT": "20000",
    }
