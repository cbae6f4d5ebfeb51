"""Spark's own Thrift server, from the jars that PySpark brings, on the bench's catalogs."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from api.bootstrap.parts.find_jars import engine_jars
from api.bootstrap.settings import Settings
from bench.lakehouse import Lake, clean_environment
from bench.two_workers import free_port
from service.adapters.catalogs.spark_catalog_properties import spark_catalog_properties

CLASS = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
READY_WITHIN_S = 600.0
STOP_WITHIN_S = 60.0
_POLL_S = 0.2


@contextmanager
def spark_thrift_server(lake: Lake) -> Iterator[int]:
    """Starts it with the master, the heap and the jars of a gateway's default settings; yields its port."""
    settings = Settings(data_dir=lake.data_dir)
    jars = engine_jars(settings, lake.catalogs.values(), lake.data_dir / "jars", is_reading_kafka=False)
    port = free_port()
    properties = {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        # A result of a million rows must not fail.
        "spark.driver.maxResultSize": "0",
    }
    for name, catalog in lake.catalogs.items():
        properties |= spark_catalog_properties(name, catalog)
    with tempfile.TemporaryDirectory(prefix="spark-thrift-server-") as folder:
        home = Path(pyspark.__file__).parent
        command = [
            *(str(home / "bin" / "spark-submit"), "--class", CLASS, "--name", "Thrift server"),
            *("--master", settings.spark_master, "--driver-memory", settings.spark_driver_memory),
            *("--jars", ",".join(map(str, jars))),
            *(word for name, value in properties.items() for word in ("--conf", f"{name}={value}")),
            "spark-internal",
            *("--hiveconf", f"hive.server2.thrift.port={port}"),
            *("--hiveconf", "hive.server2.thrift.bind.host=127.0.0.1"),
        ]
        # Its metastore, which nothing here uses, is in the folder in which it runs.
        environment = clean_environment(lake.data_dir) | {"SPARK_HOME": str(home), "SPARK_LOCAL_DIRS": folder}
        log = lake.data_dir / "logs" / "spark-thrift-server.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as lines:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=lines, stderr=lines)
            try:
                _wait_for(port, process, log)
                yield port
            finally:
                _stop(process)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(_POLL_S)
        else:
            return
    raise RuntimeError(f"Spark's Thrift server did not come up; {log} says why.")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
