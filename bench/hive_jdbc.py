"""A million rows by Hive's JDBC driver, from the gateway and from Spark's own Thrift server.

One Java program with Hive's JDBC driver 4.0.1 reads a table of 1,000,000 rows and ten columns from both, over
one warm connection to each. Both servers have as many cores and as much heap, and the same Iceberg catalog. A
time is that of the program, from `executeQuery` until it has read the last value by a typed getter. So it
includes planning, the scan, and what each server does to send rows. Each read has a text of its own, so that
no result is reused. The servers take turns, and the order changes with each round. The program compares the
number of rows and a sum over all values.

Both are asked with 1,000, 10,000 and 100,000 rows a fetch; the gateway proposes 10,000 to the driver. Spark's
server also has `spark.sql.thriftServer.incrementalCollect` off and on. A ratio is the time of Spark's server
to that of the gateway in the same round: with the same rows a fetch, where Spark's faster setting counts; and
each server at its best, which is its way with the smallest median.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from bench.gateway_process import gateway_process
from bench.jdbc_reader import JdbcRead, JdbcReader, jdbc_reader
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.read_table import FIRST, NAME, ROWS
from bench.spark_thrift_server import spark_thrift_server
from bench.tpcds_lake import IS_FULL, REMARKS
from bench.two_workers import free_port
from tests.drivers.jdbc_program import hive_driver

WARM_UP, ROUNDS = (2, 7) if IS_FULL else (1, 2)
PAUSE_S = 0.5
LEAST_RATIO = 1.0
GATEWAY, SPARK = "gateway", "Spark's Thrift server"
FETCHES, SAME_FETCH = (1_000, 10_000, 100_000), 10_000
INCREMENTAL = "spark.sql.thriftServer.incrementalCollect"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to read: from which server, with how many rows a fetch, and with which settings before."""

    server: str
    fetch_rows: int
    settings: Mapping[str, str]

    @property
    def label(self) -> str:
        """How it is shown."""
        detail = ", incremental" if self.settings.get(INCREMENTAL) == "true" else ""
        return f"{self.server}, {self.fetch_rows:,} rows a fetch{detail}"


WAYS = tuple(
    way
    for fetch_rows in FETCHES
    for way in (
        Way(GATEWAY, fetch_rows, {}),
        Way(SPARK, fetch_rows, {INCREMENTAL: "false"}),
        Way(SPARK, fetch_rows, {INCREMENTAL: "true"}),
    )
)


def measure(lake: Lake) -> Measurement:
    """Returns the times of all ways, and their ratios."""
    samples: dict[str, list[float]] = {way.label: [] for way in WAYS}
    faults: list[str] = []
    port = free_port()
    environment = lake.environment() | {"SLUICE_HIVE_PORT": str(port)}
    with (
        spark_thrift_server(lake) as spark_port,
        gateway_process(environment),
        jdbc_reader(hive_driver()) as reader,
    ):
        connections = {
            GATEWAY: reader.open(f"jdbc:hive2://127.0.0.1:{port}/"),
            SPARK: reader.open(f"jdbc:hive2://127.0.0.1:{spark_port}/"),
        }
        for number in range(WARM_UP + ROUNDS):
            found: dict[str, JdbcRead] = {}
            for way in WAYS if number % 2 else WAYS[::-1]:
                read = _read(reader, connections[way.server], way, number)
                found[way.label] = read
                if number >= WARM_UP:
                    samples[way.label].append(read.took_ms)
                time.sleep(PAUSE_S)
            faults += _differences(found)
    return Measurement(_rows(samples, faults), samples, (*REMARKS, *dict.fromkeys(faults)))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws all ways below each other."""
    axes = figure.subplots()
    labels = list(measurement.samples)
    axes.boxplot(
        list(measurement.samples.values()), tick_labels=labels, showfliers=False, orientation="horizontal"
    )
    axes.set_xlabel("ms")
    axes.set_xlim(left=0)


def _read(reader: JdbcReader, connection: int, way: Way, number: int) -> JdbcRead:
    for name, value in way.settings.items():
        reader.run(connection, f"SET {name}={value}")
    # The condition holds for all rows, and is another one in each round and way.
    condition = f"{FIRST} > -{1 + number * len(WAYS) + WAYS.index(way)}"
    return reader.read(connection, way.fetch_rows, f"SELECT * FROM {NAME} WHERE {condition}")


def _differences(found: Mapping[str, JdbcRead]) -> list[str]:
    first = next(iter(found.values()))
    return [
        f"{label}: {read.row_count:,} rows with the sum {read.checksum}, not {ROWS:,} with {first.checksum}"
        for label, read in found.items()
        if (read.row_count, read.checksum) != (ROWS, first.checksum)
    ]


def _rows(samples: Mapping[str, Sequence[float]], faults: Sequence[str]) -> list[Row]:
    by_server = {server: [way for way in WAYS if way.server == server] for server in (GATEWAY, SPARK)}
    same = {
        server: _best(samples, (way for way in ways if way.fetch_rows == SAME_FETCH))
        for server, ways in by_server.items()
    }
    best = {server: _best(samples, ways) for server, ways in by_server.items()}
    return [
        _ratio(f"speed against Spark's own, {SAME_FETCH:,} rows a fetch", samples, same),
        _ratio("speed against Spark's own, each at its best", samples, best),
        Row("answers with other rows", len(faults), "", target="none", is_met=not faults),
        *(
            Row(
                f"best way of {server}: {way.fetch_rows:,} rows a fetch",
                statistics.median(samples[way.label]),
                "ms",
            )
            for server, way in best.items()
        ),
        *(spread(label, took) for label, took in samples.items()),
    ]


def _best(samples: Mapping[str, Sequence[float]], ways: Iterable[Way]) -> Way:
    return min(ways, key=lambda way: statistics.median(samples[way.label]))


def _ratio(label: str, samples: Mapping[str, Sequence[float]], chosen: Mapping[str, Way]) -> Row:
    pairs = zip(samples[chosen[SPARK].label], samples[chosen[GATEWAY].label], strict=True)
    ratios = [spark / gateway for spark, gateway in pairs]
    median = statistics.median(ratios)
    target = f"≥ {LEAST_RATIO:g}"
    return Row(label, median, "times", min(ratios), max(ratios), target, median >= LEAST_RATIO)
