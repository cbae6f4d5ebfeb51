"""The ingest service over fakes alone."""

from __future__ import annotations

from pathlib import Path

from service.adapters.catalogs.iceberg_schema_json import schema_from_json
from service.adapters.clock import SystemClock
from service.adapters.sources.find import FoundSources
from service.adapters.sources.open import SplitsOfStorage
from service.adapters.sources.storage import SourceAccess
from service.adapters.staging.staged_bodies import StagedBodies
from service.adapters.staging.task_spools import TaskSpools
from service.ingest.committing.commit_pace import CommitPace
from service.ingest.committing.committer import Committer
from service.ingest.dead_letters.dead_letters import FIELDS
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS, ReadBounds
from service.ingest.distributed.large_parts import LargeBounds, LargeInputs
from service.ingest.ingest_service import IngestService
from service.ingest.run_ingest import IngestPorts
from service.ingest.schema_changes.change_rules import NOTHING_FORBIDDEN, ChangeRules
from service.model.ingest.sources import SourceBounds
from service.model.ingest.writing import WritableTable
from service.model.tables.schemas import TableSchema
from service.ports.clock import Clock
from service.ports.stores.audit_log import NO_TRAIL, AuditTrail
from tests.fakes.data_files import FakeDataFiles
from tests.fakes.dead_letter_tables import FakeDeadLetterTables
from tests.fakes.executors import FakeExecutors
from tests.fakes.ingest_history import FakeIngestHistory
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.ingest_metrics import FakeIngestMetrics
from tests.fakes.lineage import FakeLineage
from tests.fakes.spools import FakeSpools
from tests.fakes.table_changes import FakeTableChanges
from tests.fakes.table_commits import FakeTableCommits
from tests.fakes.writable_tables import FakeWritableTables


class FakeIngests(IngestService):
    """Exposes each fake that it uses as an attribute. It has threads, so a test must close it."""

    def __init__(
        self,
        *tables: WritableTable,
        writable_names: tuple[str, ...] = ("*",),
        change_rules: ChangeRules = NOTHING_FORBIDDEN,
        max_waiting: int = 100,
        sources_folder: Path = Path("/nowhere"),
        reading: ReadBounds = DEFAULT_BOUNDS,
        clock: Clock | None = None,
        trail: AuditTrail = NO_TRAIL,
    ) -> None:
        self.tables = FakeWritableTables(*tables)
        self.changes = FakeTableChanges(self.tables)
        self.files = FakeDataFiles()
        self.dead_letters = FakeDeadLetterTables(TableSchema(0, FIELDS))
        self.log = FakeIngestLog()
        self.commits = FakeTableCommits()
        self.spools = FakeSpools()
        clock = clock or SystemClock()
        self.executors = FakeExecutors()
        access = SourceAccess((sources_folder.as_uri(),))
        self.sources = FoundSources(access, SourceBounds())
        bounds = LargeBounds(split_bytes=512, body_bytes=4096, source_reading=reading, body_reading=reading)
        self.metrics = FakeIngestMetrics()
        self.lineage = FakeLineage()
        ports = IngestPorts(
            tables=self.tables,
            data_files=self.files,
            dead_letters=self.dead_letters,
            log=self.log,
            clock=clock,
            writable_names=writable_names,
            bounds=reading,
            large=LargeInputs(
                executors=self.executors,
                sources=self.sources,
                open_split=SplitsOfStorage(access),
                bodies=StagedBodies(sees_disk=False),
                spools=TaskSpools(),
                bounds=bounds,
            ),
            changes=self.changes,
            spools=self.spools,
            change_rules=change_rules,
            metrics=self.metrics,
            lineage=self.lineage,
            trail=trail,
        )
        committer = Committer(self.log, self.commits, clock, CommitPace(), self.metrics, lineage=self.lineage)
        history = FakeIngestHistory(self.log)
        super().__init__(ports, committer, schema_from_json, history, max_waiting)
