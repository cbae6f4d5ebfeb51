"""A server of Trino on the bench's lakehouse, in one process on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

import orjson
from sqlalchemy import make_url

from bench.client import Client
from bench.lakehouse import Lake
from bench.trino_archive import trino_server
from bench.two_workers import free_port

JAVA_VARIABLE = "SLUICE_BENCH_TRINO_JAVA"
READY_WITHIN_S = 300.0
STOP_WITHIN_S = 30.0
POLL_S = 0.2
HEAP = "4g"
CATALOG = "lake"
USER = "bench"
_PASSWORD = "SLUICE_BENCH_LAKE_PASSWORD"

# Those that Trino's manual recommends for each server, but for the heap.
JVM_OPTIONS = (
    f"-Xmx{HEAP}",
    "-XX:G1HeapRegionSize=32M",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:ReservedCodeCacheSize=512M",
    "-XX:PerMethodRecompilationCutoff=10000",
    "-XX:PerBytecodeRecompilationCutoff=10000",
    "-Djdk.attach.allowAttachSelf=true",
    "-Djdk.nio.maxCachedBufferSize=2000000",
    "-Dfile.encoding=UTF-8",
    "-XX:+EnableDynamicAgentLoading",
    "--add-modules=jdk.incubator.vector",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)
SERVER: Mapping[str, str] = {
    "coordinator": "true",
    "node-scheduler.include-coordinator": "true",
    "query.max-memory": "2GB",
    "query.max-memory-per-node": "2GB",
    "enable-large-dynamic-filters": "true",
}
LAKEHOUSE: Mapping[str, str] = {
    "connector.name": "iceberg",
    "iceberg.catalog.type": "jdbc",
    "iceberg.jdbc-catalog.catalog-name": CATALOG,
    "iceberg.jdbc-catalog.schema-version": "V0",
    "iceberg.jdbc-catalog.driver-class": "org.postgresql.Driver",
    "iceberg.metadata-cache.enabled": "true",
    "iceberg.dynamic-filtering.wait-timeout": "10s",
    "fs.hadoop.enabled": "true",
    "fs.memory-cache.max-size": "512MB",
    "fs.memory-cache.ttl": "12h",
}


@contextmanager
def trino_process(lake: Lake) -> Iterator[str]:
    """Starts the server, waits until it answers queries, yields its URL, and stops it at the end.

    Only this machine can reach it, and it ends with this process.

    Raises:
        RuntimeError: no Java is named for it, or it did not come up.
    """
    server, java = trino_server(lake.data_dir), _java()
    folder, port = lake.data_dir / "trino", free_port()
    _configure(folder, server, port, lake)
    with (folder / "server.log").open("wb") as lines:
        process = subprocess.Popen(
            [*_ended_with_this(), *_command(java, server, folder)],
            cwd=folder,
            stdout=lines,
            stderr=subprocess.STDOUT,
            env=_environment(lake),
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_ready(url, process, folder / "server.log")
            yield url
        finally:
            _stop(process)


def _java() -> Path:
    home = os.environ.get(JAVA_VARIABLE)
    if home is None or not Path(home, "bin", "java").exists():
        raise RuntimeError(f"Trino needs Java 24 or later: set {JAVA_VARIABLE} to the home of one.")
    return Path(home, "bin", "java")


def _command(java: Path, server: Path, folder: Path) -> list[str]:
    return [
        *(str(java), *JVM_OPTIONS, f"-Djava.io.tmpdir={folder}", "-cp", f"{server}/lib/*"),
        *("-Dnode.environment=bench", "-Dnode.id=bench", f"-Dnode.data-dir={folder}"),
        *(f"-Dconfig={folder}/config.properties", "io.trino.server.TrinoServer"),
    ]


def _environment(lake: Lake) -> dict[str, str]:
    """Returns the environment with the lakehouse's password, without the options of the Java of Spark."""
    inherited = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
    return {**inherited, _PASSWORD: make_url(lake.catalogs["lake"]["uri"]).password or ""}


def _ended_with_this() -> tuple[str, ...]:
    """Returns what has the kernel end the server if this process is killed, where there is such a program."""
    program = shutil.which("setpriv")
    return (program, "--pdeathsig", "KILL") if program else ()


def _configure(folder: Path, server: Path, port: int, lake: Lake) -> None:
    catalogs = folder / "catalog"
    catalogs.mkdir(parents=True, exist_ok=True)
    address = {
        "http-server.http.port": str(port),
        "discovery.uri": f"http://127.0.0.1:{port}",
        "node.bind-ip": "127.0.0.1",
        "node.internal-address": "127.0.0.1",
        "plugin.dir": str(server / "plugin"),
        "catalog.config-dir": str(catalogs),
    }
    found = lake.catalogs["lake"]
    uri = make_url(found["uri"])
    lakehouse = {
        "iceberg.jdbc-catalog.connection-url": f"jdbc:postgresql://{uri.host}:{uri.port}/{uri.database}",
        "iceberg.jdbc-catalog.connection-user": uri.username or "",
        "iceberg.jdbc-catalog.connection-password": f"${{ENV:{_PASSWORD}}}",
        "iceberg.jdbc-catalog.default-warehouse-dir": found["warehouse"],
    }
    (folder / "config.properties").write_text(properties({**SERVER, **address}))
    (catalogs / f"{CATALOG}.properties").write_text(properties({**LAKEHOUSE, **lakehouse}))


def properties(values: Mapping[str, str]) -> str:
    r"""Returns the text of a file of properties.

    >>> properties({"coordinator": "true"})
    'coordinator=true\n'
    """
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        if _is_ready(url):
            return
        time.sleep(POLL_S)
    raise RuntimeError(f"Trino did not come up; {log} says why.")


def _is_ready(url: str) -> bool:
    client = Client(url)
    try:
        status, answer = client.get("/v1/info")
        return status == 200 and orjson.loads(answer)["starting"] is False
    except (OSError, HTTPException):
        return False
    finally:
        client.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_WITHIN_S)
