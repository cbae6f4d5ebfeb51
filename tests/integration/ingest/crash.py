"""A committer in a process of its own, which is killed at a chosen moment of its first commit.

Arguments: the addresses of the log and the catalog, the warehouse, the table, and the moment.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NoReturn

from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.ingest.committing.commit_round import commit_round
from service.ingest.committing.rewriting import Rewriting
from service.model.ingest.commit_rounds import RoundPart, RoundRevision
from service.model.ingest.writing import CommitResult, Committable, TableKey
from service.ports.tables.table_changes import always_open
from tests.integration.ingest.lakehouse import IngestLakehouse

ROUND_IS_OPEN = "round-is-open"
MANIFESTS_ARE_WRITTEN = "manifests-are-written"
SNAPSHOT_IS_COMMITTED = "snapshot-is-committed"


class KilledAtOnce(PyIcebergTableCommits):
    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:  # noqa: ARG002
        kill()


class KilledBeforeTheSnapshot(PyIcebergTableCommits):
    def _publish(self, append: SnapshotAppend) -> None:  # noqa: ARG002
        kill()


class KilledAfterTheSnapshot(PyIcebergTableCommits):
    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        super().commit(committable, is_open)
        kill()


class KilledBeforeTheLogHasNewFiles(Rewriting):
    def revisions(
        self, key: TableKey, parts: Sequence[RoundPart], *, is_missing_final: bool = False
    ) -> list[RoundRevision]:
        Rewriting.revisions(self, key, parts, is_missing_final=is_missing_final)
        kill()


class KilledWhenTheLogHasNewFiles(PyIcebergTableCommits):
    calls = 0

    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        self.calls += 1
        if self.calls > 1:
            kill()
        return super().commit(committable, is_open)


MOMENTS: dict[str, type[PyIcebergTableCommits]] = {
    ROUND_IS_OPEN: KilledAtOnce,
    MANIFESTS_ARE_WRITTEN: KilledBeforeTheSnapshot,
    SNAPSHOT_IS_COMMITTED: KilledAfterTheSnapshot,
}
REWRITING_MOMENTS: dict[str, tuple[type[PyIcebergTableCommits], type[Rewriting]]] = {
    "new-files-are-written": (PyIcebergTableCommits, KilledBeforeTheLogHasNewFiles),
    "log-has-new-files": (KilledWhenTheLogHasNewFiles, Rewriting),
    "new-manifests-are-written": (KilledBeforeTheSnapshot, Rewriting),
    "new-snapshot-is-committed": (KilledAfterTheSnapshot, Rewriting),
}


def kill() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still there")


def main(log_url: str, catalog_url: str, warehouse: str, table_name: str, moment: str) -> None:
    with ExitStack() as stack:
        lakehouse = IngestLakehouse(log_url, catalog_url, warehouse, table_name, stack)
        commits, rewriting = REWRITING_MOMENTS.get(moment) or (MOMENTS[moment], Rewriting)
        commit_round(
            lakehouse.key,
            lakehouse.log,
            lakehouse.new_commits(commits),
            1_000,
            lakehouse.new_rewriting(rewriting),
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
