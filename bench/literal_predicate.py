"""The reads of the star queries, pruned by the gateway and by a perfect predicate written by hand.

This measures whether a filter selects everything that can be known in advance. Each star query over TPC-DS at
scale 1 runs with cached filters, and again without any, with the list of its days written into the text
before the fact, as a person who knows them would do. The facts are partitioned by day, so no predicate can
select fewer files. Files and bytes are those of the fact, as `GET /explain` reports them for the scan that
ran.
"""

from __future__ import annotations

import re
from typing import Any

import orjson
from matplotlib.figure import Figure

from bench.asked import Asked, ask
from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row
from bench.star_queries import star_queries
from bench.tpcds_lake import PRUNED, REMARKS, TABLES

# The dates that each query asks for, as its text has them.
DATES = {
    "q3": "d_moy = 11",
    "q7": "d_year = 2000",
    "q19": "d_moy = 11 AND d_year = 1998",
    "q27": "d_year = 2002",
    "q42": "d_moy = 11 AND d_year = 2000",
    "q43": "d_year = 2000",
    "q52": "d_moy = 11 AND d_year = 2000",
    "q55": "d_moy = 11 AND d_year = 1999",
    "q68": "d_dom BETWEEN 1 AND 2 AND d_year IN (1999, 2000, 2001)",
    "q73": "d_dom BETWEEN 1 AND 2 AND d_year IN (1999, 2000, 2001)",
    "q79": "d_dow = 1 AND d_year IN (1999, 2000, 2001)",
    "q98": "d_date BETWEEN DATE '1999-02-22' AND DATE '1999-03-24'",
    "returns": "d_year = 2000",
}
FACTS = dict.fromkeys(DATES, ("store_sales", "ss_sold_date_sk")) | {
    "returns": ("store_returns", "sr_returned_date_sk")
}
LEVELS = ("dataFiles", "bytes")
Read = dict[str, dict[str, list[int]]]
"""By query and level: pruned by the gateway, by hand, and the table's total."""


def measure(lake: Lake) -> Measurement:
    """Returns the files and bytes of each query's fact, both ways."""
    read: Read = {}
    with gateway_process(lake.environment()) as gateway:
        client = Client(gateway.url)
        for name, body in star_queries(lake).items():
            ask(client, {**body, "dynamicFiltering": PRUNED})
            ours = ask(client, {**body, "dynamicFiltering": PRUNED})
            sql = _by_hand(body["sql"], *FACTS[name], _days(client, DATES[name]))
            hand = ask(client, {**body, "sql": sql, "dynamicFiltering": {"enabled": False}})
            read[name] = {level: _levels(level, FACTS[name][0], ours, hand) for level in LEVELS}
    return Measurement(_rows(read), read, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the files of each query, as a share of the table's."""
    axes = figure.subplots()
    names = list(measurement.samples)
    for offset, label in enumerate(("by the gateway", "by hand")):
        read = [measurement.samples[name]["dataFiles"] for name in names]
        shares = [100 * counts[offset] / max(counts[2], 1) for counts in read]
        axes.bar([place + 0.4 * offset for place in range(len(names))], shares, 0.4, label=label)
    axes.set_xticks([place + 0.2 for place in range(len(names))], names)
    axes.set_ylabel("percent of the fact's data files")
    axes.legend()


def _days(client: Client, condition: str) -> list[int]:
    body: dict[str, Any] = {"sql": f"SELECT d_date_sk FROM date_dim WHERE {condition}", **TABLES}
    status, answer = client.query(body)
    if status != 200:
        raise RuntimeError(f"{status}: {answer[:500]!r}")
    return [row[0] for row in orjson.loads(answer)["result"]["rows"]]


def _by_hand(sql: str, fact: str, column: str, days: list[int]) -> str:
    literals = ", ".join(map(str, days))
    pruned = f"(SELECT * FROM {fact} WHERE {column} IN ({literals})) AS {fact}"
    found, count = re.subn(rf"\b{fact}\b(?=\s*[,\n])", pruned, sql, count=1)
    if count != 1:
        raise RuntimeError(f"There is no {fact} in the FROM of {sql}")
    return found


def _levels(level: str, fact: str, ours: Asked, hand: Asked) -> list[int]:
    return [ours.scan(fact, level), hand.scan(fact, level), hand.total(fact, level)]


def _rows(read: Read) -> list[Row]:
    more = [name for name, levels in read.items() if any(level[0] != level[1] for level in levels.values())]
    rows = [Row("queries that read otherwise", len(more), "", target="none", is_met=not more)]
    for name, levels in read.items():
        for level, unit in zip(LEVELS, ("", "bytes"), strict=True):
            ours, hand, total = levels[level]
            kind = "files" if level == "dataFiles" else level
            target = f"{hand:,} by hand, of {total:,}"
            rows.append(Row(f"{name}: {kind}", ours, unit, target=target, is_met=ours == hand))
    return rows
