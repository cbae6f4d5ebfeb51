"""The star queries of TPC-DS by a gateway with every cache on, and by Trino.

This measures the gateway and its Spark against another engine that has dynamic filters of its own. One Trino
476 and one gateway on the same tables take turns. The gateway has every cache on, as in the measure of stock
Spark, and is asked with filters that are forgotten just before (`DELETE /filters`), and with cached ones.

Trino runs on Java 25 as one node, with the JVM's options that its manual recommends and a heap of 4 GB. It
reads the same catalog (`iceberg.catalog.type=jdbc`) and the same files. It has complete statistics (`ANALYZE`
of each table), as it orders joins by them: without, its dynamic filters leave out little. Scans wait for
dynamic filters (`iceberg.dynamic-filtering.wait-timeout=10s`), and these may be large
(`enable-large-dynamic-filters`). Its cache of metadata and manifests is on, and larger than by default.

Twelve star queries and a join of returns and dates run over TPC-DS at scale 1, with facts partitioned by day.
Trino's texts are translated: nulls are sorted first, and the division of integers has fractions, as in Spark.
Texts without a limit get the gateway's (10,000 rows). Times are those of the client, over HTTP, with all rows
as JSON, read with the same client, one query right after the other. There are fifteen rounds to warm up and
fifteen to measure. The rows are compared in each round. A ratio is that of the medians; in brackets are the
smallest and the largest of single rounds.

The tables are registered once more under another schema, so that the other measures do not see the
statistics. The gateway does not use them: before the rounds, the files that its filters select are compared
with those of the tables without statistics.

The archive of Trino (0.8 GB) is fetched from the registry of jars, and unpacked without most of its plugins;
`SLUICE_BENCH_TRINO_ARCHIVE` names one that is there. `SLUICE_BENCH_TRINO_JAVA` must name the home of a Java
24 or later.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from typing import Any

import orjson
from matplotlib.figure import Figure

from bench.alike_rows import are_alike
from bench.asked import ask
from bench.client import Client
from bench.contest import CACHED, COLD, Samples, Way, empty
from bench.every_cache import EVERY_CACHE
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.ratios import ratios, summary
from bench.star_queries import star_queries
from bench.tpcds_lake import IS_FULL, PRUNED, REMARKS, load
from bench.trino_client import TrinoClient
from bench.trino_server import trino_process
from bench.trino_tables import ANALYZED, analyze, register_tables
from bench.trino_texts import table_names, trino_text

WARM_UP, ROUNDS = (15, 15) if IS_FULL else (1, 2)
TRINO = Way("Trino", {})
WAYS = (TRINO, COLD, CACHED)
TARGETS = ((CACHED, 1.3), (COLD, None))
ROW_LIMIT = 10_000


class TrinoContest:
    """One query after the other, by both engines in turn."""

    def __init__(self, gateway: Client, trino: TrinoClient, queries: Mapping[str, dict[str, Any]]) -> None:
        self._gateway = gateway
        self._trino = trino
        self._queries = {name: {**body, "schema": ANALYZED} for name, body in queries.items()}
        self._texts = {name: trino_text(body["sql"], ROW_LIMIT) for name, body in queries.items()}
        self._round = 0
        self.samples: Samples = {name: {way.label: [] for way in WAYS} for name in queries}
        self.read_rows: dict[str, int] = {}
        self.faults: list[str] = []

    def round(self, *, counts: bool) -> None:
        """Asks each query in every way, the first one last in every other round, and compares the rows."""
        self._round += 1
        for name in self._queries:
            rows: dict[str, list[Any]] = {}
            for way in WAYS if self._round % 2 else (*WAYS[1:], WAYS[0]):
                empty(self._gateway, way)
                began = time.perf_counter()
                rows[way.label] = self._trino_rows(name) if way is TRINO else self._rows(name, way)
                if counts:
                    self.samples[name][way.label].append((time.perf_counter() - began) * 1000)
            self._compare(name, rows)

    def _trino_rows(self, name: str) -> list[Any]:
        answer = self._trino.ask(self._texts[name])
        self.read_rows[name] = answer.read_rows
        return answer.rows

    def _rows(self, name: str, way: Way) -> list[Any]:
        body = {**self._queries[name], "dynamicFiltering": way.dynamic_filtering, "rowLimit": ROW_LIMIT}
        status, answer = self._gateway.query(body)
        if status != 200:
            raise RuntimeError(f"{name}: {status}: {answer[:500]!r}")
        chunk = orjson.loads(answer)["result"]
        rows: list[Any] = chunk["rows"]
        while (link := chunk["nextChunkLink"]) is not None:
            chunk = orjson.loads(self._gateway.get(link)[1])
            rows += chunk["rows"]
        return rows

    def _compare(self, name: str, rows: Mapping[str, list[Any]]) -> None:
        theirs = rows[TRINO.label]
        for way in (COLD, CACHED):
            ours = rows[way.label]
            # Which rows a limit cuts off is arbitrary.
            is_cut = len(ours) == len(theirs) == ROW_LIMIT
            if not is_cut and not are_alike(theirs, ours):
                self.faults.append(f"{name}: {way.label}: other rows: {len(theirs)} and {len(ours)}.")


def make_tables(lake: Lake) -> None:
    """Loads TPC-DS, and has Trino analyze its tables under another schema, unless it has."""
    load(lake)
    read = {name for body in star_queries(lake).values() for name in table_names(body["sql"])}
    names = register_tables(lake, read)
    if names:
        with trino_process(lake) as url:
            analyze(TrinoClient(url, ANALYZED), names)


def measure(lake: Lake) -> Measurement:
    """Returns times by query and way, and their ratios."""
    queries = star_queries(lake)
    with trino_process(lake) as url, gateway_process({**lake.environment(), **EVERY_CACHE}) as gateway:
        client = Client(gateway.url)
        faults = _pruning_faults(client, queries)
        contest = TrinoContest(client, TrinoClient(url, ANALYZED), queries)
        for number in range(WARM_UP + ROUNDS):
            contest.round(counts=number >= WARM_UP)
    remarks = (*REMARKS, *faults, *dict.fromkeys(contest.faults))
    return Measurement(_rows(contest, faults), contest.samples, remarks)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each query's medians."""
    axes = figure.subplots()
    names = list(measurement.samples)
    for offset, way in enumerate(WAYS):
        medians = [statistics.median(measurement.samples[name][way.label]) for name in names]
        axes.bar([place + 0.27 * offset for place in range(len(names))], medians, 0.27, label=way.label)
    axes.set_xticks([place + 0.27 for place in range(len(names))], names)
    axes.set_ylabel("ms")
    axes.legend()


def _pruning_faults(client: Client, queries: Mapping[str, dict[str, Any]]) -> list[str]:
    """Returns the queries that read other files of tables with statistics than of those without."""
    faults = []
    for name, body in queries.items():
        plain, analyzed = (
            _selected_files(client, {**body, "schema": schema}) for schema in (body["schema"], ANALYZED)
        )
        if plain != analyzed:
            faults.append(f"{name}: files selected without statistics: {plain}; with them: {analyzed}.")
    return faults


def _selected_files(client: Client, body: dict[str, Any]) -> list[tuple[str, int]]:
    scans = ask(client, {**body, "dynamicFiltering": PRUNED}).explanation["scans"]
    return sorted((scan["table"].rpartition(".")[2], scan["dataFiles"]["selected"]) for scan in scans)


def _rows(contest: TrinoContest, pruning_faults: list[str]) -> list[Row]:
    found = [(way, mean, ratios(contest.samples, way, TRINO)) for way, mean in TARGETS]
    faults = [*contest.faults, *pruning_faults]
    return [
        *(row for way, mean, by_query in found for row in summary(by_query, way, mean, None)),
        Row(
            "answers with other rows, or pruned otherwise", len(faults), "", target="none", is_met=not faults
        ),
        *(row for _, _, by_query in found for row in by_query.values()),
        *(
            spread(f"{name}: {label}", times)
            for name, ways in contest.samples.items()
            for label, times in ways.items()
        ),
        *(
            Row(f"{name}: rows that Trino's scans read", count, "")
            for name, count in contest.read_rows.items()
        ),
    ]
