"""One table and an ingest log, with as many committers as a test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from uuid import uuid4

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.clock import SystemClock
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.adapters.data_files.read_back.uncommitted_rows import ParquetWrittenRows
from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.postgres.ingest_log.ingest_log import PostgresIngestLog
from service.errors.unavailable import MetricsStoreDown
from service.ingest.committing.commit_pace import CommitPace
from service.ingest.committing.commit_round import commit_round
from service.ingest.committing.committer import Committer
from service.ingest.committing.rewriting import Rewriting
from service.model.ingest.ingest import IngestCommit, IngestRecord, IngestState
from service.model.ingest.writing import TableKey, WriteResult
from service.model.tables.tables import TableName
from service.ports.stores.ingest_log import IngestLog
from service.ports.tables.stored_orders import StoredOrders
from service.ports.tables.table_changes import RowDeltas, TableCommits
from service.ports.tables.vector_writer import VectorWriter
from tests.contract.catalogs.plain_data_files import (
    COLUMN_IDS,
    SCHEMA,
    ids_in,
    read_data_file,
    target_of,
    written,
)
from tests.fakes.ingests import ACCEPTED_AT

# The longest wait, so that a test with a wrong expectation ends.
WITHIN_S = 60
PACE = CommitPace(
    look_around_ms=100,
    contended_pause_ms=5,
    first_pause_ms=20,
    longest_pause_ms=200,
    absence_final_after_ms=0,
)


class IngestLakehouse:
    """A table, its catalog and its log; `stack` closes what is opened.

    An HTTP address is that of a REST catalog, which has its own warehouse.
    """

    def __init__(
        self,
        log_url: str,
        catalog_url: str,
        warehouse: str,
        table_name: str,
        stack: ExitStack,
        catalog: str = "lake",
    ) -> None:
        self.log_url = log_url
        self.row_deltas: RowDeltas | None = None
        self.stored_orders: StoredOrders | None = None
        self.vector_writer: VectorWriter | None = None
        self.vector_rows = 1_000
        self.properties = {"type": "sql", "uri": catalog_url, "warehouse": warehouse}
        if catalog_url.startswith("http:"):
            self.properties = {"type": "rest", "uri": catalog_url}
        self.key = TableKey(TableName(catalog, "game", table_name))
        self._stack = stack
        self._outside = _opened(catalog, self.properties)
        stack.callback(self._outside.close)
        self._outside.create_namespace_if_not_exists("game")
        if not self._outside.table_exists(("game", table_name)):
            self._outside.create_table(("game", table_name), SCHEMA)
        self.log = self.new_log()

    def new_log(self) -> PostgresIngestLog:
        """Opens the log as another replica would."""
        log = PostgresIngestLog(self.log_url)
        self._stack.callback(log.close)
        return log

    def new_commits(self, kind: type[PyIcebergTableCommits] = PyIcebergTableCommits) -> PyIcebergTableCommits:
        """Opens the table's commits as another replica would."""
        catalogs = self._new_catalogs()
        return kind(
            catalogs,
            read_data_file,
            first_pause_s=0.01,
            row_deltas=self.row_deltas,
            stored_orders=self.stored_orders,
            vector_writer=self.vector_writer,
            vector_rows=self.vector_rows,
        )

    def new_rewriting(self, kind: type[Rewriting] = Rewriting) -> Rewriting:
        """Opens the rewriting of files as another replica would."""
        catalogs = self._new_catalogs()
        tables, files = PyIcebergWritableTables(catalogs), ParquetDataFiles(WriteBounds())
        return kind(tables, ParquetWrittenRows(), files)

    def _new_catalogs(self) -> PyIcebergCatalogs:
        catalogs = PyIcebergCatalogs({self.key.table.catalog: self.properties}, SystemClock())
        self._stack.callback(catalogs.close)
        return catalogs

    def start_committer(
        self, log: IngestLog | None = None, commits: TableCommits | None = None, pace: CommitPace = PACE
    ) -> Committer:
        """Starts the committer of another replica, which is closed with the test."""
        committer = Committer(
            log or self.new_log(),
            commits or self.new_commits(),
            SystemClock(),
            pace,
            rewriting=self.new_rewriting(),
        )
        self._stack.callback(committer.close, WITHIN_S)
        return committer

    def table(self) -> Table:
        return self._outside.load_table(("game", self.key.table.table))

    def opened(self) -> Table:
        """Returns the table as the gateway opens it, which knows types that PyIceberg does not."""
        return self._new_catalogs().opened(self.key.table).table

    def accept(
        self,
        ids: Sequence[int],
        log: IngestLog | None = None,
        column_ids: tuple[int, ...] | None = COLUMN_IDS,
    ) -> IngestRecord:
        """Writes a file with these ids, and accepts it as an ingest."""
        table = self.table()
        return self.accept_result(written(table, target_of(table, self.key, column_ids), ids), log)

    def accept_result(self, result: WriteResult, log: IngestLog | None = None) -> IngestRecord:
        """Accepts an ingest with this result."""
        return self.accept_results([result], log)

    def accept_results(self, results: Sequence[WriteResult], log: IngestLog | None = None) -> IngestRecord:
        """Accepts one ingest with all of these results."""
        record = IngestRecord(uuid4(), "ann", uuid4(), "f00d", ACCEPTED_AT, (IngestCommit(self.key, ()),))
        return (log or self.log).accept(record, results)

    def commit_all(self, *records: IngestRecord) -> None:
        """Starts another replica, which commits all waiting ingests, and closes it."""
        committer = self.start_committer()
        for future in [committer.follow(record) for record in records]:
            future.result(WITHIN_S)
        # Otherwise it would take ingests that the test leaves to another committer.
        committer.close(WITHIN_S)

    def commit_with(self, commits: TableCommits, rewriting: Rewriting) -> None:
        """Commits one round; a replica that loses its connection leaves the round to others."""
        with suppress(MetricsStoreDown):
            commit_round(self.key, self.new_log(), commits, 1_000, rewriting)

    def record(self, record: IngestRecord) -> IngestRecord:
        found = self.log.find(record.ingest_id)
        assert found is not None
        return found

    def states(self, records: Sequence[IngestRecord]) -> set[IngestState]:
        return {self.record(record).state for record in records}

    def ids(self) -> list[int]:
        return ids_in(self.table())

    def snapshot_count(self) -> int:
        return len(self.table().metadata.snapshots)


def _opened(name: str, properties: Mapping[str, str]) -> SqlCatalog | RestCatalog:
    """Opens the catalog as another process would."""
    if properties["type"] == "rest":
        return RestCatalog(name, **properties)
    return SqlCatalog(name, **{**properties, "pool_pre_ping": "true"})


def data_files(table: Table) -> set[Path]:
    """Returns every data file on disk, whether or not the table has it."""
    return set((Path(table.location().removeprefix("file://")) / "data").rglob("*.parquet"))
