"""The setup of the drill: one gateway, and two callers."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx

from tests.drill import hostile
from tests.drill.bystander import Bystander
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import RETURNS, make, returns_row
from tests.integration.running import REPOSITORY, RunningGateway
from tests.polling import until

TOKENS = {"bystander": "bystanders-token-1a", "hostile": "hostiles-token-2b"}
SETTINGS = {
    "SLUICE_SPARK_MASTER": "local[2]",
    "SLUICE_SPARK_DRIVER_MEMORY": "1g",
    "SLUICE_API_TOKENS": json.dumps(
        {name: hashlib.sha256(token.encode()).hexdigest() for name, token in TOKENS.items()}
    ),
    "SLUICE_ENGINE_PROBE_TIMEOUT_S": "3",
    "SLUICE_ENGINE_UNRESPONSIVE_S": "15",
}
QUIET_S = 5.0
LOOKS_EVERY_S = 0.5
ATTACKS_FOR_S = 120.0
NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class Place:
    """A gateway and its callers; seconds of its start, and of its slowest answer without an attack."""

    gateway: RunningGateway
    bystander: httpx.Client
    hostile: httpx.Client
    inbox: Path
    started_s: float
    quiet_s: float

    def attack(self, name: str) -> None:
        """Runs the attack of this name in a process of its own, for a bounded time."""
        command = [sys.executable, "-m", "tests.drill.hostile", self.gateway.url, str(self.inbox), name]
        environment = os.environ | {hostile.TOKEN: TOKENS["hostile"]}
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(command, cwd=REPOSITORY, env=environment, timeout=ATTACKS_FOR_S, check=True)

    def is_over(self) -> bool:
        """Cancels what the attack has left, and returns whether none of it still runs or was given up."""
        wait(LOOKS_EVERY_S)
        try:
            left = [query for state in ("QUEUED", "RUNNING") for query in self._queries(state)]
            for query_id in left:
                self.hostile.delete(f"/query/{query_id}", params={"waitTimeout": "0s"})
            readiness = self.hostile.get("/readyz")
        except httpx.TransportError:
            return False
        parts = readiness.json()["parts"].values() if readiness.status_code == 200 else ()
        return not left and bool(parts) and not any("iven up" in part["detail"] for part in parts)

    def _queries(self, state: str) -> Sequence[str]:
        found = self.hostile.get("/query", params={"state": state, "limit": 1000})
        return (
            [query["queryId"] for query in found.json()["queries"]] if found.status_code == 200 else [state]
        )


@contextmanager
def a_place() -> Iterator[Place]:
    """Runs a gateway with a table, and removes everything at the end."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="sluice-drill-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        inbox = folder / "inbox"
        inbox.mkdir()
        began_s = time.monotonic()
        sources = {"SLUICE_INGEST_SOURCE_PREFIXES": json.dumps([inbox.as_uri()])}
        gateway = RunningGateway.start(folder / "data", SETTINGS | sources)
        started_s = time.monotonic() - began_s
        stack.callback(gateway.kill)
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            lake.create_namespace("drill")
            make(lake, "drill.returns", RETURNS).append(returns_row(0))
        bystander, attacker = (stack.enter_context(_client(gateway, token)) for token in TOKENS.values())
        yield Place(gateway, bystander, attacker, inbox, started_s, _worst_when_quiet(bystander))


def _client(gateway: RunningGateway, token: str) -> httpx.Client:
    return httpx.Client(
        base_url=gateway.url,
        headers={"Authorization": f"Bearer {token}"},
        timeout=90,
        limits=httpx.Limits(max_keepalive_connections=0),
        trust_env=False,
    )


def _worst_when_quiet(client: httpx.Client) -> float:
    with Bystander(client, lambda: next(NUMBERS)) as bystander:
        until(lambda: len(bystander.answers) >= QUIET_S / 0.25, within_s=120)
    return max(answer.took_s for answer in bystander.answers[3:])


def wait(seconds: float) -> None:
    """Lets time pass, as the end of an abandoned call is noticed some seconds later."""
    threading.Event().wait(seconds)
