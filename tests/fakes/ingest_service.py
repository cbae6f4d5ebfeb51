"""Ingests over fakes alone."""

from __future__ import annotations

from service.adapters.clock import SystemClock
from service.adapters.iceberg_schema_json import schema_from_json
from service.ingest.commit_pace import CommitPace
from service.ingest.committer import Committer
from service.ingest.dead_letters import FIELDS
from service.ingest.ingests import Ingests
from service.ingest.run import IngestPorts
from service.model.schemas import TableSchema
from service.model.writing import WritableTable
from tests.fakes.data_files import FakeDataFiles
from tests.fakes.dead_letter_tables import FakeDeadLetterTables
from tests.fakes.ingest_history import FakeIngestHistory
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.ingest_meters import FakeIngestMeters
from tests.fakes.spools import FakeSpools
from tests.fakes.table_commits import FakeTableCommits
from tests.fakes.writable_tables import FakeWritableTables


class FakeIngests(Ingests):
    """Everything that it stands on is at hand. Close it: it has threads."""

    def __init__(
        self, *tables: WritableTable, writable_names: tuple[str, ...] = ("*",), max_waiting: int = 100
    ) -> None:
        self.tables = FakeWritableTables(*tables)
        self.files = FakeDataFiles()
        self.dead_letters = FakeDeadLetterTables(TableSchema(0, FIELDS))
        self.log = FakeIngestLog()
        self.commits = FakeTableCommits()
        self.spools = FakeSpools()
        clock = SystemClock()
        self.meters = FakeIngestMeters()
        ports = IngestPorts(
            self.tables,
            self.files,
            self.dead_letters,
            self.log,
            clock,
            writable_names,
            meters=self.meters,
        )
        committer = Committer(self.log, self.commits, clock, CommitPace(), self.meters)
        history = FakeIngestHistory(self.log)
        super().__init__(ports, committer, schema_from_json, history, self.spools, max_waiting)
