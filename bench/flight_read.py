"""A million rows by Arrow Flight SQL, and the same rows by `toArrow()` on the same Spark session.

One client of ADBC reads 1,000,000 rows of 10 columns, and in turn the same process calls
`spark.sql(text).toArrow()` on the same warm session. Each round has a text of its own, so that no result is
reused. The order changes with each round. ADBC's time includes planning, the run, the result store and the
connection; it needs the package `adbc-driver-flightsql`.
"""

from __future__ import annotations

import importlib
import time
from typing import Any

from matplotlib.figure import Figure

from api.flight.server_lifespan import FlightListener
from api.http.protocol_servers import ProtocolEdge
from bench.hosted_gateway import hosted_gateway
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread

ROWS, WARM_UP, ROUNDS = 1_000_000, 2, 7
LEAST_RATIO = 0.7
ADBC, DIRECT = "ADBC", "toArrow()"


def measure(lake: Lake) -> Measurement:
    """Returns the medians of both ways, and their ratio."""
    dbapi = importlib.import_module("adbc_driver_flightsql.dbapi")
    listeners: list[FlightListener] = []

    def listen(edge: ProtocolEdge) -> FlightListener:
        listeners.append(FlightListener(edge))
        return listeners[-1]

    samples: dict[str, list[float]] = {ADBC: [], DIRECT: []}
    with (
        hosted_gateway(lake, protocols=[listen], flight_port=0) as hosted,
        dbapi.connect(f"grpc://127.0.0.1:{listeners[0].port}", autocommit=True) as connection,
    ):
        for number in range(WARM_UP + ROUNDS):
            ways = {
                ADBC: lambda sql: _by_adbc(connection, sql),
                DIRECT: lambda sql: hosted.spark.sql(sql).toArrow().num_rows,
            }
            for way in sorted(ways, reverse=bool(number % 2)):
                took_ms = _timed_ms(ways[way], _text(number))
                hosted.wait_until_idle()
                if number >= WARM_UP:
                    samples[way].append(took_ms)
    ratios = [direct / adbc for direct, adbc in zip(samples[DIRECT], samples[ADBC], strict=True)]
    median = sorted(ratios)[len(ratios) // 2]
    target = f"≥ {LEAST_RATIO:g}"
    rows = [
        *(spread(f"1M × 10 rows: {way}", took) for way, took in samples.items()),
        Row(
            "speed against toArrow()",
            median,
            "times",
            min(ratios),
            max(ratios),
            target,
            median >= LEAST_RATIO,
        ),
    ]
    return Measurement(rows, samples)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws both ways beside each other."""
    axes = figure.subplots()
    axes.boxplot(list(measurement.samples.values()), tick_labels=list(measurement.samples), showfliers=False)
    axes.set_ylabel("ms")
    axes.set_ylim(bottom=0)


def _text(number: int) -> str:
    """Returns a query of ten columns, whose values differ by the number."""
    return (
        f"SELECT id + {number} AS a, CAST(id AS INT) AS b, id / 7D AS c, CAST(id AS DECIMAL(12,2)) AS d,"
        " DATE'2000-01-01' + CAST(id % 9000 AS INT) AS e, timestamp_seconds(id) AS f,"
        " CAST(id AS STRING) AS g, concat('name ', id % 1000) AS h, id % 2 = 0 AS i,"
        f" CAST(id % 100 AS SMALLINT) AS j FROM range({ROWS})"
    )


def _by_adbc(connection: Any, sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return int(cursor.fetch_arrow_table().num_rows)


def _timed_ms(way: Any, sql: str) -> float:
    began = time.perf_counter()
    count = way(sql)
    took_ms = (time.perf_counter() - began) * 1000
    if count != ROWS:
        raise RuntimeError(f"{count} rows instead of {ROWS}")
    return took_ms
