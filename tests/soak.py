"""The settings of `make soak`, read from the environment variables `SLUICE_SOAK_…`."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Soak:
    """The number of generated queries, the seed of the first process, and the number of processes.

    With `keeps_rows`, queries read rows that earlier ones have filtered and hashed.
    """

    queries: int
    seed: int
    processes: int
    keeps_rows: bool = False

    @property
    def share(self) -> int:
        """The number of queries that one process runs."""
        return -(-self.queries // self.processes)


def _asked_for() -> Soak | None:
    if (queries := os.environ.get("SLUICE_SOAK_QUERIES")) is None:
        return None
    return Soak(
        queries=int(queries),
        seed=int(os.environ.get("SLUICE_SOAK_SEED", "1")),
        processes=int(os.environ.get("SLUICE_SOAK_PROCESSES", "1")),
        keeps_rows=os.environ.get("SLUICE_SOAK_KEEPS_ROWS", "") == "1",
    )


SOAK = _asked_for()
"""None if this run is not a soak of generated queries."""
