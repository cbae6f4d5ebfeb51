"""The ratios of all TPC-DS texts in one way, and of those that were asked again by themselves."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bench.client import Client
from bench.contest import SPARK, Contest, Way
from bench.measurement import Row
from bench.ratios import faults_row, is_whole, ratio_row, ratios, summary
from bench.tpcds_lake import IS_FULL

WARM_UP_AGAIN, ROUNDS_AGAIN = (2, 7) if IS_FULL else (0, 1)
ASKED_AGAIN_UNDER = 0.95
SHOWN = 12
# Some texts as they are written do not fit into the 2 GB of the default.
HEAP = {"SLUICE_SPARK_DRIVER_MEMORY": "6g"}

Queries = Mapping[str, Mapping[str, Any]]


def say_round(what: str, began_s: float) -> None:
    """Prints how far a measure is that takes an hour. `began_s` is on the monotonic clock."""
    print(f"{what}: {time.monotonic() - began_s:.0f} s", flush=True)


class RatiosOfTexts:
    """The ratios of one way, and of the texts that came out low and were asked again by themselves."""

    def __init__(self, way: Way, contest: Contest, targets: tuple[float, float]) -> None:
        self._way = way
        self._contest = contest
        self._ratios = ratios(contest.samples, way)
        self._targets = targets
        self._again: dict[str, Contest] = {}

    @property
    def faults(self) -> list[str]:
        """What is not as it should be."""
        return [fault for contest in (self._contest, *self._again.values()) for fault in contest.faults]

    def ask_again(self, peer: Client, ours: Client, queries: Queries) -> None:
        """Asks each text that came out low by itself."""
        for name, row in self._ratios.items():
            if row.value < ASKED_AGAIN_UNDER:
                contest = Contest(ours, {name: queries[name]}, (SPARK, self._way), peer)
                contest.warm_up(WARM_UP_AGAIN)
                for _ in range(ROUNDS_AGAIN):
                    contest.round(lambda _: True)
                self._again[name] = contest

    def rows(self) -> list[Row]:
        """Returns the mean and the smallest with their targets, and the extremes."""
        way, contest = self._way, self._contest
        mean, least = self._targets
        alone = {
            name: ratio_row(f"{name}, alone: {way.label}", rerun.samples[name], way)
            for name, rerun in self._again.items()
            if is_whole(rerun.samples[name])
        }
        ordered = sorted(self._ratios.values(), key=lambda row: row.value)
        smallest = min((self._ratios | alone).values(), key=lambda row: row.value)
        under = sum(row.value < least for row in alone.values())
        pruned = sum(bool(ways[way.label].sources) for ways in contest.last.values() if way.label in ways)
        counts = sorted(len(sample[SPARK.label]) for sample in contest.samples.values())
        return [
            *summary(self._ratios, way, mean, None),
            replace(smallest, target=f"≥ {least:g}", is_met=smallest.value >= least),
            Row(f"{way.label}: texts under {least:g}, alone", under, "", target="none", is_met=under == 0),
            Row(
                f"{way.label}: texts compared",
                len(self._ratios),
                "",
                target="all 103",
                is_met=len(self._ratios) == len(contest.samples),
            ),
            Row(f"{way.label}: texts with a filter applied", pruned, ""),
            Row(f"{way.label}: rounds", counts[len(counts) // 2], "", counts[0], counts[-1]),
            faults_row(contest, *self._again.values()),
            *sorted(alone.values(), key=lambda row: row.value),
            *ordered[:SHOWN],
            *ordered[-SHOWN:][::-1],
        ]
