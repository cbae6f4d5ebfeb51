"""Two gateways behind one address, which share a database, a cache and a catalog."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.asking import ask
from tests.integration.lakehouse import make_star
from tests.integration.running import REPOSITORY, RunningGateway, run_sluice
from tests.integration.servers import postgres, valkey
from tests.polling import until
from tests.rolling.front import free_ports, front
from tests.rolling.load import TABLE

CALLERS = 8


@dataclass
class Place:
    """Both gateways, what they share, and their common address."""

    url: str
    front: str
    tokens: Sequence[str]
    folders: Sequence[Path]
    settings: Sequence[dict[str, str]]
    gateways: list[RunningGateway] = field(default_factory=list)

    def start(self, number: int, code: Path = REPOSITORY) -> RunningGateway:
        """Starts a gateway with the code of this folder."""
        return RunningGateway.start(self.folders[number], self.settings[number], code=code)

    def replace(self, number: int, code: Path = REPOSITORY) -> None:
        """Stops a gateway, and starts one with the code of this folder in its place."""
        assert self.gateways[number].stop(within_s=120) == 0
        self.gateways[number] = self.start(number, code)

    def migrate(self, code: Path = REPOSITORY) -> None:
        """Brings the schema to the version of this folder."""
        migrated = run_sluice("migrate", self.folders[0], self.settings[0], code=code)
        assert migrated.returncode == 0, migrated.stderr

    def client(self, token: str, gateway: RunningGateway | None = None) -> httpx.Client:
        """Makes a client of the front, or of one gateway."""
        url = self.url if gateway is None else gateway.url
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=url, headers=headers, timeout=120, trust_env=False)

    def check_records(self, acknowledged: Sequence[int], base: int = 1) -> None:
        """Checks that each of these records is in the table once, and no other record of these callers."""
        first, last = base * 1_000_000, (base + CALLERS) * 1_000_000
        sql = f"SELECT id, count(*) FROM {TABLE} WHERE id >= {first} AND id < {last} GROUP BY id"

        def found() -> dict[int, int]:
            with self.client(self.tokens[0], self.gateways[1]) as client:
                answer = ask(client, sql, rowLimit=100_000)
                rows = list(answer["result"]["rows"])
                link = answer["result"]["nextChunkLink"]
                while link:
                    chunk = client.get(link).json()
                    rows += chunk["rows"]
                    link = chunk["nextChunkLink"]
            return dict(rows)

        until(lambda: len(found()) >= len(acknowledged), 60)
        counted = found()
        assert counted == dict.fromkeys(acknowledged, 1)
        print(f"{len(counted)} records were acknowledged, each is in the table once")  # noqa: T201


@contextmanager
def two_gateways(folder: Path, code: Path = REPOSITORY) -> Iterator[Place]:
    """Runs two gateways with the code of this folder, and stops those that run at the end."""
    with ExitStack() as stack:
        database = stack.enter_context(postgres(folder / "rolling" / "database", "metrics", "lake"))
        cache = stack.enter_context(valkey())
        lake = {"type": "sql", "uri": database.url("lake"), "warehouse": (folder / "shared").as_uri()}
        make_star(stack.enter_context(closing(SqlCatalog("lake", **lake))))
        tokens = [secrets.token_hex(16) for _ in range(CALLERS)]
        callers = {f"caller-{token[:4]}": hashlib.sha256(token.encode()).hexdigest() for token in tokens}
        settings = {
            "SLUICE_METRICS_STORE_URL": database.url("metrics"),
            "SLUICE_FILTER_CACHE_URL": cache.url,
            "SLUICE_CATALOGS": json.dumps({"lake": lake}),
            "SLUICE_API_TOKENS": json.dumps(callers),
            "SLUICE_SPARK_MASTER": "local[1]",
            "SLUICE_SPARK_DRIVER_MEMORY": "1g",
            # These are the values in compose.yaml.
            "SLUICE_SHUTDOWN_DELAY_S": "5",
            "SLUICE_LISTEN_WHEN_READY": "true",
            "SLUICE_KEEP_ALIVE_TIMEOUT_S": "75",
        }
        first, second, shown = free_ports(3)
        name = stack.enter_context(front(folder / "front", shown, (first, second)))
        place = Place(
            url=f"http://127.0.0.1:{shown}",
            front=name,
            tokens=tokens,
            folders=[folder / "rolling" / replica for replica in ("1", "2")],
            settings=[settings | {"SLUICE_PORT": str(port)} for port in (first, second)],
        )
        place.migrate(code)
        for number in range(2):
            place.gateways.append(place.start(number, code))
            stack.callback(_stop, place, number)
        yield place


def _stop(place: Place, number: int) -> None:
    if place.gateways[number].process.poll() is None:
        place.gateways[number].stop()
