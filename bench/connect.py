"""Connect, `SELECT 1`, close: by each client.

This measures how long a user waits who opens a connection for one short query. One gateway serves HTTP,
HiveServer2's protocol (on a port and over HTTP) and Arrow Flight SQL, without TLS and without passwords. Each
client makes a connection, asks `SELECT 1`, reads the value and closes the connection, as its users write it.
SQLAlchemy's engines have no pool. Clients of Python run in the process of the measure; each driver of JDBC
runs in a warm JVM of its own, which takes the time itself. The clients take turns: there are ten rounds to
warm up and a hundred to measure. There is no target, because protocols differ in the number of calls that a
connection takes. Clients that are not installed are named below the table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from matplotlib.figure import Figure

from bench.connect_clients import CLIENTS, SQL, Once, Places
from bench.gateway_process import gateway_process
from bench.jdbc_reader import JdbcReader, jdbc_reader
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, percentile, spread
from bench.tpcds_lake import IS_FULL, REMARKS
from bench.two_workers import free_port
from service.errors.gateway_error import CannotStart
from tests.drivers.jdbc_program import FLIGHT_DRIVER, HIVE_DRIVER, flight_driver, hive_driver

WARM_UP, ROUNDS = (10, 100) if IS_FULL else (2, 5)
JDBC: dict[str, tuple[str, str, Callable[[], Sequence[Path]]]] = {
    "Hive JDBC, SASL on the port": ("hive", HIVE_DRIVER, hive_driver),
    "JDBC, Flight SQL": ("flight", FLIGHT_DRIVER, flight_driver),
}
Timed = Callable[[], float]
"""Connects, asks and closes; returns the milliseconds."""


def measure(lake: Lake) -> Measurement:
    """Returns the median of each client that there is."""
    hive_port, flight_port = free_port(), free_port()
    environment = lake.environment() | {
        "SLUICE_HIVE_PORT": str(hive_port),
        "SLUICE_HIVE_HTTP": "true",
        "SLUICE_FLIGHT_PORT": str(flight_port),
    }
    absent: list[str] = []
    with gateway_process(environment) as gateway, ExitStack() as opened:
        places = Places(urlsplit(gateway.url).port or 80, hive_port, flight_port)
        clients = dict(_python(places, absent)) | dict(_jdbc(places, opened, absent))
        samples: dict[str, list[float]] = {name: [] for name in clients}
        for number in range(WARM_UP + ROUNDS):
            for name, client in clients.items():
                took_ms = client()
                if number >= WARM_UP:
                    samples[name].append(took_ms)
    rows = [
        row
        for name, took in samples.items()
        for row in (spread(name, took), Row(f"{name}: 95 of 100 within", percentile(took, 95), "ms"))
    ]
    return Measurement(rows, samples, (*REMARKS, *absent))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the clients below each other."""
    axes = figure.subplots()
    axes.boxplot(
        list(measurement.samples.values()),
        tick_labels=list(measurement.samples),
        showfliers=False,
        orientation="horizontal",
    )
    axes.set_xlabel("ms")
    axes.set_xlim(left=0)


def _python(places: Places, absent: list[str]) -> Iterator[tuple[str, Timed]]:
    for name, make in CLIENTS.items():
        try:
            yield name, partial(_timed, name, make(places))
        except ImportError as error:
            absent.append(f"Absent: {name} ({error}).")


def _timed(name: str, once: Once) -> float:
    began = time.perf_counter()
    value = once()
    took_ms = (time.perf_counter() - began) * 1000
    if value != 1:
        raise RuntimeError(f"{name}: {value!r} instead of 1")
    return took_ms


def _jdbc(places: Places, opened: ExitStack, absent: list[str]) -> Iterator[tuple[str, Timed]]:
    for name, (kind, coordinate, jars) in JDBC.items():
        try:
            reader = opened.enter_context(jdbc_reader(jars()))
        except CannotStart as error:
            absent.append(f"Absent: {name} ({coordinate}): {error.detail}")
        else:
            yield name, partial(_timed_by_java, reader, places.jdbc_urls[kind])


def _timed_by_java(reader: JdbcReader, url: str) -> float:
    read = reader.once(url, SQL)
    if read.row_count != 1:
        raise RuntimeError(f"{url}: {read.row_count} rows instead of 1")
    return read.took_ms
