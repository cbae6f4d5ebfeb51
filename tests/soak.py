"""What `make soak` asks for, from the environment: `SLUICE_SOAK_…`."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Soak:
    """How many generated queries, the seed of the first process, and the processes that share them."""

    queries: int
    seed: int
    processes: int

    @property
    def share(self) -> int:
        """Queries of one process."""
        return -(-self.queries // self.processes)


def _asked_for() -> Soak | None:
    if (queries := os.environ.get("SLUICE_SOAK_QUERIES")) is None:
        return None
    return Soak(
        queries=int(queries),
        seed=int(os.environ.get("SLUICE_SOAK_SEED", "1")),
        processes=int(os.environ.get("SLUICE_SOAK_PROCESSES", "1")),
    )


SOAK = _asked_for()
"""None: not a soak of generated queries."""
