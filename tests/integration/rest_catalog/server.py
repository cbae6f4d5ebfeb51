"""Iceberg's REST catalog for tests, in a process of its own that can be stopped and restarted.

It is for tests only: it has no setting for its address, and listens on all of them. Its tables are in a
SQLite file below `folder`, so they survive a restart.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import httpx

from spark_session.jars.jars import check_java

NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})
_START_WITHIN_POLLS = 600
_POLL_S = 0.05


class RestCatalogServer:
    def __init__(self, class_path: str, folder: Path, properties: Mapping[str, str] = NO_PROPERTIES) -> None:
        self._class_path = class_path
        self._folder = folder
        self._properties = properties
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def warehouse(self) -> str:
        return f"file://{self._folder}/warehouse"

    def start(self) -> None:
        """Starts the catalog, and returns when it answers."""
        self._folder.mkdir(parents=True, exist_ok=True)
        log = self._folder / "server.log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command(), env=self._environment(), stdout=output, stderr=subprocess.STDOUT
            )
        for _ in range(_START_WITHIN_POLLS):
            if _answers(self.uri):
                return
            if _ends_within(self._process, _POLL_S):
                break
        self.stop()
        raise AssertionError(f"The REST catalog did not start: {log.read_text()[-2000:]}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _command(self) -> list[str]:
        bounds = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        main = "org.apache.iceberg.rest.RESTCatalogServer"
        return [str(check_java()), *bounds, "-cp", self._class_path, main]

    def _environment(self) -> dict[str, str]:
        # The server turns these into the catalog's properties: `__` becomes a dash, and `_` a dot.
        return dict(os.environ) | {
            "CATALOG_URI": f"jdbc:sqlite:{self._folder}/catalog.db",
            "CATALOG_WAREHOUSE": self.warehouse,
            "CATALOG_CLIENTS": "1",
            "CATALOG_REST_PORT": str(self.port),
            **{_variable(name): value for name, value in self._properties.items()},
        }


@contextmanager
def rest_catalog_server(
    class_path: str, folder: Path, properties: Mapping[str, str] = NO_PROPERTIES
) -> Iterator[RestCatalogServer]:
    """Runs a server with these catalog properties, and stops it at the end in any case."""
    server = RestCatalogServer(class_path, folder, properties)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _variable(name: str) -> str:
    return f"CATALOG_{name.upper().replace('-', '__').replace('.', '_')}"


def _answers(uri: str) -> bool:
    try:
        return httpx.get(f"{uri}/v1/config", timeout=1, trust_env=False).is_success
    except httpx.TransportError:
        return False


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
