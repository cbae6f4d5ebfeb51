"""Changes of tables: creation, evolution, commits, and the deletes of upserts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from service.model.ingest.writing import (
    CommitResult,
    Committable,
    RowDelta,
    WritableTable,
)
from service.model.tables.schema_changes import SchemaChange
from service.model.tables.table_creation import TableCreation
from service.model.tables.tables import SortField, TableName


def always_open() -> bool:
    """For rounds that no other process can end."""
    return True


class RoundEnded(Exception):
    """Another process has ended the round, or put other files into it."""


class WritableTables(Protocol):
    """Tables as seen by those that write to them."""

    def writable(self, name: TableName, branch: str) -> WritableTable:
        """Returns the table as it is now; the first commit to a missing branch creates it.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has this name.
            IngestInvalid: the branch is a tag.
            CatalogDown: the catalog does not answer.
        """


class TableChanges(Protocol):
    """Creates tables, changes their schemas, and registers sort orders with them."""

    def check_creation(self, name: TableName, creation: TableCreation) -> None:
        """Checks that `create` would accept the creation, as far as is known without asking the catalog.

        Raises:
            CreationInvalid: `create` would refuse it.
        """

    def create(self, name: TableName, creation: TableCreation) -> bool:
        """Creates the table and its missing schemas; returns False if the table exists by now.

        Raises:
            CreationInvalid: the catalog does not take such a table.
            CatalogDown: the catalog does not answer.
        """

    def evolve(self, table: WritableTable, changes: Sequence[SchemaChange]) -> bool:
        """Makes all changes in one commit; returns False, and changes nothing, if the schema is another now.

        Raises:
            SchemaMismatch: the table cannot take the changes.
            TableNotFound: the table is gone.
            CatalogDown: the catalog does not answer, or others commit all the time.
        """

    def add_sort_orders(self, table: WritableTable, orders: Sequence[tuple[SortField, ...]]) -> bool:
        """Registers these orders with the table, in one commit; its default order stays.

        Returns False, and changes nothing, if the table has one of them by now, or its schema is another one.

        Raises:
            SchemaMismatch: rows of this table cannot be in such an order.
            TableNotFound: the table is gone.
            CatalogDown: the catalog does not answer, or others commit all the time.
        """


class DeadLetterTables(Protocol):
    """Tables for rejected records, one beside each table that records are sent to."""

    def opened(self, name: TableName) -> WritableTable:
        """Returns the dead-letter table with this name; creates it if it is missing.

        Raises:
            IngestInvalid: there is another table of that name.
            CatalogDown: the catalog does not answer.
        """


class RowDeltas(Protocol):
    """Builds snapshots of rows and deletes that belong to no table yet."""

    def prepare(self, delta: RowDelta) -> str | None:
        """Writes the manifests of one snapshot, and returns Iceberg's JSON of it.

        Returns None if the table's metadata is no longer the one at the delta's location; look again.

        Raises:
            CommittableUnreadable: a file is described in a way that cannot be committed.
            PartDown: the builder is down, or does not find the table; try again later.
        """


class TableCommits(Protocol):
    """Makes snapshots."""

    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        """Adds all files in one snapshot, once: a round that is already in the table is not added again.

        `is_open` returns whether the round still waits with these files. It is called after the table was
        read.

        Raises:
            RoundEnded: the round does not wait any more; nothing was added.
            TableChanged: the files no longer fit the table: its partition spec or a column is another.
            CommittableUnreadable: these files are described in a way that cannot be committed.
            UpsertNotPossible: the table holds rows that the deletes of an upsert would not reach.
            TableNotFound: the table is not there.
            PartDown: the catalog does not answer, others commit all the time, the table itself is at fault,
                or a part that upserts need is down; try again later.
        """
