"""Fifty clients ask fifty queries that share one filter, which nobody has collected yet.

This measures whether keys are collected once for all queries that wait for them. Fifty clients in a process
of their own send 50 different queries over TPC-DS at scale 1 at the same moment, to a gateway with 50
workers, right after all filters were forgotten; five times. `/metrics` counts how often keys were collected.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

from matplotlib.figure import Figure

from bench.asked import ask
from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.load import SPAWN, Outcome
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, PRUNED, REMARKS, TABLES

CLIENTS, ROUNDS = 50, (5 if IS_FULL else 2)
RECORDED_WITHIN_S, POLL_S = 60.0, 0.05
_COLUMNS = (
    *("ss_quantity", "ss_wholesale_cost", "ss_list_price", "ss_sales_price", "ss_ext_discount_amt"),
    *("ss_ext_sales_price", "ss_ext_list_price", "ss_ext_tax", "ss_coupon_amt", "ss_net_profit"),
)
_FUNCTIONS = ("sum", "min", "max", "avg", "count")
_NUMBER = re.compile(r"^(sluice_[a-z_]+)(\{[^}]*\})? ([0-9.e+]+)$", re.MULTILINE)

Counts = dict[str, float]


def bodies() -> list[dict[str, Any]]:
    """Returns fifty queries, each with another text, over the days of one month."""
    sql = (
        "SELECT d_date, {function}({column}) FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk"
        " WHERE d_year = 2000 AND d_moy = 11 GROUP BY d_date"
    )
    texts = [sql.format(function=function, column=column) for function in _FUNCTIONS for column in _COLUMNS]
    return [{"sql": text, **TABLES, "dynamicFiltering": PRUNED} for text in texts]


def measure(lake: Lake) -> Measurement:
    """Returns how often keys were collected in each round, and the outcomes of the filters."""
    environment = lake.environment() | {"SLUICE_QUERY_WORKERS": str(CLIENTS)}
    changes: list[Counts] = []
    outcomes: list[Outcome] = []
    with (
        gateway_process(environment) as gateway,
        ProcessPoolExecutor(1, mp_context=SPAWN) as clients,
    ):
        clients.submit(ask_at_once, gateway.url, bodies()[:8]).result()
        for _ in range(ROUNDS):
            Client(gateway.url).delete("/filters")
            before = _counts(gateway.url)
            outcomes.append(clients.submit(ask_at_once, gateway.url, bodies()).result())
            after = _settled(gateway.url, before["sluice_queries_total"] + CLIENTS)
            changes.append({name: after[name] - before.get(name, 0) for name in after})
    samples = {"changes": changes, "times_ms": [times for _, times, _ in outcomes]}
    errors = [error for *_, errors_of_one in outcomes for error in errors_of_one]
    return Measurement(_rows(changes, outcomes), samples, (*REMARKS, *errors))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the sources of each round's filter keys."""
    axes = figure.subplots()
    changes = measurement.samples["changes"]
    rounds = range(1, len(changes) + 1)
    collected = [_collected(change) for change in changes]
    cached = [change.get("sluice_filter_cache_hits_total", 0) for change in changes]
    axes.bar(rounds, collected, label="collected")
    axes.bar(rounds, cached, bottom=collected, label="shared")
    axes.set(xlabel="round", ylabel="filters", xticks=rounds)
    axes.legend()


def ask_at_once(url: str, asked: Sequence[dict[str, Any]]) -> Outcome:
    """Sends each query from a client of its own; returns its milliseconds, or why it has no answer."""
    started = time.monotonic()
    with ThreadPoolExecutor(len(asked)) as pool:
        futures = [pool.submit(lambda body: ask(Client(url), body).took_ms, sent) for sent in asked]
    errors = [str(future.exception()) for future in futures if future.exception()]
    times_ms = [future.result() for future in futures if not future.exception()]
    return time.monotonic() - started, times_ms, errors


def _settled(url: str, at_least: float) -> Counts:
    """Returns the counters once `at_least` queries are counted, which follows their answers."""
    deadline = time.monotonic() + RECORDED_WITHIN_S
    while time.monotonic() < deadline:
        counts = _counts(url)
        if counts["sluice_queries_total"] >= at_least:
            return counts
        time.sleep(POLL_S)
    raise RuntimeError("The queries were not counted in time.")


def _counts(url: str) -> Counts:
    """Returns the counters by name, with labels added up; those of filters also by their labels."""
    client = Client(url)
    counts: Counts = {"sluice_queries_total": 0}
    text = client.get("/metrics")[1].decode()
    client.close()
    for name, labels, value in _NUMBER.findall(text):
        counts[name] = counts.get(name, 0) + float(value)
        if name == "sluice_filters_total":
            counts[name + labels] = float(value)
    return counts


def _collected(change: Counts) -> float:
    return change.get("sluice_filter_collect_seconds_count", 0)


def _rows(changes: list[Counts], outcomes: list[Outcome]) -> list[Row]:
    collected = [_collected(change) for change in changes]
    applied = [sum(v for k, v in change.items() if 'reason="APPLIED"' in k) for change in changes]
    errors = sum(len(errors_of_one) for *_, errors_of_one in outcomes)
    return [
        Row(
            "collections in a round",
            max(collected),
            "",
            min(collected),
            max(collected),
            "exactly 1",
            set(collected) == {1},
        ),
        spread("filters applied in a round", applied, f"of {CLIENTS}"),
        Row("errors", errors, "", target="none", is_met=errors == 0),
        spread("all answered after", [seconds for seconds, *_ in outcomes], "s"),
        spread("a query", [ms for _, times, _ in outcomes for ms in times]),
    ]
