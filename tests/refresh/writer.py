"""Commits to a fact while queries run: appends mostly, and now and then a commit that no state survives."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from random import Random

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import CommitFailedException

from tests.refresh.tables import SCHEMA, fact_rows, in_arrow

ROWS_AT_MOST = 4_000
KEPT_S = 120


class Writer:
    """One thread that commits once for each call of `start_commit`, so a slow machine has no more commits."""

    def __init__(self, catalog: Catalog, name: str, seed: int) -> None:
        self._catalog = catalog
        self._name = name
        self._random = Random(seed)
        self._asked_for = threading.Semaphore(0)
        self.commits: Counter[str] = Counter()

    def commit(self) -> None:
        """Commits once."""
        table = self._catalog.load_table(f"{SCHEMA}.{self._name}")
        chance = self._random.random()
        snapshot = table.current_snapshot()
        rows = (
            0 if snapshot is None or snapshot.summary is None else int(snapshot.summary["total-records"] or 0)
        )
        try:
            if rows > ROWS_AT_MOST or chance < 0.004:
                table.overwrite(in_arrow(table, fact_rows(self._random, 60)))
                self._count("overwrite")
            elif chance < 0.02:
                table.delete(f"id < {self._random.randrange(200_000)}")
                self._count("delete")
            elif chance < 0.03:
                table.transaction().set_properties({"touched": str(chance)}).commit_transaction()
                self._count("properties")
            elif chance < 0.035:
                old = datetime.now(UTC) - timedelta(seconds=KEPT_S)
                table.maintenance.expire_snapshots().older_than(old.replace(tzinfo=None)).commit()
                self._count("expire")
            else:
                count = self._random.choice((1, 3, 9))
                table.append(in_arrow(table, fact_rows(self._random, count, is_huge=chance > 0.98)))
                self._count("append")
        except CommitFailedException:
            self._count("failed")

    def start_commit(self) -> None:
        """Makes the thread of `at_work` commit, and does not wait for it."""
        self._asked_for.release()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Commits when asked to, until the block ends."""
        is_over = threading.Event()
        failures: list[BaseException] = []

        def work() -> None:
            try:
                while self._asked_for.acquire() and not is_over.is_set():
                    self.commit()
            except BaseException as failure:  # noqa: BLE001 - the test fails with it
                failures.append(failure)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            self.start_commit()
            thread.join()
        if failures:
            raise failures[0]

    def _count(self, kind: str) -> None:
        self.commits[kind] += 1
