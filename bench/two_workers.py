"""One large ingest, on `local[2]` and on a Spark cluster of two workers.

This measures whether only the address of the master changes what a job does. Eight files of NDJSON hold
400,000 records, of four log types with 40 of 500 columns each. They are routed by type to write schemas of
their own: one `POST /ingest` with a `source`, written by Spark's executors. Two gateways run it in turn: one
with Spark in its own JVM on two threads, the other with a standalone cluster on loopback, two workers of one
core and one executor each. Files are the same if they have the same columns, records, and metrics by column:
counts of values and NULLs, and bounds. One round warms up, five are measured. All processes share the
machine's cores, so the ratio shows the cost of a cluster, not the gain of more machines.
"""

from __future__ import annotations

import json
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
from matplotlib.figure import Figure
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table

from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake, share_jars
from bench.measurement import Measurement, Row, spread
from bench.ndjson import as_ndjson
from bench.tpcds_lake import IS_FULL, REMARKS, SCALE, open_catalog
from bench.wide_logs import LogType, log_types
from bench.wide_tables import make_table
from tests.integration.spark_cluster import spark_cluster

ROWS = 400_000 if IS_FULL else max(8_000, int(400_000 * SCALE))
TYPES, FILES_OF_A_TYPE = 4, 2
WARM_UP, ROUNDS = (1, 5) if IS_FULL else (1, 2)
LOCAL, CLUSTER = "local[2]", "two workers"
HOST = "127.0.0.1"
# Small ones, since two drivers and two executors share the machine; rows are never in the JVM.
MEMORY = {"SLUICE_SPARK_DRIVER_MEMORY": "1g"}


@dataclass(frozen=True, slots=True)
class Written:
    """The time and files of a round; `files` counts files that are the same."""

    took_s: float
    records: int
    byte_count: int
    files: Counter[str]


def measure(lake: Lake) -> Measurement:
    """Returns the seconds of both, and whether their files are the same."""
    types = log_types()[:TYPES]
    found: dict[str, list[Written]] = {LOCAL: [], CLUSTER: []}
    with tempfile.TemporaryDirectory(prefix="sluice-two-workers-") as name, open_catalog(lake) as catalog:
        folder = Path(name)
        _put_files(folder / "inbox", types)
        names = {LOCAL: make_table(lake, "on_local"), CLUSTER: make_table(lake, "on_cluster")}
        tables = {way: catalog.load_table(name.removeprefix("lake.")) for way, name in names.items()}
        with _both(lake, folder) as urls:
            for number in range(WARM_UP + ROUNDS):
                for way in (LOCAL, CLUSTER) if number % 2 else (CLUSTER, LOCAL):
                    body = _job(names[way], types, folder / "inbox")
                    written = _written(urls[way], body, tables[way])
                    if number >= WARM_UP:
                        found[way].append(written)
        workers = len({path.parts[-4] for path in (folder / "cluster" / "work").glob("*/*/*/stderr")})
    samples = {
        way: [
            {"took_s": written.took_s, "records": written.records, "bytes": written.byte_count}
            for written in of
        ]
        for way, of in found.items()
    }
    return Measurement(_rows(found, workers), samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws seconds, round by round."""
    axes = figure.subplots()
    for way, samples in measurement.samples.items():
        axes.plot(range(1, len(samples) + 1), [sample["took_s"] for sample in samples], "o-", label=way)
    axes.set(xlabel="round", ylabel="s")
    axes.set_ylim(bottom=0)
    axes.legend()


def _put_files(inbox: Path, types: Sequence[LogType]) -> None:
    inbox.mkdir()
    for number in range(FILES_OF_A_TYPE):
        for type_ in types:
            rows = type_.rows(ROWS // TYPES // FILES_OF_A_TYPE, number)
            (inbox / f"{type_.name}-{number}.ndjson").write_bytes(as_ndjson(rows))


@contextmanager
def _both(lake: Lake, folder: Path) -> Iterator[Mapping[str, str]]:
    """Yields the addresses of two gateways that are ready."""
    allowed = {"SLUICE_INGEST_SOURCE_PREFIXES": (folder / "inbox").as_uri()}
    other = Lake(folder / "data", lake.catalogs)
    share_jars(lake.data_dir, other.data_dir)
    local = lake.environment() | MEMORY | allowed | {"SLUICE_SPARK_MASTER": LOCAL}
    with gateway_process(local) as first, spark_cluster(folder / "cluster", free_port()) as cluster:
        properties = cluster.properties | {"spark.executor.memory": "512m"}
        there = {"SLUICE_SPARK_MASTER": cluster.url, "SLUICE_SPARK_CONF": json.dumps(properties)}
        with gateway_process(other.environment() | MEMORY | allowed | there) as second:
            yield {LOCAL: first.url, CLUSTER: second.url}


def _job(table: str, types: Sequence[LogType], inbox: Path) -> bytes:
    to = {type_.name: {"table": table, "writeSchema": type_.columns} for type_ in types}
    source = {"uri": f"{inbox.as_uri()}/*.ndjson", "format": "ndjson"}
    return orjson.dumps({"route": {"field": "log_type", "to": to}, "source": source})


def _written(url: str, body: bytes, table: Table) -> Written:
    client = Client(url)
    began = time.perf_counter()
    status, content = client.post("/ingest", body)
    took_s = time.perf_counter() - began
    client.close()
    answer = orjson.loads(content)
    if status != 200 or answer["state"] != "COMMITTED":
        raise RuntimeError(f"{status}: {content[:500]!r}")
    [commit] = answer["commits"]
    parent = next(
        snapshot.parent_snapshot_id
        for snapshot in table.refresh().snapshots()
        if snapshot.snapshot_id == commit["snapshotId"]
    )
    before = set() if parent is None else {file.file_path for file in _files(table, parent)}
    added = [file for file in _files(table, commit["snapshotId"]) if file.file_path not in before]
    return Written(
        took_s,
        sum(data_file.record_count for data_file in added),
        sum(data_file.file_size_in_bytes for data_file in added),
        Counter(map(_content_of, added)),
    )


def _files(table: Table, snapshot_id: int) -> list[DataFile]:
    return [file.file for file in table.scan(snapshot_id=snapshot_id).plan_files()]


def _content_of(file: DataFile) -> str:
    metrics: list[Any] = [
        sorted(by_field.items())
        for by_field in (file.value_counts, file.null_value_counts, file.lower_bounds, file.upper_bounds)
    ]
    return repr((file.record_count, pq.read_schema(file.file_path[7:]).names, metrics))


def _rows(found: Mapping[str, Sequence[Written]], workers: int) -> Sequence[Row]:
    pairs = list(zip(found[LOCAL], found[CLUSTER], strict=True))
    differing = sum(((one.files - other.files) + (other.files - one.files)).total() for one, other in pairs)
    rows = [Row("workers that had an executor", workers, "", target="exactly 2", is_met=workers == 2)]
    for way, of in found.items():
        records = [written.records for written in of]
        rows += [
            Row(
                f"{way}: records of a round",
                min(records),
                "",
                min(records),
                max(records),
                f"exactly {ROWS:,}",
                set(records) == {ROWS},
            ),
            spread(f"{way}: files of a round", [written.files.total() for written in of], ""),
            spread(f"{way}: bytes of a round", [written.byte_count / 1e6 for written in of], "MB"),
            spread(f"{way}: until it is committed", [written.took_s for written in of], "s"),
        ]
    return [
        *rows,
        Row("files that only one of them has", differing, "", target="none", is_met=differing == 0),
        spread("time, two workers to local[2]", [two.took_s / one.took_s for one, two in pairs], "times"),
    ]


def free_port() -> int:
    """Returns a port of loopback at which nothing listens now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
