"""What ended long ago leaves the log, and takes its files along if they were refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from service.ingest.retention import AT_ONCE, IngestRetention
from service.model.ingest import IngestCommit, IngestRecord
from service.model.writing import CommitResult, WriteResult, WriteTarget
from tests.fakes.clock import FakeClock
from tests.fakes.data_files import FakeDataFiles
from tests.fakes.ingest_history import FakeIngestHistory
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.writable_tables import FakeWritableTables
from tests.unit.ingest.wide_table import TABLE

OLD = datetime(2020, 1, 1, tzinfo=UTC)


class Kept:
    """A log with its files, and what keeps it small."""

    def __init__(self) -> None:
        self.log, self.files = FakeIngestLog(), FakeDataFiles()
        self.tables = FakeWritableTables(TABLE)
        self.retention = IngestRetention(
            FakeIngestHistory(self.log), self.tables, self.files, FakeClock(), timedelta(days=30)
        )

    def accept(self) -> IngestRecord:
        name = f"memory:/{uuid4()}.parquet"
        self.files.files[name] = [{}]
        target = WriteTarget(TABLE.key, TABLE.schema.schema_id, TABLE.spec_id)
        result = WriteResult(target, (f'{{"file-path": "{name}"}}',), (), 1, 1)
        record = IngestRecord(uuid4(), "ann", uuid4(), "f", OLD, (IngestCommit(TABLE.key, ()),))
        return self.log.accept(record, [result])

    def end(self, *, refused: bool) -> None:
        with self.log.round(TABLE.key, 1_000_000) as pending:
            assert pending is not None
            if refused:
                pending.refused("TABLE_CHANGED", "")
            else:
                pending.committed(CommitResult(TABLE.key, 1, 1, 1, 1))


def test_files_of_refused_ingests_are_deleted_with_their_record_and_committed_ones_never() -> None:
    kept = Kept()
    kept.accept()
    kept.end(refused=False)
    committed = set(kept.files.files)
    kept.accept()
    kept.end(refused=True)
    kept.accept()
    assert kept.retention.sweep() == 2
    waiting = set(kept.files.files) - committed
    assert committed <= set(kept.files.files)
    assert len(waiting) == 1
    assert kept.log.waiting() == [TABLE.key]


def test_everything_that_is_due_goes_in_one_sweep() -> None:
    kept = Kept()
    for _ in range(AT_ONCE + 1):
        kept.accept()
    kept.end(refused=False)
    assert kept.retention.sweep() == AT_ONCE + 1
    assert kept.retention.sweep() == 0


def test_a_table_that_is_gone_keeps_no_record_alive() -> None:
    kept = Kept()
    kept.accept()
    kept.end(refused=True)
    kept.tables.is_down = True
    assert kept.retention.sweep() == 1
