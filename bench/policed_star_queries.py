"""The star queries of TPC-DS under a row filter, and with the same predicate written by hand.

This measures whether a policy costs more than its predicate. Two callers ask the twelve star queries and a
join of returns and dates over TPC-DS at scale 1. A row filter lets one of them see the first half of each
month in `date_dim`. The other sees everything, and asks for `(SELECT * FROM date_dim WHERE d_dom <= 15)`
instead of `date_dim`. Both prune by cached filters: the rows of a dimension that a policy hides select fewer
files of the fact, too. There are six rounds to warm up and eleven to measure. The two take turns, each first
in every other round; the rows of the results are not sent, but their number is compared, and so are the files
of the fact. A ratio is that of the medians; in brackets are the smallest and the largest of single rounds.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import statistics
from collections.abc import Mapping
from typing import Any

import orjson
from matplotlib.figure import Figure

from bench.asked import Asked, ask
from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.literal_predicate import FACTS
from bench.measurement import Measurement, Row, spread
from bench.ratios import draw_ratios
from bench.star_queries import star_queries
from bench.tpcds_lake import IS_FULL, PRUNED, REMARKS, SCHEMA

WARM_UP, ROUNDS = (6, 11) if IS_FULL else (1, 2)
PREDICATE = "d_dom <= 15"
POLICED, BY_HAND = "row filter", "by hand"
CALLERS = ("policed", "free")
LEAST_RATIO = 0.95
Samples = dict[str, dict[str, list[float]]]
"""By query and way: milliseconds, one sample for each round."""


def measure(lake: Lake) -> Measurement:
    """Returns times by query and way, and their ratios."""
    tokens = {caller: secrets.token_hex(16) for caller in CALLERS}
    queries = star_queries(lake)
    samples: Samples = {name: {POLICED: [], BY_HAND: []} for name in queries}
    faults: list[str] = []
    with gateway_process(lake.environment() | _settings(tokens)) as gateway:
        policed, free = (
            Client(gateway.url, {"Authorization": f"Bearer {tokens[caller]}"}) for caller in CALLERS
        )
        _grant(free)
        for number in range(WARM_UP + ROUNDS):
            for name, body in queries.items():
                asked = _both(policed, free, body, is_policed_first=number % 2 == 0)
                if number >= WARM_UP:
                    for way, answer in asked.items():
                        samples[name][way].append(answer.took_ms)
                    faults += _faults(name, asked)
    return Measurement(_rows(samples, faults), samples, (*REMARKS, *dict.fromkeys(faults)))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the ratio of each query."""
    found = {name: _ratio(name, ways).value for name, ways in measurement.samples.items()}
    draw_ratios(figure.subplots(), found, (LEAST_RATIO,))


def by_hand(sql: str) -> str:
    """Returns the query with the predicate around `date_dim`.

    Raises:
        RuntimeError: the query does not read it once.
    """
    pattern = re.compile(
        r"\bdate_dim\b(?:[ \t]+(?:AS[ \t]+)?(?!WHERE)(\w+))?(?=\s*(?:,|\n|WHERE))", re.IGNORECASE
    )
    found, count = pattern.subn(
        lambda match: f"(SELECT * FROM date_dim WHERE {PREDICATE}) AS {match[1] or 'date_dim'}", sql
    )
    if count != 1:
        raise RuntimeError(f"{count} times date_dim in the FROM of {sql}")
    return found


def _settings(tokens: Mapping[str, str]) -> dict[str, str]:
    hashes = {caller: hashlib.sha256(token.encode()).hexdigest() for caller, token in tokens.items()}
    return {
        "SLUICE_API_TOKENS": orjson.dumps(hashes).decode(),
        "SLUICE_ADMINS": "free",
        "SLUICE_AUTHORIZATION": "policies",
        "SLUICE_PRINCIPAL_ROLES": orjson.dumps({caller: [caller] for caller in CALLERS}).decode(),
    }


def _grant(admin: Client) -> None:
    grants = [{"tables": "lake.*.*", "actions": ["select"]}]
    filters = [{"tables": f"lake.{SCHEMA}.date_dim", "predicate": PREDICATE}]
    roles = {"free": {"grants": grants}, "policed": {"grants": grants, "rowFilters": filters}}
    _, before = admin.get("/policies")
    version = orjson.loads(before)["version"]
    status, answer = admin.put("/policies", orjson.dumps({"version": version, "roles": roles}))
    if status != 200:
        raise RuntimeError(f"{status}: {answer[:500]!r}")


def _both(
    policed: Client, free: Client, body: Mapping[str, Any], *, is_policed_first: bool
) -> dict[str, Asked]:
    ways = {
        POLICED: (policed, {**body, "dynamicFiltering": PRUNED}),
        BY_HAND: (free, {**body, "sql": by_hand(body["sql"]), "dynamicFiltering": PRUNED}),
    }
    order = (POLICED, BY_HAND) if is_policed_first else (BY_HAND, POLICED)
    return {way: ask(*ways[way]) for way in order}


def _faults(name: str, asked: Mapping[str, Asked]) -> list[str]:
    fact = FACTS[name][0]
    policed, hand = asked[POLICED], asked[BY_HAND]
    found = []
    if policed.row_count != hand.row_count:
        found.append(f"{name}: {policed.row_count:,} rows, and {hand.row_count:,} by hand")
    if policed.scan(fact, "dataFiles") > hand.scan(fact, "dataFiles"):
        found.append(f"{name}: more files of {fact} than by hand")
    return found


def _ratio(name: str, ways: Mapping[str, list[float]]) -> Row:
    value = statistics.median(ways[BY_HAND]) / statistics.median(ways[POLICED])
    rounds = [hand / policed for hand, policed in zip(ways[BY_HAND], ways[POLICED], strict=True)]
    return Row(name, value, "times", min(rounds), max(rounds))


def _rows(samples: Samples, faults: list[str]) -> list[Row]:
    ratios = [_ratio(name, ways) for name, ways in samples.items()]
    mean = statistics.geometric_mean([row.value for row in ratios])
    target = f"≥ {LEAST_RATIO:g}"
    return [
        Row("geometric mean", mean, "times", target=target, is_met=mean >= LEAST_RATIO),
        Row("answers that are not as by hand", len(faults), "", target="none", is_met=not faults),
        *ratios,
        *(spread(f"{name}: {way}", times) for name, ways in samples.items() for way, times in ways.items()),
    ]
