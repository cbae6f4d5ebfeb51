"""A gateway as operators run it: `sluice serve` in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import psutil

from bench.client import Client

READY_WITHIN_S = 180.0
STOP_WITHIN_S = 60.0
POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class GatewayProcess:
    """A gateway that is ready. `ready_s`: from its launch until `/readyz` said yes."""

    url: str
    process: psutil.Process
    ready_s: float

    def jvm(self) -> psutil.Process:
        """The JVM of its Spark session."""
        return next(child for child in self.process.children(recursive=True) if child.name() == "java")


@contextmanager
def gateway_process(environment: Mapping[str, str]) -> Iterator[GatewayProcess]:
    """Starts the gateway, waits until it is ready, and stops it at the end."""
    logs = Path(environment["SLUICE_DATA_DIR"]) / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / "bench.log").open("wb") as lines:
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "api.cli", "serve"],
            stdout=subprocess.PIPE,
            stderr=lines,
            env=dict(environment),
        )
        try:
            url = _ready_url(process, logs / "bench.log")
            yield GatewayProcess(url, psutil.Process(process.pid), time.monotonic() - started)
        finally:
            process.terminate()
            process.communicate(timeout=STOP_WITHIN_S)


def _ready_url(process: subprocess.Popen[bytes], log: Path) -> str:
    assert process.stdout is not None
    url = process.stdout.readline().decode().strip().rpartition(" ")[2]
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        if url and is_ready(url):
            return url
        time.sleep(POLL_S)
    raise RuntimeError(f"The gateway did not come up; {log} says why.")


def is_ready(url: str) -> bool:
    """Whether `/readyz` says yes."""
    client = Client(url)
    try:
        return client.get("/readyz")[0] == 200
    except (OSError, HTTPException):
        return False
    finally:
        client.close()
