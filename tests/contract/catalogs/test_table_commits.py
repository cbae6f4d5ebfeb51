"""The contract of commits to tables, checked on the fake, a SQL catalog and a REST catalog."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, LongType, StringType

from service.adapters.commits.committed_rounds import ROUND
from service.errors.gateway_error import PartDown
from service.errors.ingest_errors import CommittableUnreadable
from service.errors.table_errors import TableChanged, TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.ingest.writing import TableKey, WriteResult
from service.model.tables.tables import TableName
from service.ports.tables.table_changes import RoundEnded
from tests.contract.catalogs.ahead import ALLOWED_MS, commit_ahead, goes_back_ms
from tests.contract.catalogs.commit_tables import (
    CommitTables,
    FakeCommitTables,
    PyIcebergCommitTables,
    committable_of,
)
from tests.contract.catalogs.plain_data_files import SCHEMA, written

REAL = [
    pytest.param("sql", marks=pytest.mark.integration),
    pytest.param("rest", marks=pytest.mark.integration),
]


@pytest.fixture(params=["fake", *REAL])
def tables(request: pytest.FixtureRequest) -> CommitTables:
    if request.param == "fake":
        return FakeCommitTables()
    return PyIcebergCommitTables(request.getfixturevalue(f"{request.param}_lakehouse"))


@pytest.fixture(params=REAL)
def real(request: pytest.FixtureRequest) -> PyIcebergCommitTables:
    return PyIcebergCommitTables(request.getfixturevalue(f"{request.param}_lakehouse"))


@pytest.fixture
def sql(request: pytest.FixtureRequest) -> PyIcebergCommitTables:
    """The SQL catalog alone, for tests where the kind of catalog does not matter."""
    return PyIcebergCommitTables(request.getfixturevalue("sql_lakehouse"))


def test_all_files_of_a_round_are_one_snapshot(tables: CommitTables) -> None:
    committable = tables.committable([1, 2], [3], [4, 5, 6])
    result = tables.commits.commit(committable)
    assert tables.snapshot_ids() == [result.snapshot_id]
    assert tables.ids() == [1, 2, 3, 4, 5, 6]
    assert (result.added_data_files, result.added_records, result.is_repeated) == (3, 6, False)
    assert result.added_bytes == sum(result.byte_count for result in committable.write_results)
    assert result.key == committable.key


def test_a_round_that_is_in_the_table_is_not_added_again(tables: CommitTables) -> None:
    committable = tables.committable([1], [2])
    first = tables.commits.commit(committable)
    tables.commits.commit(tables.committable([3]))
    assert tables.commits.commit(committable) == replace(first, is_repeated=True)
    assert tables.ids() == [1, 2, 3]


def test_every_round_is_a_snapshot_of_its_own(tables: CommitTables) -> None:
    results = [tables.commits.commit(tables.committable([number])) for number in range(3)]
    assert [result.snapshot_id for result in results] == tables.snapshot_ids()
    assert tables.ids() == [0, 1, 2]


def test_a_round_without_files_is_a_snapshot_too(tables: CommitTables) -> None:
    result = tables.commits.commit(tables.committable())
    assert tables.snapshot_ids() == [result.snapshot_id]
    assert tables.ids() == []


def test_a_commit_comes_after_one_of_a_machine_whose_clock_is_ahead(sql: PyIcebergCommitTables) -> None:
    # Only the SQL catalog is tested, as Java's REST server rejects a commit dated ahead.
    sql.commits.commit(sql.committable([1]))
    ahead_ms = commit_ahead(sql.table())
    sql.commits.commit(sql.committable([2]))
    sql.commits.commit(sql.committable([3]))
    metadata = sql.table().metadata
    assert [entry.timestamp_ms for entry in metadata.snapshot_log][-2:] == [ahead_ms + 1, ahead_ms + 2]
    assert goes_back_ms(metadata) <= ALLOWED_MS


def test_a_snapshot_names_its_round(real: PyIcebergCommitTables) -> None:
    committable = real.committable([1])
    real.commits.commit(committable)
    snapshot = real.table().current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    assert snapshot.summary[ROUND] == str(committable.round_id)
    assert real.table().properties["sluice.last-commit-round.main"] == str(committable.round_id)


def test_the_last_round_is_known_after_its_snapshot_has_expired(real: PyIcebergCommitTables) -> None:
    committable = real.committable([1])
    first = real.commits.commit(committable)
    table = real.table()
    table.append(table.scan().to_arrow().slice(0, 0))
    table.maintenance.expire_snapshots().by_id(first.snapshot_id).commit()
    assert first.snapshot_id not in real.snapshot_ids()
    assert real.commits.commit(committable) == replace(first, is_repeated=True)
    assert real.ids() == [1]


def test_a_round_that_was_rolled_back_does_not_come_again(sql: PyIcebergCommitTables) -> None:
    first = sql.commits.commit(sql.committable([1]))
    committable = sql.committable([2])
    second = sql.commits.commit(committable)
    sql.table().manage_snapshots().rollback_to_snapshot(first.snapshot_id).commit()
    assert sql.commits.commit(committable).snapshot_id == second.snapshot_id
    assert sql.ids() == [1]


def test_a_missing_branch_begins_with_what_main_has(real: PyIcebergCommitTables) -> None:
    real.commits.commit(real.committable([1]))
    result = real.commits.commit(real.committable_for(real.target("audit"), [2]))
    real.commits.commit(real.committable_for(real.target("audit"), [3]))
    real.commits.commit(real.committable([4]))
    assert (real.ids("audit"), real.ids()) == ([1, 2, 3], [1, 4])
    assert result.key.branch == "audit"


def test_a_missing_branch_of_an_empty_table_is_made_and_main_stays_empty(real: PyIcebergCommitTables) -> None:
    real.commits.commit(real.committable_for(real.target("audit"), [1]))
    assert real.ids("audit") == [1]
    assert real.table().current_snapshot() is None


def test_a_branch_that_another_makes_at_the_same_time_is_not_lost(real: PyIcebergCommitTables) -> None:
    others = real.new_commits()
    theirs = real.committable_for(real.target("audit"), [1])
    real.commits.before = lambda: others.commit(theirs)
    real.commits.commit(real.committable_for(real.target("audit"), [2]))
    assert real.ids("audit") == [1, 2]


def test_how_long_a_branch_is_retained_stays_as_it_is(sql: PyIcebergCommitTables) -> None:
    first = sql.commits.commit(sql.committable([1]))
    table = sql.table()
    table.manage_snapshots().create_branch(first.snapshot_id, "audit", 1_000_000, 2_000_000, 3).commit()
    sql.commits.commit(sql.committable_for(sql.target("audit"), [2]))
    ref = sql.table().refs()["audit"]
    assert (ref.max_ref_age_ms, ref.max_snapshot_age_ms, ref.min_snapshots_to_keep) == (
        1_000_000,
        2_000_000,
        3,
    )


def test_a_tag_is_no_branch(sql: PyIcebergCommitTables) -> None:
    first = sql.commits.commit(sql.committable([1]))
    sql.table().manage_snapshots().create_tag(first.snapshot_id, "release").commit()
    with pytest.raises(
        TableChanged, match=r"release is a tag, not a branch\. Send only the records for it again"
    ):
        sql.commits.commit(sql.committable_for(sql.target("release"), [2]))


def test_what_another_commits_in_between_stays(real: PyIcebergCommitTables) -> None:
    others = real.new_commits()
    theirs = real.committable([1])
    real.commits.before = lambda: others.commit(theirs)
    result = real.commits.commit(real.committable([2]))
    assert real.ids() == [1, 2]
    assert not result.is_repeated


def test_one_round_committed_twice_at_once_is_one_snapshot(real: PyIcebergCommitTables) -> None:
    others = real.new_commits()
    committable = real.committable([1], [2])
    real.commits.before = lambda: others.commit(committable)
    result = real.commits.commit(committable)
    assert result.is_repeated
    assert real.snapshot_ids() == [result.snapshot_id]
    assert real.ids() == [1, 2]


def test_many_who_commit_the_same_rounds_at_once_make_each_once(sql: PyIcebergCommitTables) -> None:
    count = 4
    committables = [sql.committable([number]) for number in range(3)]
    together = Barrier(count, timeout=60)

    def commit_all(_: int) -> None:
        commits = sql.new_commits()
        for committable in committables:
            together.wait()
            commits.commit(committable)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(commit_all, range(count)))
    assert len(sql.snapshot_ids()) == 3
    assert sql.ids() == [0, 1, 2]


def test_a_commit_of_which_nobody_knows_whether_it_was_made_is_not_made_again(
    real: PyIcebergCommitTables,
) -> None:
    def lose_the_answer() -> None:
        raise OSError("connection reset")

    committable = real.committable([1])
    real.commits.after = lose_the_answer
    with pytest.raises(CatalogDown):
        real.commits.commit(committable)
    assert real.new_commits().commit(committable).is_repeated
    assert real.ids() == [1]


def test_a_conflict_leaves_no_manifest_behind(sql: PyIcebergCommitTables) -> None:
    others = sql.new_commits()
    theirs = sql.committable([1])
    sql.commits.before = lambda: others.commit(theirs)
    sql.commits.commit(sql.committable([2]))
    table = sql.table()
    needed = {snapshot.manifest_list for snapshot in table.metadata.snapshots}
    needed |= {
        manifest.manifest_path
        for snapshot in table.metadata.snapshots
        for manifest in snapshot.manifests(table.io)
    }
    assert {path.name for path in metadata_folder(table).glob("*.avro")} == {
        Path(location).name for location in needed
    }


def test_others_who_commit_all_the_time_are_reported_as_a_catalog_that_is_down(
    sql: PyIcebergCommitTables,
) -> None:
    commits, others = sql.new_commits(conflicts_within_s=0.3), sql.new_commits()

    def in_between() -> None:
        others.commit(sql.committable([1]))
        commits.before = in_between

    commits.before = in_between
    with pytest.raises(CatalogDown, match="all the time"):
        commits.commit(sql.committable([2]))
    assert 2 not in sql.ids()


def partition_by_day(table: Table) -> None:
    with table.update_spec() as spec:
        spec.add_field("day", IdentityTransform(), "day_part")


def test_files_of_an_old_partition_spec_are_refused(real: PyIcebergCommitTables) -> None:
    committable = real.committable([1])
    partition_by_day(real.table())
    with pytest.raises(TableChanged, match="partition spec"):
        real.commits.commit(committable)
    assert real.snapshot_ids() == []
    real.commits.commit(real.committable([2]))
    assert real.ids() == [2]


def test_a_partition_spec_that_changes_in_the_middle_refuses_the_files(real: PyIcebergCommitTables) -> None:
    committable = real.committable([1])
    real.commits.before = lambda: partition_by_day(real.table())
    with pytest.raises(TableChanged, match="partition spec"):
        real.commits.commit(committable)
    assert real.snapshot_ids() == []


def drop_day(table: Table) -> None:
    with table.update_schema() as schema:
        schema.delete_column("day")


def test_files_with_a_column_that_is_gone_are_refused(real: PyIcebergCommitTables) -> None:
    without, whole = real.target(column_ids=(1,)), real.target(column_ids=None)
    committables = [real.committable_for(target, [1]) for target in (real.target(), whole)]
    drop_day(real.table())
    for committable in committables:
        with pytest.raises(TableChanged, match="column day is gone"):
            real.commits.commit(committable)
    real.commits.commit(real.committable_for(without, [2]))
    assert real.ids() == [2]


def test_a_column_that_goes_in_the_middle_refuses_the_files(real: PyIcebergCommitTables) -> None:
    committable = real.committable([1])
    real.commits.before = lambda: drop_day(real.table())
    with pytest.raises(TableChanged, match="column day is gone"):
        real.commits.commit(committable)
    assert real.snapshot_ids() == []


def widen(table: Table) -> None:
    with table.update_schema() as schema:
        schema.update_column("day", LongType())


def rename(table: Table) -> None:
    with table.update_schema() as schema:
        schema.rename_column("day", "date_key")


def add(table: Table) -> None:
    with table.update_schema() as schema:
        schema.add_column("level", IntegerType())


@pytest.mark.parametrize("evolve", [widen, rename, add])
def test_files_that_the_table_can_still_read_are_committed(
    sql: PyIcebergCommitTables, evolve: Callable[[Table], None]
) -> None:
    committable = sql.committable([1])
    sql.commits.before = lambda: evolve(sql.table())
    sql.commits.commit(committable)
    assert sql.ids() == [1]


def exchange(table: Table) -> None:
    with table.update_schema(allow_incompatible_changes=True) as schema:
        schema.delete_column("day")
    with table.update_schema(allow_incompatible_changes=True) as schema:
        schema.add_column("day", StringType())


def require_day(table: Table) -> None:
    with table.update_schema(allow_incompatible_changes=True) as schema:
        schema.update_column("day", required=True)


def add_required(table: Table) -> None:
    with table.update_schema(allow_incompatible_changes=True) as schema:
        schema.add_column("level", IntegerType(), required=True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [(exchange, "day is gone"), (require_day, "day is required"), (add_required, "level is required")],
)
def test_files_that_would_not_read_as_they_were_written_are_refused(
    sql: PyIcebergCommitTables, change: Callable[[Table], None], reason: str
) -> None:
    committable = sql.committable([1])
    change(sql.table())
    with pytest.raises(TableChanged, match=reason):
        sql.commits.commit(committable)


def test_another_table_of_the_same_name_gets_no_files_of_the_first(real: PyIcebergCommitTables) -> None:
    committable = real.committable([1])
    identifier = ("game", real.key.table.table)
    schema = real.table().schema()
    real.outside.drop_table(identifier)
    with pytest.raises(TableNotFound):
        real.commits.commit(committable)
    real.outside.create_table(identifier, schema)
    with pytest.raises(TableChanged, match="another table of the same name"):
        real.commits.commit(committable)


def test_a_catalog_that_is_down_is_reported_and_the_round_comes_later(real: PyIcebergCommitTables) -> None:
    committable = real.committable([1])
    real.lakehouse.stop()
    try:
        with pytest.raises(CatalogDown):
            real.commits.commit(committable)
    finally:
        real.lakehouse.start()
    real.commits.commit(committable)
    assert real.ids() == [1]


def test_a_catalog_that_is_not_configured_any_more_is_down(sql: PyIcebergCommitTables) -> None:
    key = TableKey(TableName("elsewhere", "game", "logs"))
    with pytest.raises(CatalogDown, match="no catalog elsewhere"):
        sql.commits.commit(committable_of(key, []))


def test_a_file_that_cannot_be_understood_is_refused(sql: PyIcebergCommitTables) -> None:
    target = sql.target()
    rubbish = WriteResult(target, ("{}",), (), 1, 1)
    with pytest.raises(CommittableUnreadable):
        sql.commits.commit(committable_of(target.key, [rubbish]))


@pytest.mark.parametrize("partition", ["2000000000000", '"one"', "{}"])
def test_files_that_no_manifest_can_describe_are_named_and_leave_nothing_behind(
    sql: PyIcebergCommitTables, partition: str
) -> None:
    partition_by_day(sql.table())
    table, target = sql.table(), sql.target()
    good, bad = written(table, target, [1], 1), written(table, target, [2], 2)
    [text] = bad.data_files
    wrong = text.replace('"partition": [2]', f'"partition": [{partition}]')
    with pytest.raises(CommittableUnreadable) as refused:
        sql.commits.commit(committable_of(target.key, [good, replace(bad, data_files=(wrong,))]))
    assert refused.value.data_files == {wrong}
    assert not list(metadata_folder(table).glob("*.avro"))
    sql.commits.commit(committable_of(target.key, [good]))
    assert sql.ids() == [1]


def test_a_table_that_is_at_fault_itself_is_no_catalog_that_is_down(sql: PyIcebergCommitTables) -> None:
    committable = sql.committable([1])
    limit = "write.summary.partition-limit"
    with sql.table().transaction() as transaction:
        transaction.set_properties({limit: "abc"})
    with pytest.raises(PartDown, match=r"cannot be committed to as it is: .*abc") as reported:
        sql.commits.commit(committable)
    assert not isinstance(reported.value, CatalogDown)
    assert not list(metadata_folder(sql.table()).glob("*.avro"))
    with sql.table().transaction() as transaction:
        transaction.remove_properties(limit)
    sql.commits.commit(committable)
    assert sql.ids() == [1]


def test_a_commit_that_the_catalog_finds_invalid_does_not_make_it_down(sql: PyIcebergCommitTables) -> None:
    committable = sql.committable([1])
    versions = "write.metadata.previous-versions-max"
    sql.outside.drop_table(sql.identifier)
    sql.outside.create_table(sql.identifier, SCHEMA, properties={versions: "abc"})
    with pytest.raises(PartDown, match=r"cannot be committed to as it is: .*abc") as reported:
        sql.commits.commit(sql.committable([2]))
    assert not isinstance(reported.value, CatalogDown)
    with pytest.raises(TableChanged):
        sql.commits.commit(committable)


def test_a_commit_to_another_branch_in_between_is_a_conflict_and_no_more(real: PyIcebergCommitTables) -> None:
    others = real.new_commits()
    real.commits.commit(real.committable([1]))
    real.commits.commit(real.committable_for(real.target("audit"), [2]))
    theirs = real.committable_for(real.target("audit"), [3])
    real.commits.before = lambda: others.commit(theirs)
    result = real.commits.commit(real.committable([4]))
    assert (real.ids(), real.ids("audit")) == ([1, 4], [1, 2, 3])
    assert not result.is_repeated


def test_a_round_that_waits_no_more_is_not_committed(tables: CommitTables) -> None:
    with pytest.raises(RoundEnded):
        tables.commits.commit(tables.committable([1]), lambda: False)
    assert tables.snapshot_ids() == []


def test_a_round_that_waits_no_more_after_a_conflict_leaves_nothing_behind(
    real: PyIcebergCommitTables,
) -> None:
    others = real.new_commits()
    theirs = real.committable([1])
    real.commits.before = lambda: others.commit(theirs)
    answers = iter([True, False])
    with pytest.raises(RoundEnded):
        real.commits.commit(real.committable([2]), lambda: next(answers))
    assert real.ids() == [1]


def test_delete_files_are_never_left_out_silently(sql: PyIcebergCommitTables) -> None:
    target = sql.target()
    upsert = replace(written(sql.table(), target, [1]), delete_files=("{}",))
    with pytest.raises(ValueError, match="delete files"):
        sql.commits.commit(committable_of(target.key, [upsert]))


def test_partitioned_files_are_found_by_their_partition(sql: PyIcebergCommitTables) -> None:
    partition_by_day(sql.table())
    table, target = sql.table(), sql.target()
    results = [written(table, target, [day], day) for day in range(3)]
    sql.commits.commit(committable_of(target.key, results))
    found = sql.table().scan(row_filter="day = 2").plan_files()
    assert [json_path(result) for result in results[2:]] == [task.file.file_path for task in found]


def metadata_folder(table: Table) -> Path:
    return Path(table.location().removeprefix("file://")) / "metadata"


def json_path(result: WriteResult) -> str:
    [text] = result.data_files
    return text.partition('"file-path": "')[2].partition('"')[0]
