"""A standalone Spark cluster on loopback: one master and two workers, from PySpark's own files.

Its RPC requires a secret, and its master runs no REST server, which would accept applications without one.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import psutil

from service.adapters.embedded.embedded_valkey import HOST
from tests.integration.running import REPOSITORY
from tests.polling import until

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
WORKERS = ("worker-1", "worker-2")
REST_PORT = 6066
"""The default port of a master's REST server."""

STARTS_WITHIN_S = 120.0
_WEB_PORT = re.compile(r"Successfully started service 'MasterUI' on port (\d+)")


@dataclass(frozen=True, slots=True)
class SparkCluster:
    """A master whose workers have registered."""

    url: str
    folder: Path
    secret: str
    daemons: Mapping[str, psutil.Process]

    @property
    def properties(self) -> dict[str, str]:
        """The `spark_conf` that a gateway on this machine needs; the size of executors is its own choice."""
        return {
            "spark.driver.host": HOST,
            "spark.authenticate": "true",
            "spark.authenticate.secret": self.secret,
            # Elsewhere, the executors' Python has the code as an installed wheel.
            "spark.pyspark.python": sys.executable,
            "spark.executorEnv.PYTHONPATH": str(REPOSITORY),
        }

    @property
    def port(self) -> int:
        """The port at which the master accepts applications."""
        return int(self.url.rpartition(":")[2])

    @property
    def web_port(self) -> int:
        """The port of the master's web page."""
        found = _WEB_PORT.search((self.folder / "master.log").read_text())
        assert found is not None
        return int(found[1])

    def status(self) -> dict[str, Any]:
        """Returns what the master reports of its workers and applications."""
        answer = httpx.get(f"http://{HOST}:{self.web_port}/json/", timeout=10, trust_env=False)
        found: dict[str, Any] = answer.json()
        return found

    def ports(self, name: str) -> set[int]:
        """Returns the ports at which this daemon listens."""
        found = self.daemons[name].net_connections("tcp")
        return {connection.laddr.port for connection in found if connection.status == psutil.CONN_LISTEN}


@contextmanager
def spark_cluster(folder: Path, port: int, cores: int = 1) -> Iterator[SparkCluster]:
    """Runs the cluster, with this number of cores for each worker, until the block ends."""
    url = f"spark://{HOST}:{port}"
    folder.mkdir(parents=True)
    secret = secrets.token_hex(32)
    conf = folder / "spark.conf"
    # Other users of the machine can read command lines, so the secret is in a file.
    conf.touch(0o600)
    conf.write_text(
        "spark.master.rest.enabled false\n"
        # Otherwise, anyone who reaches the page could end applications.
        "spark.ui.killEnabled false\n"
        "spark.authenticate true\n"
        f"spark.authenticate.secret {secret}\n"
    )
    given = ["--properties-file", str(conf)]
    with ExitStack() as stack:
        master = ["--host", HOST, "--port", str(port), "--webui-port", "0"]
        daemons = {"master": daemon(stack, [MASTER, *master, *given], folder, "master")}
        until(lambda: "I have been elected leader" in _log(folder, "master"), STARTS_WITHIN_S)
        for name in WORKERS:
            where = ["--host", HOST, "--webui-port", "0", "-c", str(cores), "-m", "2g"]
            own = ["-d", str(folder / "work" / name)]
            daemons[name] = daemon(stack, [WORKER, *where, *own, *given, url], folder, name)
        for name in WORKERS:
            until(lambda name=name: "Successfully registered" in _log(folder, name), STARTS_WITHIN_S)  # type: ignore[misc]
        yield SparkCluster(url, folder, secret, daemons)


def daemon(stack: ExitStack, command: Sequence[str], folder: Path, name: str) -> psutil.Process:
    """Runs one of Spark's own programs until the stack ends; it writes to `<name>.log`."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    spark_home = Path(spec.origin).parent
    log = stack.enter_context((folder / f"{name}.log").open("w"))
    process = subprocess.Popen(
        [str(spark_home / "bin" / "spark-class"), *command],
        cwd=folder,
        env=os.environ
        | {"SPARK_HOME": str(spark_home), "SPARK_NO_DAEMONIZE": "1", "SPARK_DAEMON_MEMORY": "256m"},
        stdout=log,
        stderr=log,
    )
    stack.callback(process.wait, 30)
    stack.callback(process.terminate)
    return psutil.Process(process.pid)


def _log(folder: Path, name: str) -> str:
    return (folder / f"{name}.log").read_text()
