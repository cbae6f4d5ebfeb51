"""Files that do not fit their table any more are rewritten, on a real PostgreSQL and real tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType

from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.ingest.committing.commit_round import commit_round
from service.ingest.committing.rewriting import Rewriting
from service.model.ingest.commit_rounds import RoundPart, RoundRevision
from service.model.ingest.ingest import IngestState
from service.model.ingest.writing import TableKey
from tests.integration.ingest.crash import REWRITING_MOMENTS
from tests.integration.ingest.lakehouse import IngestLakehouse, data_files
from tests.integration.ingest.test_commits import end_who_has_locks, kill_in_a_process_of_its_own

pytestmark = pytest.mark.integration
ID_AND_DAY, ID = (1, 2), (1,)


def partition_by_day(lakehouse: IngestLakehouse) -> None:
    with lakehouse.table().update_spec() as spec:
        spec.add_field("day", IdentityTransform(), "day_part")


def drop_day(lakehouse: IngestLakehouse) -> None:
    with lakehouse.table().update_schema() as schema:
        schema.delete_column("day")


def committed_files(lakehouse: IngestLakehouse) -> set[Path]:
    tasks = lakehouse.table().scan().plan_files()
    return {Path(task.file.file_path.removeprefix("file://")) for task in tasks}


def test_what_was_written_under_an_old_partition_spec_is_committed_under_the_new_one(
    lakehouse: IngestLakehouse,
) -> None:
    before = [lakehouse.accept([1, 2]), lakehouse.accept([3])]
    partition_by_day(lakehouse)
    with lakehouse.table().update_schema() as schema:
        schema.rename_column("day", "date_key")
        schema.update_column("day", LongType())
    after = lakehouse.accept([4])
    lakehouse.commit_all(*before, after)
    assert lakehouse.states([*before, after]) == {IngestState.COMMITTED}
    table = lakehouse.table()
    assert lakehouse.ids() == [1, 2, 3, 4]
    assert table.scan(row_filter="date_key = 1").to_arrow().column("id").to_pylist() != []
    files = [file.file for file in table.scan().plan_files()]
    assert {(file.spec_id, file.partition[0]) for file in files} == {(table.spec().spec_id, 1)}
    # The old files are orphans, and the log reports the files that the table has.
    assert committed_files(lakehouse) < data_files(table)
    reported = [lakehouse.record(record).commits[0].targets for record in before]
    assert [(targets[0].data_file_count, targets[0].record_count) for targets in reported] == [(1, 2), (1, 1)]


def test_of_two_ingests_in_a_round_only_the_one_that_cannot_fit_is_refused(
    lakehouse: IngestLakehouse,
) -> None:
    cannot, can = lakehouse.accept([1]), lakehouse.accept([2], column_ids=ID)
    drop_day(lakehouse)
    lakehouse.commit_all(cannot, can)
    refused = lakehouse.record(cannot)
    assert (refused.state, refused.commits[0].error_code) == (IngestState.FAILED, "TABLE_CHANGED")
    assert "column day is gone" in (refused.commits[0].error_detail or "")
    assert lakehouse.record(can).state is IngestState.COMMITTED
    assert lakehouse.ids() == [2]
    assert lakehouse.log.waiting().keys == []


def test_a_round_of_which_nothing_can_fit_is_refused(lakehouse: IngestLakehouse) -> None:
    records = [lakehouse.accept([number]) for number in range(2)]
    drop_day(lakehouse)
    lakehouse.commit_all(*records)
    assert lakehouse.states(records) == {IngestState.FAILED}
    assert (lakehouse.ids(), lakehouse.log.waiting().keys) == ([], [])


def test_what_an_ingest_did_not_write_and_is_partitioned_by_now_is_null(lakehouse: IngestLakehouse) -> None:
    record = lakehouse.accept([1], column_ids=ID)
    partition_by_day(lakehouse)
    lakehouse.commit_all(record)
    rows = lakehouse.table().scan(row_filter="day is null").to_arrow().to_pylist()
    assert rows == [{"id": 1, "day": None, "note": None}]


@pytest.mark.parametrize("moment", list(REWRITING_MOMENTS))
def test_being_killed_while_files_are_written_again_loses_nothing_and_repeats_nothing(
    lakehouse: IngestLakehouse, moment: str
) -> None:
    before = [lakehouse.accept([number]) for number in range(2)]
    partition_by_day(lakehouse)
    kill_in_a_process_of_its_own(lakehouse, moment)
    after = lakehouse.accept([2])
    lakehouse.commit_all(*before, after)
    assert lakehouse.ids() == [0, 1, 2]
    assert lakehouse.states([*before, after]) == {IngestState.COMMITTED}
    assert lakehouse.snapshot_count() == 2
    assert len(committed_files(lakehouse)) == 3
    assert committed_files(lakehouse) <= data_files(lakehouse.table())


class LosesItsLockRewriting(Rewriting):
    """Another replica does the whole round while the files of this one are rewritten."""

    lakehouse: IngestLakehouse

    def revisions(self, key: TableKey, parts: list[RoundPart]) -> list[RoundRevision]:  # type: ignore[override]
        made = Rewriting.revisions(self, key, parts)
        others = LosesItsLockRewriting.lakehouse
        end_who_has_locks(others)
        commit_round(key, others.new_log(), others.new_commits(), 1_000, others.new_rewriting())
        return made


def test_two_replicas_that_write_the_same_files_again_commit_them_once(lakehouse: IngestLakehouse) -> None:
    records = [lakehouse.accept([number]) for number in range(2)]
    partition_by_day(lakehouse)
    LosesItsLockRewriting.lakehouse = lakehouse
    commits, rewriting = lakehouse.new_commits(), lakehouse.new_rewriting(LosesItsLockRewriting)
    lakehouse.commit_with(commits, rewriting)
    lakehouse.commit_all(*records)
    assert lakehouse.ids() == [0, 1]
    assert lakehouse.snapshot_count() == 1
    assert lakehouse.states(records) == {IngestState.COMMITTED}
    assert committed_files(lakehouse) <= data_files(lakehouse.table())


class IsOvertaken(PyIcebergTableCommits):
    """While a replica pauses before it publishes, the spec changes, and another rewrites the round."""

    lakehouse: IngestLakehouse
    is_done = False

    def _publish(self, append: SnapshotAppend) -> None:
        if not self.is_done:
            self.is_done = True
            end_who_has_locks(self.lakehouse)
            partition_by_day(self.lakehouse)
            others = self.lakehouse
            commit_round(others.key, others.new_log(), others.new_commits(), 1_000, others.new_rewriting())
        super()._publish(append)


def test_a_replica_that_still_has_the_old_files_commits_nothing_twice(lakehouse: IngestLakehouse) -> None:
    records = [lakehouse.accept([number]) for number in range(2)]
    commits = lakehouse.new_commits(IsOvertaken)
    assert isinstance(commits, IsOvertaken)
    commits.lakehouse = lakehouse
    lakehouse.commit_with(commits, lakehouse.new_rewriting())
    lakehouse.commit_all(*records)
    assert (lakehouse.ids(), lakehouse.snapshot_count()) == ([0, 1], 1)
    assert committed_files(lakehouse) <= data_files(lakehouse.table())
