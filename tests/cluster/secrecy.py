"""Only those who have the cluster's secret can use it, and no command line shows it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psutil

from tests.cluster.balancer import is_open
from tests.cluster.findings import Finding
from tests.cluster.place import Place
from tests.integration.spark_cluster import REST_PORT, WORKERS
from tests.integration.spark_strangers import asks_for_secret, is_worker_without_secret_refused
from tests.tcp_proxy import HOST


def secrecy(place: Place) -> Iterator[Finding]:
    """Checks ports, strangers and command lines."""
    spark = place.spark
    of_master = spark.ports("master")
    yield Finding(
        "ports of the master: RPC and its page, no REST server",
        f"{REST_PORT} is {'open to somebody else' if is_open(REST_PORT) else 'closed'}",
        of_master == {spark.port, spark.web_port} and REST_PORT not in of_master,
    )
    yield Finding(
        "a request to the master's RPC without the secret",
        "refused",
        asks_for_secret(HOST, spark.port),
    )
    drivers = [_rpc_ports(process) for process in (gateway.jvm() for gateway in place.gateways) if process]
    asked = [asks_for_secret(HOST, port) for ports in drivers for port in ports]
    yield Finding(
        "the same to each gateway's driver", f"{sum(asked)} ports ask for it", sum(asked) >= 2 * len(drivers)
    )
    yield Finding(
        "a worker without the secret", "not taken", is_worker_without_secret_refused(spark, place.folder)
    )
    shown = [process for process in place.processes() if spark.secret in " ".join(_command(process))]
    yield Finding("command lines that show the secret", str(len(shown)), not shown)
    applications = spark.status()["activeapps"]
    folders = [list((spark.folder / "work" / name).glob("*/*/stderr")) for name in WORKERS]
    yield Finding(
        "applications of the cluster, each with an executor on both workers",
        f"{len(applications)}, executors {' and '.join(str(len(folder)) for folder in folders)}",
        len(applications) == len(place.gateways)
        and all(
            {path.parts[-3] for path in found} >= {app["id"] for app in applications} for found in folders
        ),
    )


def _rpc_ports(jvm: psutil.Process) -> list[int]:
    """Returns a driver's ports: its RPC, its block manager, and py4j, which has its own token."""
    listening = [
        connection for connection in jvm.net_connections("tcp") if connection.status == psutil.CONN_LISTEN
    ]
    return [connection.laddr.port for connection in listening]


def _command(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []
