"""A standalone Spark cluster on loopback: one master and two workers, from PySpark's own files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from service.adapters.embedded.embedded_valkey import HOST
from tests.integration.running import until

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"


@contextmanager
def spark_cluster(folder: Path, port: int) -> Iterator[str]:
    """The master's address, once its workers have registered with it; all end with the block."""
    url = f"spark://{HOST}:{port}"
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        master = _daemon(
            stack, [MASTER, "--host", HOST, "--port", str(port), "--webui-port", "0"], folder, "master"
        )
        until(lambda: "I have been elected leader" in master.read_text(), 60)
        workers = [
            _daemon(stack, [WORKER, *_arguments(folder / "work" / name), url], folder, name)
            for name in ("worker-1", "worker-2")
        ]
        for each in workers:
            until(lambda log=each: "Successfully registered with master" in log.read_text(), 60)  # type: ignore[misc]
        yield url


def _arguments(folder: Path) -> list[str]:
    return ["--host", HOST, "--webui-port", "0", "-c", "1", "-m", "1g", "-d", str(folder)]


def _daemon(stack: ExitStack, command: Sequence[str], folder: Path, name: str) -> Path:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    spark_home = Path(spec.origin).parent
    log_path = folder / f"{name}.log"
    log = stack.enter_context(log_path.open("w"))
    process = subprocess.Popen(
        [str(spark_home / "bin" / "spark-class"), *command],
        env=os.environ | {"SPARK_HOME": str(spark_home), "SPARK_NO_DAEMONIZE": "1"},
        stdout=log,
        stderr=log,
    )
    stack.callback(process.wait, 30)
    stack.callback(process.terminate)
    return log_path
