"""Twenty people look at a dashboard whose table grows every second, with reused results and without.

Five panels are TPC-DS aggregations: three over a copy of `store_sales`, one over `store_returns` and one over
`web_sales`. Each of 20 viewers in a process of their own asks for all five, one after the other, every ten
seconds, or as soon as the answers allow. Each second, 200 rows are appended to the copy through `POST
/ingest`. Minutes with `reuseResult: true` and with `false` take turns, five of each, on one gateway with
`SLUICE_REFRESH_RESULTS=true`. *Spark's seconds* are the CPU seconds of the gateway's JVM, all of them: the
tasks, planning and compilation. At the end, the ingests stop, and each panel must have a full run's rows.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any
from uuid import uuid4

import orjson
import pyarrow as pa
from matplotlib.figure import Figure
from pyiceberg.exceptions import NoSuchTableError

from bench.client import Client
from bench.gateway_process import GatewayProcess, gateway_process
from bench.iceberg_files import append_files, slices
from bench.lakehouse import Lake
from bench.load import SPAWN
from bench.measurement import Measurement, Row, percentile
from bench.tpcds_lake import IS_FULL, REMARKS, SUFFIX, load, open_catalog
from bench.tpcds_lake import SCHEMA as TPCDS

SCHEMA, TABLE = f"bench_dashboards_{SUFFIX}", "store_sales"
SALES, FILES = f"lake.{SCHEMA}.{TABLE}", 24
VIEWERS, EVERY_S = 20, 10.0
TURNS, TURN_S = (5, 60.0) if IS_FULL else (1, 20.0)
INGEST_EVERY_S, ROWS_AT_ONCE = 1.0, 200
ARROW = "application/vnd.apache.arrow.stream"
TARGET = 5.0
REUSED, RUN = "with reuse", "without"

_DATES = f"lake.{TPCDS}.date_dim"
PANELS = (
    f"SELECT d_moy, sum(ss_net_paid) AS paid, count(*) AS sales FROM {SALES} JOIN {_DATES}"
    " ON ss_sold_date_sk = d_date_sk WHERE d_year = 2001 GROUP BY d_moy ORDER BY d_moy",
    f"SELECT s_store_name, sum(ss_net_profit) AS profit FROM {SALES} JOIN {_DATES}"
    f" ON ss_sold_date_sk = d_date_sk JOIN lake.{TPCDS}.store ON ss_store_sk = s_store_sk"
    " WHERE d_year = 2002 GROUP BY s_store_name ORDER BY profit DESC, s_store_name LIMIT 10",
    "SELECT i_category, sum(ss_ext_sales_price) AS price, avg(ss_quantity) AS quantity, max(ss_list_price)"
    f" FROM {SALES} JOIN {_DATES} ON ss_sold_date_sk = d_date_sk JOIN lake.{TPCDS}.item"
    " ON ss_item_sk = i_item_sk WHERE d_year = 2000 AND d_moy = 11 GROUP BY i_category ORDER BY i_category",
    f"SELECT r_reason_desc, count(*) AS returns, sum(sr_return_amt) AS amount FROM lake.{TPCDS}.store_returns"
    f" JOIN lake.{TPCDS}.reason ON sr_reason_sk = r_reason_sk JOIN {_DATES}"
    " ON sr_returned_date_sk = d_date_sk WHERE d_year = 2001 GROUP BY r_reason_desc ORDER BY r_reason_desc",
    f"SELECT d_qoy, sum(ws_net_paid) AS paid FROM lake.{TPCDS}.web_sales JOIN {_DATES}"
    " ON ws_sold_date_sk = d_date_sk WHERE d_year = 2001 GROUP BY d_qoy ORDER BY d_qoy",
)

Answer = tuple[float, str]
"""Milliseconds, and whether it was a `RESULT`, `REFRESHED` or `RUN`; or the error's text."""


def make_tables(lake: Lake) -> None:
    """Makes the copy that grows, as it was at first."""
    load(lake)
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        with suppress(NoSuchTableError):
            catalog.purge_table(f"{SCHEMA}.{TABLE}")
        sales = catalog.load_table(f"{TPCDS}.store_sales")
        rows = sales.scan().to_arrow()
        properties = {"format-version": "2", "write.parquet.compression-codec": "zstd"}
        with catalog.create_table_transaction(
            f"{SCHEMA}.{TABLE}", sales.schema(), properties=properties
        ) as transaction:
            append_files(transaction, slices(transaction.table_metadata, rows, FILES))


def measure(lake: Lake) -> Measurement:
    """Returns the share of reused answers, their times, and Spark's seconds of both ways."""
    answers: dict[str, list[Answer]] = {REUSED: [], RUN: []}
    spent_s: dict[str, float] = {REUSED: 0.0, RUN: 0.0}
    settings = {"SLUICE_REFRESH_RESULTS": "true", "SLUICE_REFRESH_MIN_TABLE_BYTES": "0"}
    with (
        gateway_process(lake.environment() | settings) as gateway,
        ProcessPoolExecutor(1, mp_context=SPAWN) as viewers,
    ):
        for is_reused in (False, True):
            viewers.submit(look, gateway.url, EVERY_S, is_reused).result()
        with _ingests(lake, gateway.url) as outcomes:
            for turn in range(TURNS):
                for way in (REUSED, RUN) if turn % 2 else (RUN, REUSED):
                    before_s = _jvm_s(gateway)
                    answers[way] += viewers.submit(look, gateway.url, TURN_S, way == REUSED).result()
                    spent_s[way] += _jvm_s(gateway) - before_s
        differing = _differing(gateway.url)
    samples = {"answers": answers, "spent_s": spent_s, "ingests": outcomes, "differing": differing}
    return Measurement(_rows(answers, spent_s, outcomes, differing), samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the times of both ways, and Spark's seconds for a thousand answers."""
    times, seconds = figure.subplots(1, 2)
    answers: dict[str, list[Answer]] = measurement.samples["answers"]
    spent_s: dict[str, float] = measurement.samples["spent_s"]
    milliseconds = [[took for took, _ in of] for of in answers.values()]
    times.boxplot(milliseconds, tick_labels=list(answers), whis=(5, 95), showfliers=False)
    times.set(ylabel="ms, p5 to p95", yscale="log")
    seconds.bar(list(answers), [1000 * spent_s[way] / len(of) for way, of in answers.items()])
    seconds.set_ylabel("Spark's seconds for 1,000 answers")


def look(url: str, for_s: float, is_reused: bool) -> list[Answer]:
    """Looks at the dashboard from all viewers for so long, and returns every answer."""
    found: list[Answer] = []
    until_s = time.monotonic() + for_s
    threads = [
        threading.Thread(target=_viewer, args=(url, number * EVERY_S / VIEWERS, until_s, is_reused, found))
        for number in range(VIEWERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _viewer(url: str, first_s: float, until_s: float, is_reused: bool, found: list[Answer]) -> None:
    client = Client(url)
    due = time.monotonic() + first_s
    while due < until_s:
        time.sleep(max(0.0, due - time.monotonic()))
        for panel in PANELS:
            if time.monotonic() < until_s:
                found.append(_answer(client, panel, is_reused))
        due = max(due + EVERY_S, time.monotonic())
    client.close()


def _answer(client: Client, panel: str, is_reused: bool) -> Answer:
    began = time.perf_counter()
    status, body = client.query({"sql": panel, "reuseResult": is_reused})
    took_ms = (time.perf_counter() - began) * 1000
    if status != 200:
        return took_ms, f"{status}: {body[:200]!r}"
    return took_ms, (orjson.loads(body)["reused"] or {"kind": "RUN"})["kind"]


@contextmanager
def _ingests(lake: Lake, url: str) -> Iterator[list[int]]:
    """Appends rows every second until the end; yields the answers' status codes."""
    with open_catalog(lake) as catalog:
        rows = catalog.load_table(f"{TPCDS}.store_sales").scan(limit=100_000).to_arrow()
    outcomes: list[int] = []
    stop = threading.Event()

    def send() -> None:
        client = Client(url, {"Content-Type": ARROW})
        while not stop.wait(INGEST_EVERY_S):
            path = f"/ingest?table={SALES}&requestId={uuid4()}"
            outcomes.append(client.post(path, _some(rows))[0])
        client.close()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield outcomes
    finally:
        stop.set()
        thread.join()


def _some(rows: pa.Table) -> bytes:
    chosen = rows.take(random.choices(range(rows.num_rows), k=ROWS_AT_ONCE))
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, chosen.schema) as writer:
        writer.write_table(chosen)
    return bytes(stream.getvalue())


def _jvm_s(gateway: GatewayProcess) -> float:
    times = gateway.jvm().cpu_times()
    return float(times.user + times.system)


def _differing(url: str) -> list[str]:
    """Returns the panels whose reused answer has other rows than a full run."""
    client = Client(url)
    time.sleep(5 * INGEST_EVERY_S)

    def rows(panel: str, is_reused: bool) -> Any:
        return orjson.loads(client.query({"sql": panel, "reuseResult": is_reused})[1])["result"]["rows"]

    found = [panel for panel in PANELS if rows(panel, is_reused=True) != rows(panel, is_reused=False)]
    client.close()
    return found


def _rows(
    answers: dict[str, list[Answer]],
    spent_s: dict[str, float],
    outcomes: Sequence[int],
    differing: Sequence[str],
) -> list[Row]:
    per_answer = {way: spent_s[way] / len(of) for way, of in answers.items()}
    gain = per_answer[RUN] / per_answer[REUSED]
    kinds = Counter(kind for _, kind in answers[REUSED])
    errors = [kind for of in answers.values() for _, kind in of if kind not in ("RESULT", "REFRESHED", "RUN")]
    rows = [
        Row(
            "Spark's seconds an answer: without to with reuse",
            gain,
            "times",
            None,
            None,
            "≥ 5",
            gain >= TARGET,
        )
    ]
    for kind, label in (
        ("RESULT", "an earlier result"),
        ("REFRESHED", "brought up to date"),
        ("RUN", "run in full"),
    ):
        rows.append(Row(f"with reuse: {label}", 100 * kinds[kind] / len(answers[REUSED]), "%"))
    for way, of in answers.items():
        times_ms = [took for took, _ in of]
        rows += [
            Row(f"{way}: answers", len(of), ""),
            Row(f"{way}: p50", percentile(times_ms, 50), "ms"),
            Row(f"{way}: p95", percentile(times_ms, 95), "ms"),
            Row(f"{way}: Spark's seconds for 1,000 answers", 1000 * per_answer[way], "s"),
        ]
    refused = sum(status not in (200, 202) for status in outcomes)
    return [
        *rows,
        Row("ingests", len(outcomes), ""),
        Row("ingests refused", refused, "", target="none", is_met=not refused),
        Row("errors", len(errors), "", target="none", is_met=not errors),
        *(Row(error, 1, "") for error in islice(sorted(set(errors)), 3)),
        Row(
            "panels with other rows than a full run", len(differing), "", target="none", is_met=not differing
        ),
    ]
