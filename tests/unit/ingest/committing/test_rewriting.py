"""A round whose files do not fit the table any more, over fakes."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from service.errors.ingest_errors import WrittenFileMissing
from service.errors.table_errors import TableChanged
from service.errors.unavailable import CatalogDown, MetricsStoreDown, StorageDown
from service.ingest.committing.commit_round import ATTEMPTS_AT_MOST, CommitRound, StillMissed, commit_round
from service.ingest.committing.missing_tables import MissingTables
from service.ingest.committing.rewriting import Rewriting
from service.ingest.decoding.values.marked_rows import all_deletes
from service.model.ingest.ingest import IngestCommit, IngestRecord, IngestState
from service.model.ingest.writing import Committable, TableKey, WriteResult, WriteTarget
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import PartitionField
from tests.fakes.clock import FakeClock
from tests.fakes.data_files import FakeDataFiles
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.ingests import ingest_of
from tests.fakes.table_commits import FakeTableCommits
from tests.fakes.writable_tables import FakeWritableTables
from tests.fakes.written_rows import FakeWrittenRows
from tests.unit.ingest.wide_table import ID, NOTE, with_columns

BEFORE = with_columns(ID, NOTE)
WITH_ANOTHER_SPEC = replace(BEFORE, spec_id=1)
WITHOUT_NOTE = replace(BEFORE, schema=TableSchema(1, (ID,)))


class Lake:
    """A table that, as real ones do, refuses files that were not written for its current state."""

    def __init__(self) -> None:
        self.log, self.commits, self.files = FakeIngestLog(), FakeTableCommits(), FakeDataFiles()
        self.tables = FakeWritableTables(BEFORE)
        self.written = FakeWrittenRows(self.files, BEFORE.schema)
        self.rewriting = Rewriting(self.tables, self.written, self.files)
        self.commits.before_commit = self._check

    def accept(self, *rows: dict[str, object], equality_field_ids: tuple[int, ...] = ()) -> IngestRecord:
        ids = tuple(field.field_id for field in (ID, NOTE) if field.name in rows[0])
        is_upsert = bool(equality_field_ids)
        target = WriteTarget(BEFORE.key, 0, 0, is_upsert, equality_field_ids, ids, BEFORE.table_uuid)
        result = self.files.write(BEFORE, target, [pa.RecordBatch.from_pylist(list(rows))])
        return self.log.accept(ingest_of([result]), [result])

    def round(self) -> CommitRound:
        ended = commit_round(BEFORE.key, self.log, self.commits, 100, self.rewriting)
        assert ended is not None
        return ended

    def commit(self, record: IngestRecord) -> IngestCommit:
        found = self.log.find(record.ingest_id)
        assert found is not None
        return found.commits[0]

    def rows(self) -> list[dict[str, object]]:
        files = self.commits.files(BEFORE.key)
        return [row for file in files for row in self.files.files[json.loads(file)["file-path"]]]

    def _check(self, committable: Committable) -> None:
        table = self.tables.writable(BEFORE.key.table, BEFORE.key.branch)
        for result in committable.write_results:
            if (result.target.schema_id, result.target.spec_id) != (table.schema.schema_id, table.spec_id):
                raise TableChanged("other spec")


@pytest.fixture
def lake() -> Lake:
    return Lake()


def test_files_for_another_spec_are_written_again_and_the_old_ones_are_orphans(lake: Lake) -> None:
    records = [lake.accept({"id": number, "note": "n"}) for number in range(2)]
    lake.tables.put(WITH_ANOTHER_SPEC)
    ended = lake.round()
    assert ended.result is not None
    assert (ended.is_alike, ended.ingest_ids) == (False, tuple(record.ingest_id for record in records))
    assert {result.target.spec_id for result in ended.committable.write_results} == {1}
    assert [row["id"] for row in lake.rows()] == [0, 1]
    assert len(lake.files.files) == 4
    assert {lake.commit(record).snapshot_id for record in records} == {1}


def test_neighbours_of_an_ingest_that_cannot_fit_are_committed(lake: Lake) -> None:
    cannot, can = lake.accept({"id": 1, "note": "n"}), lake.accept({"id": 2})
    lake.tables.put(WITHOUT_NOTE)
    assert lake.round().result is not None
    assert lake.rows() == [{"id": 2}]
    refused = lake.commit(cannot)
    assert refused.error_code == "TABLE_CHANGED"
    assert "column note is gone" in (refused.error_detail or "")
    assert lake.commit(can).snapshot_id == 1


def test_a_round_of_which_nothing_can_fit_ends_refused(lake: Lake) -> None:
    record = lake.accept({"id": 1, "note": "n"})
    lake.tables.put(WITHOUT_NOTE)
    ended = lake.round()
    assert isinstance(ended.refusal, TableChanged)
    assert "column note is gone" in ended.refusal.detail
    assert lake.commit(record).error_code == "TABLE_CHANGED"
    assert lake.log.waiting().keys == []


def test_an_upsert_is_written_again_as_one(lake: Lake) -> None:
    record = lake.accept({"id": 1, "note": "n"}, {"id": 2, "note": "n"}, equality_field_ids=(1,))
    lake.tables.put(WITH_ANOTHER_SPEC)
    ended = lake.round()
    assert ended.result is not None
    [result] = ended.committable.write_results
    assert (result.target.is_upsert, result.target.spec_id, result.target.equality_field_ids) == (
        True,
        1,
        (1,),
    )
    assert [row["id"] for row in lake.rows()] == [1, 2]
    assert lake.commit(record).snapshot_id == 1


def test_an_upsert_whose_rows_are_too_many_at_once_is_written_file_by_file(lake: Lake) -> None:
    target = WriteTarget(BEFORE.key, 0, 0, True, (1,), (1,), BEFORE.table_uuid)
    batches = [pa.RecordBatch.from_pylist([{"id": 2 * n}, {"id": 2 * n + 1}]) for n in range(3)]
    result = WriteResult.merged(target, [lake.files.write(BEFORE, target, [batch]) for batch in batches])
    record = lake.log.accept(ingest_of([result]), [result])
    lake.tables.put(WITH_ANOTHER_SPEC)
    lake.files.upsert_rows = 2
    ended = lake.round()
    assert ended.result is not None
    [again] = ended.committable.write_results
    assert (len(again.data_files), again.record_count) == (3, 6)
    assert {row["id"] for row in lake.rows()} == set(range(6))
    assert lake.commit(record).snapshot_id == 1


def test_an_upsert_of_which_one_file_is_too_large_by_now_is_written_part_by_part(lake: Lake) -> None:
    sent: list[dict[str, object]] = [{"id": number} for number in range(5)]
    record = lake.accept(*sent, equality_field_ids=(1,))
    lake.tables.put(WITH_ANOTHER_SPEC)
    lake.files.upsert_rows = lake.written.batch_rows = 2
    ended = lake.round()
    assert ended.result is not None
    [again] = ended.committable.write_results
    assert (len(again.data_files), again.record_count) == (3, 5)
    assert [row["id"] for row in lake.rows()] == [0, 1, 2, 3, 4]
    assert lake.commit(record).snapshot_id == 1


def test_an_upsert_of_which_a_part_is_too_large_leaves_no_other(lake: Lake) -> None:
    target = WriteTarget(BEFORE.key, 0, 0, True, (1,), (1,), BEFORE.table_uuid)
    batches = [pa.RecordBatch.from_pylist([{"id": 1}]), pa.RecordBatch.from_pylist([{"id": 2}, {"id": 3}])]
    result = WriteResult.merged(target, [lake.files.write(BEFORE, target, [batch]) for batch in batches])
    record = lake.log.accept(ingest_of([result]), [result])
    before = dict(lake.files.files)
    lake.tables.put(WITH_ANOTHER_SPEC)
    lake.files.upsert_rows = 1
    assert lake.round().refusal is not None
    assert lake.commit(record).error_code == "TABLE_CHANGED"
    assert lake.files.files == before


def test_an_upsert_into_partitions_by_what_is_no_key_does_not_fit(lake: Lake) -> None:
    record = lake.accept({"id": 1, "note": "n"}, equality_field_ids=(1,))
    by_note = (PartitionField("note", "note", "identity"),)
    lake.tables.put(replace(WITH_ANOTHER_SPEC, partition_fields=by_note))
    assert lake.round().refusal is not None
    refused = lake.commit(record)
    assert refused.error_code == "TABLE_CHANGED"
    assert "partitioned by note" in (refused.error_detail or "")


def test_a_refusal_that_is_not_about_the_files_stays_one(lake: Lake) -> None:
    record = lake.accept({"id": 1})
    lake.commits.failures = [TableChanged("a tag"), TableChanged("a tag")]
    assert lake.round().refusal is not None
    assert lake.commit(record).error_detail == "a tag"


def test_whether_a_branch_is_a_tag_by_now_is_left_to_the_commit(lake: Lake) -> None:
    lake.tables.tag(BEFORE.key.table, "release")
    assert lake.rewriting.revisions(TableKey(BEFORE.key.table, "release"), []) == []


def test_a_table_that_changed_to_and_fro_takes_the_files(lake: Lake) -> None:
    lake.accept({"id": 1})
    lake.commits.failures = [TableChanged("other spec")]
    assert lake.round().result is not None


def test_a_table_that_changes_all_the_time_gets_the_round_later(lake: Lake) -> None:
    record = lake.accept({"id": 1})
    specs = iter(range(1, 100))

    def change(_: Committable) -> None:
        lake.tables.put(replace(BEFORE, spec_id=next(specs)))
        raise TableChanged("other spec")

    lake.commits.before_commit = change
    with pytest.raises(CatalogDown, match="all the time"):
        lake.round()
    assert next(specs) == ATTEMPTS_AT_MOST + 1
    lake.commits.before_commit = lambda _: None
    assert lake.round().result is not None
    assert [row["id"] for row in lake.rows()] == [1]
    found = lake.log.find(record.ingest_id)
    assert found is not None
    assert found.state is IngestState.COMMITTED


def test_a_storage_that_is_down_leaves_the_round_as_it_is(lake: Lake) -> None:
    lake.accept({"id": 1})
    lake.tables.put(WITH_ANOTHER_SPEC)
    lake.files.is_down = True
    with pytest.raises(StorageDown):
        lake.round()
    lake.files.is_down = False
    assert lake.round().result is not None
    assert lake.rows() == [{"id": 1}]


def test_an_ingest_whose_file_is_gone_is_refused_alone(lake: Lake) -> None:
    gone = lake.accept({"id": 1})
    lake.files.files.clear()
    lake.accept({"id": 2})
    lake.tables.put(WITH_ANOTHER_SPEC)
    assert lake.round().result is not None
    assert lake.rows() == [{"id": 2}]
    assert "gone" in (lake.commit(gone).error_detail or "")


def test_a_file_that_is_missed_once_is_looked_for_again(lake: Lake) -> None:
    clock = FakeClock()
    missing_tables = MissingTables(clock, 5 * 60_000)
    record, other = lake.accept({"id": 1}), lake.accept({"id": 2})
    lake.tables.put(WITH_ANOTHER_SPEC)
    hidden, lake.files.files = lake.files.files, {}
    with pytest.raises(StillMissed):
        commit_round(BEFORE.key, lake.log, lake.commits, 100, lake.rewriting, missing_tables)
    assert "gone. It is looked for again" in (lake.commit(record).error_detail or "")
    lake.files.files = hidden
    assert commit_round(BEFORE.key, lake.log, lake.commits, 100, lake.rewriting, missing_tables) is not None
    assert [lake.commit(record_).error_code for record_ in (record, other)] == [None, None]
    assert lake.rows() == [{"id": 1}, {"id": 2}]


def test_files_that_were_written_before_another_was_missed_are_deleted(lake: Lake) -> None:
    for number in range(2):
        lake.accept({"id": number})
    lake.tables.put(WITH_ANOTHER_SPEC)
    lake.files.files.popitem()
    before = dict(lake.files.files)
    with pytest.raises(StillMissed):
        commit_round(
            BEFORE.key, lake.log, lake.commits, 100, lake.rewriting, MissingTables(FakeClock(), 60_000)
        )
    assert lake.files.files == before


def test_a_file_that_the_commit_itself_misses_is_looked_for_again(lake: Lake) -> None:
    missing_tables = MissingTables(FakeClock(), 5 * 60_000)
    record = lake.accept({"id": 1}, equality_field_ids=(1,))
    lake.commits.failures = [WrittenFileMissing()]
    with pytest.raises(StillMissed):
        commit_round(BEFORE.key, lake.log, lake.commits, 100, lake.rewriting, missing_tables)
    assert lake.commit(record).error_code is None
    assert commit_round(BEFORE.key, lake.log, lake.commits, 100, lake.rewriting, missing_tables) is not None
    assert lake.commit(record).snapshot_id == 1


def test_files_stay_when_nobody_knows_which_of_them_the_table_has(lake: Lake) -> None:
    lake.accept({"id": 1})
    lake.tables.put(WITH_ANOTHER_SPEC)
    lake.log.has_marks = False
    with pytest.raises(MetricsStoreDown):
        lake.round()
    lake.log.has_marks = True
    # Both the old and the new file stay until it is certain that the new one is in the table.
    assert len(lake.files.files) == 2
    assert lake.round().result is not None
    assert len(lake.files.files) == 2
    assert lake.rows() == [{"id": 1}]


def test_revisions_are_in_the_log_only_if_no_other_replica_was_faster(lake: Lake) -> None:
    lake.accept({"id": 1})
    lake.tables.put(WITH_ANOTHER_SPEC)
    with lake.log.round(BEFORE.key, 100) as mine:
        assert mine is not None
        late = lake.rewriting.revisions(BEFORE.key, mine.parts)
        first = mine.revise(lake.rewriting.revisions(BEFORE.key, mine.parts), "TABLE_CHANGED")
        second = mine.revise(late, "TABLE_CHANGED")
    assert (len(first.taken), len(second.taken)) == (1, 0)
    assert second.pending is not None
    assert first.pending is not None
    assert second.pending.parts == first.pending.parts


def test_files_that_another_replica_was_faster_with_are_deleted(lake: Lake) -> None:
    lake.accept({"id": 1})
    lake.tables.put(WITH_ANOTHER_SPEC)
    with lake.log.round(BEFORE.key, 100) as other:
        assert other is not None
    [theirs] = lake.rewriting.revisions(BEFORE.key, other.parts)
    earlier_and_theirs = dict(lake.files.files)
    check = lake.commits.before_commit

    def revise_there(committable: Committable) -> None:
        other.revise([theirs], "TABLE_CHANGED")
        check(committable)

    lake.commits.before_commit = revise_there
    assert lake.round().committable.write_results == theirs.write_results
    assert lake.files.files == earlier_and_theirs


def test_an_ingest_without_files_gets_by_without_any(lake: Lake) -> None:
    target = WriteTarget(BEFORE.key, 0, 0, table_uuid=BEFORE.table_uuid)
    results = [WriteResult(target, (), (), 0, 0)]
    record = lake.log.accept(ingest_of(results), results)
    lake.tables.put(WITH_ANOTHER_SPEC)
    assert lake.round().result is not None
    assert lake.commit(record).snapshot_id == 1


def test_keys_that_are_only_deleted_are_deleted_by_the_new_files_too(lake: Lake) -> None:
    marked = all_deletes(pa.RecordBatch.from_pylist([{"id": 1}, {"id": 2}]))
    target = WriteTarget(BEFORE.key, 0, 0, True, (1,), (1,), BEFORE.table_uuid)
    gone = lake.files.write(BEFORE, target, [marked])
    record = lake.log.accept(ingest_of([gone]), [gone])
    # A column that deletes do not need.
    required = replace(NOTE, name="other", field_id=99, is_required=True)
    lake.tables.put(replace(BEFORE, spec_id=1, schema=TableSchema(1, (ID, NOTE, required))))
    lake.round()
    [result] = lake.commits.rounds[-1].write_results
    assert (result.data_files, len(result.delete_files), result.delete_count) == ((), 1, 2)
    assert (result.target.schema_id, result.target.spec_id) == (1, 1)
    assert lake.commit(record).targets[0].delete_count == 2


def test_an_ordered_upsert_stays_one_result_with_its_deletes(lake: Lake) -> None:
    """A late record is counted once for each result that has its key."""
    target = WriteTarget(BEFORE.key, 0, 0, True, (1,), (1, 2), BEFORE.table_uuid, order_field_id=2)
    rows = lake.files.write(BEFORE, target, [pa.RecordBatch.from_pylist([{"id": 1, "note": "n"}])])
    marked = all_deletes(pa.RecordBatch.from_pylist([{"id": 2, "note": "m"}]))
    gone = lake.files.write(BEFORE, target, [marked])
    sent = [WriteResult.merged(target, [rows, gone]), gone]
    lake.log.accept(ingest_of(sent), sent)
    lake.tables.put(WITH_ANOTHER_SPEC)
    lake.round()
    results = lake.commits.rounds[-1].write_results
    assert [(result.record_count, result.delete_count) for result in results] == [(1, 1), (0, 1)]
    assert {result.target.order_field_id for result in results} == {2}


def test_many_keys_are_deleted_by_several_files_and_counted_once(lake: Lake) -> None:
    marked = all_deletes(pa.RecordBatch.from_pylist([{"id": number} for number in range(5)]))
    target = WriteTarget(BEFORE.key, 0, 0, True, (1,), (1,), BEFORE.table_uuid)
    gone = lake.files.write(BEFORE, target, [marked])
    lake.log.accept(ingest_of([gone]), [gone])
    lake.files.upsert_rows = lake.written.batch_rows = 2
    lake.tables.put(WITH_ANOTHER_SPEC)
    lake.round()
    [result] = lake.commits.rounds[-1].write_results
    assert (len(result.delete_files), result.delete_count) == (3, 5)


def test_deletes_are_refused_where_their_keys_lack_a_partition(lake: Lake) -> None:
    marked = all_deletes(pa.RecordBatch.from_pylist([{"id": 1}]))
    target = WriteTarget(BEFORE.key, 0, 0, True, (1,), (1,), BEFORE.table_uuid)
    gone = lake.files.write(BEFORE, target, [marked])
    record = lake.log.accept(ingest_of([gone]), [gone])
    by_note = (PartitionField("note", "note", "identity"),)
    lake.tables.put(replace(BEFORE, spec_id=1, partition_fields=by_note))
    lake.round()
    commit = lake.commit(record)
    assert commit.error_code == "TABLE_CHANGED"
    assert "partitioned by note" in (commit.error_detail or "")
