"""The points of statements at which a kill lands.

A lock in PostgreSQL holds statements of several writers at one point: as the catalog swaps its pointer, or
between their commit and its record. The server does what a killed client has sent it, so a commit that waits
for the lock lands after the death of who sent it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Protocol

import psycopg

from tests.integration.servers import Postgres

LONGEST_PAUSE_S = 4.0
SHORTEST_POLL_S = 0.005
LONGEST_AFTER_FILE_S = 0.06


class Point(Protocol):
    """A point of statements."""

    @property
    def name(self) -> str:
        """Its words in the report."""

    @contextmanager
    def reached(self, chance: random.Random) -> Iterator[None]:
        """Waits until statements are there, and holds them until the end of the block."""


@dataclass(frozen=True, slots=True)
class Anywhere:
    """After a random time."""

    name: str = "anywhere"

    @contextmanager
    def reached(self, chance: random.Random) -> Iterator[None]:
        """See `Point`."""
        Event().wait(chance.uniform(0, LONGEST_PAUSE_S))
        yield


@dataclass(frozen=True, slots=True)
class NewMetadata:
    """When a commit has begun to write the file of a table's next state, or little later."""

    warehouse: Path
    within_s: float = 30.0
    name: str = "as its metadata file is written"

    @contextmanager
    def reached(self, chance: random.Random) -> Iterator[None]:
        """See `Point`."""
        until_s, before = time.monotonic() + self.within_s, self._files()
        while self._files() <= before and time.monotonic() < until_s:
            Event().wait(SHORTEST_POLL_S)
        Event().wait(chance.uniform(0, LONGEST_AFTER_FILE_S))
        yield

    def _files(self) -> set[Path]:
        return set(self.warehouse.rglob("*.metadata.json"))


@dataclass(frozen=True, slots=True)
class Locked:
    """When statements wait for this table of PostgreSQL, which others can read but not write.

    It waits for `enough` of them, or for `within_s` and as many as there are then.
    """

    name: str
    database: Postgres
    of: str
    table: str
    enough: int
    within_s: float

    @contextmanager
    def reached(self, chance: random.Random) -> Iterator[None]:  # noqa: ARG002
        """See `Point`."""
        url = self.database.url(self.of).replace("+psycopg", "")
        with psycopg.connect(url) as locking:
            locking.execute(f"LOCK TABLE {self.table} IN SHARE ROW EXCLUSIVE MODE".encode())
            until_s = time.monotonic() + self.within_s
            while self._waiting() < self.enough and time.monotonic() < until_s:
                Event().wait(SHORTEST_POLL_S * 10)
            yield

    def _waiting(self) -> int:
        found = self.database.read(
            self.of,
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass",
            self.table,
        )
        return int(found[0][0])


def points(database: Postgres, warehouse: Path) -> Sequence[Point]:
    """Returns all points."""
    # The engine has two connections to its catalog.
    swap = Locked("in the swap of the catalog", database, "lake", "iceberg_tables", enough=2, within_s=60)
    # The gateway gives its store ten seconds for a statement.
    record = Locked("at its record", database, "metrics", "sql_writes", enough=5, within_s=7)
    return (Anywhere(), NewMetadata(warehouse), swap, record)
