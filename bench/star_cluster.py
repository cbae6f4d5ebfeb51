"""The star queries of TPC-DS on a standalone Spark cluster of two workers.

This measures whether what a gateway keeps in its driver also helps where executors are other processes. Two
gateways take turns, each with a cluster of its own on loopback: a master and two workers of one core and one
executor each. One has every cache on, as in the measure of stock Spark, and cached filters; the other has the
default settings, and is asked with `dynamicFiltering.enabled: false`. Twelve star queries and a join of
returns and dates run over TPC-DS at scale 1: eight rounds to warm up, seven to measure. The numbers of rows
are compared in each. All processes share the machine's cores.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from matplotlib.figure import Figure

from bench.client import Client
from bench.contest import CACHED, SPARK, Contest
from bench.every_cache import EVERY_CACHE
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake, share_jars
from bench.measurement import Measurement
from bench.ratios import draw_ratios, faults_row, ratios, summary
from bench.star_queries import star_queries
from bench.tpcds_lake import IS_FULL, REMARKS
from bench.two_workers import free_port
from tests.integration.spark_cluster import spark_cluster

WARM_UP, ROUNDS = (8, 7) if IS_FULL else (1, 2)
TARGET = 1.0
MEMORY = {"SLUICE_SPARK_DRIVER_MEMORY": "2g"}


def measure(lake: Lake) -> Measurement:
    """Returns times by query and way, and their ratios."""
    with tempfile.TemporaryDirectory(prefix="sluice-star-cluster-") as name, ExitStack() as stack:
        stock, cached = (
            stack.enter_context(_on_cluster(lake, Path(name) / way, settings))
            for way, settings in (("stock", {}), ("cached", EVERY_CACHE))
        )
        contest = Contest(cached, star_queries(lake), (SPARK, CACHED), stock)
        contest.warm_up(WARM_UP)
        for _ in range(ROUNDS):
            contest.round(lambda _: True)
    found = ratios(contest.samples, CACHED)
    rows = [*summary(found, CACHED, TARGET, None), faults_row(contest), *found.values()]
    return Measurement(rows, contest.samples, (*REMARKS, *dict.fromkeys(contest.faults)))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each query's ratio."""
    found = {name: row.value for name, row in ratios(measurement.samples, CACHED).items()}
    draw_ratios(figure.subplots(), found, (TARGET,))


@contextmanager
def _on_cluster(lake: Lake, folder: Path, settings: Mapping[str, str]) -> Iterator[Client]:
    """Starts a cluster and a gateway on it, and yields a client."""
    data_dir = folder / "data"
    share_jars(lake.data_dir, data_dir)
    with spark_cluster(folder / "cluster", free_port()) as cluster:
        properties = cluster.properties | {"spark.executor.memory": "1g"}
        there = {
            "SLUICE_DATA_DIR": str(data_dir),
            "SLUICE_SPARK_MASTER": cluster.url,
            "SLUICE_SPARK_CONF": json.dumps(properties),
        }
        with gateway_process({**lake.environment(), **MEMORY, **settings, **there}) as gateway:
            yield Client(gateway.url)
