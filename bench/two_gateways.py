"""Two gateways on the same tables take turns: one with a setting, one without it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from bench.asked import Asked, ask
from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake, share_jars
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import PRUNED, REMARKS

Samples = dict[str, dict[str, list[float]]]
"""By query and way: milliseconds, one sample for each round."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What is compared: the names of the two ways, the settings of the first, and the ratio to reach."""

    name: str
    with_it: str
    without: str
    settings: Mapping[str, str]
    target: float


def take_turns(
    lake: Lake, pair: Pair, queries: Mapping[str, Mapping[str, object]], warm_up: int, rounds: int
) -> Measurement:
    """Returns times by query and way, and their ratios. Each way is first in every other round."""
    other = lake.data_dir / pair.name
    share_jars(lake.data_dir, other)
    changed = {"SLUICE_DATA_DIR": str(other)} | dict(pair.settings)
    samples: Samples = {name: {pair.with_it: [], pair.without: []} for name in queries}
    faults: list[str] = []
    with (
        gateway_process(lake.environment()) as plain,
        gateway_process(lake.environment() | changed) as set_up,
    ):
        clients = {pair.without: Client(plain.url), pair.with_it: Client(set_up.url)}
        for number in range(warm_up + rounds):
            for name, body in queries.items():
                order = (pair.with_it, pair.without) if number % 2 else (pair.without, pair.with_it)
                asked = {way: ask(clients[way], {**body, "dynamicFiltering": PRUNED}) for way in order}
                faults += _faults(name, asked)
                if number >= warm_up:
                    for way, answer in asked.items():
                        samples[name][way].append(answer.took_ms)
    return Measurement(_rows(pair, samples, faults), samples, (*REMARKS, *dict.fromkeys(faults)))


def speedups(pair: Pair, samples: Samples) -> dict[str, float]:
    """Returns how many times as fast each query was with the setting."""
    return {name: _ratio(pair, name, ways).value for name, ways in samples.items()}


def _faults(name: str, asked: Mapping[str, Asked]) -> list[str]:
    counts = {way: answer.row_count for way, answer in asked.items()}
    return [f"{name}: other numbers of rows: {counts}"] if len(set(counts.values())) > 1 else []


def _ratio(pair: Pair, name: str, ways: Mapping[str, list[float]]) -> Row:
    before, after = ways[pair.without], ways[pair.with_it]
    rounds = [slow / fast for slow, fast in zip(before, after, strict=True)]
    return Row(name, statistics.median(before) / statistics.median(after), "times", min(rounds), max(rounds))


def _rows(pair: Pair, samples: Samples, faults: list[str]) -> list[Row]:
    found = [_ratio(pair, name, ways) for name, ways in samples.items()]
    mean = statistics.geometric_mean([row.value for row in found])
    return [
        Row("geometric mean", mean, "times", target=f"≥ {pair.target}", is_met=mean >= pair.target),
        Row("answers with other numbers of rows", len(faults), "", target="none", is_met=not faults),
        *found,
        *(spread(f"{name}: {way}", times) for name, ways in samples.items() for way, times in ways.items()),
    ]
