"""Tables to commit to: in memory, in a real SQL catalog and in a real REST catalog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import uuid4

from pyiceberg.catalog import Catalog
from pyiceberg.table import Table

from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.model.ingest.writing import MAIN, Committable, TableKey, WriteResult, WriteTarget
from service.model.tables.tables import TableName
from service.ports.tables.table_changes import TableCommits
from tests.contract.catalogs.lakehouse import PyIcebergLakehouse
from tests.contract.catalogs.plain_data_files import SCHEMA, ids_in, read_data_file, target_of, written
from tests.fakes.table_commits import FakeTableCommits


class CommitTables(Protocol):
    """A lakehouse with one table, which has no rows."""

    @property
    def commits(self) -> TableCommits: ...

    def committable(self, *ids: Sequence[int]) -> Committable:
        """Returns one round with one file for each sequence of ids."""

    def ids(self) -> list[int]:
        """Returns all ids in the table, with repetitions."""

    def snapshot_ids(self) -> list[int]: ...


class FakeCommitTables:
    def __init__(self) -> None:
        self.commits = FakeTableCommits()
        self.key = TableKey(TableName("lake", "game", "logs"))
        self._ids: dict[str, Sequence[int]] = {}

    def committable(self, *ids: Sequence[int]) -> Committable:
        return committable_of(self.key, [self._written(id_) for id_ in ids])

    def ids(self) -> list[int]:
        return sorted(id_ for file in self.commits.files(self.key) for id_ in self._ids[file])

    def snapshot_ids(self) -> list[int]:
        return list(range(1, len(self.commits.rounds) + 1))

    def _written(self, ids: Sequence[int]) -> WriteResult:
        file = uuid4().hex
        self._ids[file] = ids
        return WriteResult(WriteTarget(self.key, 0, 0), (file,), (), len(ids), 1)


class HookedTableCommits(PyIcebergTableCommits):
    """Calls a hook just before a commit reaches the catalog, and another just after."""

    before: Callable[[], object] = staticmethod(lambda: None)
    after: Callable[[], object] = staticmethod(lambda: None)

    def _publish(self, append: SnapshotAppend) -> None:
        before, self.before = self.before, lambda: None
        before()
        super()._publish(append)
        self.after()


class PyIcebergCommitTables:
    def __init__(self, lakehouse: PyIcebergLakehouse) -> None:
        self.lakehouse = lakehouse
        self.commits = self.new_commits()
        self.key = TableKey(TableName("lake", "game", f"logs_{uuid4().hex}"))
        self.outside.create_namespace_if_not_exists("game")
        self.outside.create_table(self.identifier, SCHEMA)

    @property
    def identifier(self) -> tuple[str, str]:
        return ("game", self.key.table.table)

    @property
    def outside(self) -> Catalog:
        """The catalog as another process has it open."""
        return self.lakehouse.outside

    def new_commits(self, conflicts_within_s: float = 15.0) -> HookedTableCommits:
        return HookedTableCommits(
            self.lakehouse.catalogs,
            read_data_file,
            first_pause_s=0.001,
            conflicts_within_s=conflicts_within_s,
        )

    def table(self) -> Table:
        return self.outside.load_table(self.identifier)

    def target(self, branch: str = MAIN, column_ids: tuple[int, ...] | None = (1, 2)) -> WriteTarget:
        return target_of(self.table(), TableKey(self.key.table, branch), column_ids)

    def committable(self, *ids: Sequence[int]) -> Committable:
        return self.committable_for(self.target(), *ids)

    def committable_for(self, target: WriteTarget, *ids: Sequence[int]) -> Committable:
        table = self.table()
        return committable_of(target.key, [written(table, target, id_) for id_ in ids])

    def ids(self, branch: str = MAIN) -> list[int]:
        return ids_in(self.table(), branch)

    def snapshot_ids(self) -> list[int]:
        return [snapshot.snapshot_id for snapshot in self.table().metadata.snapshots]


def committable_of(key: TableKey, results: Sequence[WriteResult]) -> Committable:
    return Committable(key, uuid4(), (uuid4(),), tuple(results))
