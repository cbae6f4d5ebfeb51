"""Ingests that ended long ago are removed from the log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from service.ingest.retention import AT_ONCE, IngestRetention
from service.model.ingest.ingest import IngestCommit, IngestRecord
from service.model.ingest.writing import CommitResult, WriteResult, WriteTarget
from tests.fakes.clock import FakeClock
from tests.fakes.ingest_history import FakeIngestHistory
from tests.fakes.ingest_log import FakeIngestLog
from tests.unit.ingest.wide_table import TABLE

OLD = datetime(2020, 1, 1, tzinfo=UTC)


class Retained:
    """A log and its retention."""

    def __init__(self) -> None:
        self.log = FakeIngestLog()
        self.retention = IngestRetention(FakeIngestHistory(self.log), FakeClock(), timedelta(days=30))

    def accept(self) -> IngestRecord:
        target = WriteTarget(TABLE.key, TABLE.schema.schema_id, TABLE.spec_id)
        result = WriteResult(target, (f'{{"file-path": "memory:/{uuid4()}.parquet"}}',), (), 1, 1)
        record = IngestRecord(uuid4(), "ann", uuid4(), "f", OLD, (IngestCommit(TABLE.key, ()),))
        return self.log.accept(record, [result])

    def end(self, *, refused: bool) -> None:
        with self.log.round(TABLE.key, 1_000_000) as pending:
            assert pending is not None
            if refused:
                pending.refused("TABLE_CHANGED", "")
            else:
                pending.committed(CommitResult(TABLE.key, 1, 1, 1, 1))


def test_what_was_committed_or_refused_goes_and_what_waits_stays() -> None:
    retained = Retained()
    for refused in (False, True):
        retained.accept()
        retained.end(refused=refused)
    waiting = retained.accept()
    assert retained.retention.sweep() == 2
    assert retained.log.records() == [waiting]
    assert retained.log.waiting().keys == [TABLE.key]


def test_everything_that_is_due_goes_in_one_sweep() -> None:
    retained = Retained()
    for _ in range(AT_ONCE + 1):
        retained.accept()
    retained.end(refused=False)
    assert retained.retention.sweep() == AT_ONCE + 1
    assert retained.retention.sweep() == 0
