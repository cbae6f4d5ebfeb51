"""Asks queries in several ways in turn, so that a slow phase of the machine slows all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.asked import Asked, ask
from bench.client import Client
from bench.tpcds_lake import PRUNED

Samples = dict[str, dict[str, list[float]]]
"""By query, then by the label of the way: milliseconds, one sample of each way for each round."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask. Before, the gateway empties the caches of these names."""

    label: str
    dynamic_filtering: Mapping[str, Any]
    emptied: tuple[str, ...] = ()


SPARK = Way("Spark's own pruning", {"enabled": False})
CACHED = Way("cached filter", PRUNED)
COLD = Way("filter collected anew", PRUNED, ("filter_keys",))
FIRST = Way("for the first time", PRUNED, ("filter_keys", "local_relations", "kept_rows"))


def empty(client: Client, way: Way) -> None:
    """Empties the caches that must be empty before the gateway is asked in this way.

    Raises:
        RuntimeError: it did not.
    """
    for name in way.emptied:
        status, answer = client.delete(f"/caches/{name}")
        if status != 200:
            raise RuntimeError(f"{name}: {status}: {answer[:500]!r}")


class Contest:
    """One query after the other. `faults` lists samples that are not as expected.

    The first way, the peer, may have a gateway of its own.

    `ways` are asked in their order in one round, and with the first one last in the next. So the first, the
    peer, comes as often before the others as after them. A cold way comes right before the cached one, whose
    filters it leaves behind.
    """

    def __init__(
        self,
        client: Client,
        queries: Mapping[str, Mapping[str, Any]],
        ways: Sequence[Way],
        peer: Client | None = None,
    ) -> None:
        self._clients = {way.label: client for way in ways} | {ways[0].label: peer or client}
        self._queries = queries
        self._ways = ways
        self._round = 0
        self.samples: Samples = {name: {way.label: [] for way in ways} for name in queries}
        self.last: dict[str, dict[str, Asked]] = {name: {} for name in queries}
        self.faults: list[str] = []

    def warm_up(self, rounds: int) -> None:
        """Runs rounds that are not measured."""
        for _ in range(rounds):
            self.round(lambda _: True)
        for ways in self.samples.values():
            for way in ways.values():
                way.clear()
        self.faults.clear()

    def round(self, is_wanted: Callable[[str], bool]) -> int:
        """Asks each wanted query in every way, and returns how many there were."""
        self._round += 1
        wanted = [name for name in self._queries if is_wanted(name)]
        for name in wanted:
            for way in self._ways if self._round % 2 else (*self._ways[1:], self._ways[0]):
                self._ask(name, way)
            self._compare(name)
        return len(wanted)

    def _ask(self, name: str, way: Way) -> None:
        client = self._clients[way.label]
        empty(client, way)
        try:
            asked = ask(client, {**self._queries[name], "dynamicFiltering": way.dynamic_filtering})
        except RuntimeError as failure:
            self.faults.append(f"{name}, {way.label}: {failure}")
            return
        self.last[name][way.label] = asked
        self.samples[name][way.label].append(asked.took_ms)
        if way is CACHED and "COLLECTED" in asked.sources:
            self.faults.append(f"{name}: a filter that should have been cached was collected.")

    def _compare(self, name: str) -> None:
        counts = {label: asked.row_count for label, asked in self.last[name].items()}
        if len(set(counts.values())) > 1:
            self.faults.append(f"{name}: other numbers of rows: {counts}.")
