"""A committer in a process of its own, which prints its progress, and runs until it is killed.

Arguments: the addresses of the log and the catalog, the warehouse and the table.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack

from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.model.ingest.writing import CommitResult, Committable
from service.ports.tables.table_changes import always_open
from tests.integration.ingest.lakehouse import IngestLakehouse


class Announcing(PyIcebergTableCommits):
    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        announce("round")
        return super().commit(committable, is_open)

    def _publish(self, append: SnapshotAppend) -> None:
        announce("publish")
        super()._publish(append)
        announce("published")


def announce(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main(log_url: str, catalog_url: str, warehouse: str, table_name: str) -> None:
    with ExitStack() as stack:
        lakehouse = IngestLakehouse(log_url, catalog_url, warehouse, table_name, stack)
        lakehouse.start_committer(commits=lakehouse.new_commits(Announcing))
        signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
