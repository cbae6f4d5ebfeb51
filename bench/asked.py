"""One query over HTTP, with its time and what it read."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import orjson

from bench.client import Client

# The answer omits the rows: writing them as JSON would dominate some queries, and is the same for everything
# that is compared. A reached limit would end a query's scans early.
WITHOUT_ROWS = {"format": "ARROW_STREAM", "rowLimit": 1_000_000}


@dataclass(frozen=True, slots=True)
class Asked:
    """A query that succeeded: milliseconds there and back, its number of rows, and its explanation."""

    took_ms: float
    row_count: int
    explanation: dict[str, Any]

    @property
    def sources(self) -> set[str]:
        """The sources of the applied filters' keys."""
        return {filter_["source"] for filter_ in self.explanation["filters"] if filter_["applied"]}

    @property
    def planning_ms(self) -> float:
        """The time until the query runs: detection and collection by the gateway, planning by the engine."""
        timings = self.explanation["timings"]
        return float(sum(timings[f"{step}Ms"] for step in ("parse", "detect", "filters", "plan")))

    def scan(self, table: str, level: str) -> int:
        """Returns how much all scans of this table selected."""
        scans = (scan for scan in self.explanation["scans"] if scan["table"].endswith(f".{table}"))
        return sum(scan[level]["selected"] for scan in scans)

    def total(self, table: str, level: str) -> int:
        """Returns the total that they selected from."""
        scans = (scan for scan in self.explanation["scans"] if scan["table"].endswith(f".{table}"))
        return sum(scan[level]["total"] for scan in scans)


def ask(client: Client, body: dict[str, Any]) -> Asked:
    """Sends the query and waits for its end, and for the work that follows its answer.

    Raises:
        RuntimeError: the query did not succeed.
    """
    began = time.perf_counter()
    status, answer = client.query({**WITHOUT_ROWS, **body})
    while status == 202:
        status, answer = client.get(f"{orjson.loads(answer)['links']['self']}&waitTimeout=50s")
    took_ms = (time.perf_counter() - began) * 1000
    found = orjson.loads(answer)
    if status != 200 or found["status"]["state"] != "SUCCEEDED":
        raise RuntimeError(f"{status}: {answer[:500]!r}")
    _, explained = client.get(found["links"]["explain"])
    return Asked(took_ms, found["manifest"]["totalRowCount"], orjson.loads(explained))
