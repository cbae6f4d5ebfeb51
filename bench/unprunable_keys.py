"""Joins by keys that Spark's own pruning cannot use.

This measures what remains of a scan where the engine reads everything. Six joins run over TPC-DS at scale 1,
each for a month's sales or one customer's. They have an INT key joined with BIGINT, and with STRING; a
dimension too large to be broadcast; a fact that is sorted by day but not partitioned (60 files); one in 64
buckets by customer; one partitioned by `day(sold_at)` and joined on a date. Two gateway processes on the same
tables take turns. The peer has the default settings, and is asked with `dynamicFiltering.enabled: false`; the
other one has every cache on, as in the measure of stock Spark, and cached filters. There are thirty rounds to
warm up, since Java compiles for hundreds of queries, and nine to measure. The files that each way read are
listed below. Where they are the same, as with buckets, Spark's own pruning works after all: the mean is that
of the other joins.

The sorted fact limits the mean. Spark reads two columns of all of its 58 files with dates in 0.2 s
altogether; the query that reads three of these files takes half of that.
"""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from bench.contest import CACHED, SPARK, Contest
from bench.every_cache import stock_and_cached
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row
from bench.ratios import draw_ratios, faults_row, is_whole, ratio_row, ratios, summary
from bench.tpcds_lake import IS_FULL, REMARKS, TABLES, open_catalog
from bench.tpcds_lake import SCHEMA as TPCDS
from bench.unprunable_tables import SCHEMA

WARM_UP, ROUNDS = (30, 9) if IS_FULL else (1, 2)
TARGET = 8.0
_SUM = "SELECT count(*) AS sales, sum(ss_ext_sales_price) AS amount FROM"
_MONTH = "d_year = 2000 AND d_moy = 11"
_DAY = "ss_sold_date_sk = d_date_sk"
QUERIES = {
    "INT = BIGINT": f"{_SUM} store_sales, {SCHEMA}.days_bigint WHERE {_DAY} AND {_MONTH}",
    "INT = STRING": f"{_SUM} store_sales, {SCHEMA}.days_text WHERE {_DAY} AND {_MONTH}",
    "no broadcast": (
        f"{_SUM} store_sales, {SCHEMA}.promotion_days WHERE {_DAY} AND promotion = 7 AND {_MONTH}"
    ),
    "sorted": f"{_SUM} {SCHEMA}.sales_sorted, date_dim WHERE {_DAY} AND {_MONTH}",
    "bucket": (
        f"{_SUM} {SCHEMA}.sales_by_customer, customer "
        "WHERE ss_customer_sk = c_customer_sk AND c_customer_id = '{customer}'"
    ),
    "day(ts)": f"{_SUM} {SCHEMA}.sales_by_day, date_dim WHERE cast(sold_at AS DATE) = d_date AND {_MONTH}",
}
FACTS = dict.fromkeys(QUERIES, "store_sales") | {
    "sorted": "sales_sorted",
    "bucket": "sales_by_customer",
    "day(ts)": "sales_by_day",
}


def measure(lake: Lake) -> Measurement:
    """Returns times by kind of key and way, their ratios, and the files that each way read."""
    customer = _a_customer(lake)
    queries: dict[str, dict[str, Any]] = {
        name: {"sql": sql.format(customer=customer), **TABLES} for name, sql in QUERIES.items()
    }
    with stock_and_cached(lake) as (peer, ours):
        contest = Contest(ours, queries, (SPARK, CACHED), peer)
        contest.warm_up(WARM_UP)
        for _ in range(ROUNDS):
            contest.round(lambda _: True)
    return Measurement(_rows(contest), contest.samples, (*REMARKS, *contest.faults))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each kind's ratio."""
    samples = measurement.samples
    found = {n: ratio_row(n, ways, CACHED).value for n, ways in samples.items() if is_whole(ways)}
    draw_ratios(figure.subplots(), found, (TARGET,))


def _a_customer(lake: Lake) -> str:
    """Returns the id of a customer, which is not the join key."""
    with open_catalog(lake) as catalog:
        customers = catalog.load_table(f"{TPCDS}.customer")
        found = customers.scan("c_customer_sk = 100", selected_fields=("c_customer_id",)).to_arrow()
    return str(found["c_customer_id"][0])


def _rows(contest: Contest) -> list[Row]:
    found = ratios(contest.samples, CACHED)
    unprunable = {name: row for name, row in found.items() if not _is_pruned_by_spark(name, contest)}
    rows = [*summary(unprunable, CACHED, TARGET, None), faults_row(contest), *found.values()]
    for name, ways in contest.last.items():
        for label, asked in ways.items():
            rows.append(Row(f"{name}: files, {label}", asked.scan(FACTS[name], "dataFiles"), ""))
        rows.append(Row(f"{name}: files of the table", asked.total(FACTS[name], "dataFiles"), ""))
    return rows


def _is_pruned_by_spark(name: str, contest: Contest) -> bool:
    """Whether both ways read as many files, so that the join is one that Spark can prune."""
    return len({asked.scan(FACTS[name], "dataFiles") for asked in contest.last[name].values()}) == 1
