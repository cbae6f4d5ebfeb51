"""Accepted ingests are committed exactly once, on a real PostgreSQL and to real tables."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.ingest.committing.commit_round import commit_round
from service.model.ingest.ingest import IngestRecord, IngestState
from service.model.ingest.writing import CommitResult, Committable
from service.ports.tables.table_changes import always_open
from tests.contract.catalogs.conftest import Postgres
from tests.integration.ingest.crash import MANIFESTS_ARE_WRITTEN, MOMENTS, SNAPSHOT_IS_COMMITTED
from tests.integration.ingest.lakehouse import WITHIN_S, IngestLakehouse, data_files

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[3]


def test_many_ingests_at_once_are_committed_once_in_fewer_snapshots(lakehouse: IngestLakehouse) -> None:
    committer = lakehouse.start_committer()

    def ingest(number: int) -> IngestRecord:
        record = lakehouse.accept([number])
        committer.follow(record).result(WITHIN_S)
        return record

    with ThreadPoolExecutor(8) as clients:
        records = list(clients.map(ingest, range(40)))
    assert lakehouse.ids() == list(range(40))
    assert lakehouse.states(records) == {IngestState.COMMITTED}
    snapshots = {lakehouse.record(record).commits[0].snapshot_id for record in records}
    assert len(snapshots) == lakehouse.snapshot_count() < 40


def test_two_replicas_on_one_log_commit_everything_once(lakehouse: IngestLakehouse) -> None:
    replicas = [lakehouse.start_committer() for _ in range(2)]

    def ingest(number: int) -> None:
        replicas[number % 2].follow(lakehouse.accept([number])).result(WITHIN_S)

    with ThreadPoolExecutor(8) as clients:
        list(clients.map(ingest, range(30)))
    assert lakehouse.ids() == list(range(30))


def test_what_was_accepted_before_a_crash_is_committed_by_the_next_start(lakehouse: IngestLakehouse) -> None:
    records = [lakehouse.accept([number]) for number in range(5)]
    lakehouse.commit_all(*records)
    assert lakehouse.ids() == list(range(5))
    assert lakehouse.snapshot_count() == 1


@pytest.mark.parametrize("moment", list(MOMENTS))
def test_a_process_that_is_killed_loses_nothing_and_repeats_nothing(
    lakehouse: IngestLakehouse, moment: str
) -> None:
    before = [lakehouse.accept([number]) for number in range(3)]
    kill_in_a_process_of_its_own(lakehouse, moment)
    assert lakehouse.states(before) == {IngestState.ACCEPTED}
    assert lakehouse.ids() == (list(range(3)) if moment == SNAPSHOT_IS_COMMITTED else [])
    after = lakehouse.accept([3])
    lakehouse.commit_all(*before, after)
    assert lakehouse.ids() == list(range(4))
    assert lakehouse.states([*before, after]) == {IngestState.COMMITTED}
    # The round is the one from before the crash, so later ingests are in the next round.
    assert lakehouse.snapshot_count() == 2
    assert len(data_files(lakehouse.table())) == 4


def test_being_killed_again_and_again_changes_nothing(lakehouse: IngestLakehouse) -> None:
    for number, moment in enumerate((MANIFESTS_ARE_WRITTEN, SNAPSHOT_IS_COMMITTED, SNAPSHOT_IS_COMMITTED)):
        lakehouse.accept([number])
        kill_in_a_process_of_its_own(lakehouse, moment)
    last = lakehouse.accept([3])
    lakehouse.commit_all(last)
    assert lakehouse.ids() == list(range(4))


def kill_in_a_process_of_its_own(lakehouse: IngestLakehouse, moment: str) -> None:
    arguments = (
        lakehouse.log_url,
        lakehouse.properties["uri"],
        lakehouse.properties["warehouse"],
        lakehouse.key.table.table,
        moment,
    )
    command = [sys.executable, "-m", "tests.integration.ingest.crash", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


class LosesItsLock(PyIcebergTableCommits):
    """Another replica does the whole round just before this one publishes it."""

    lakehouse: IngestLakehouse
    others_round: object = None

    def _publish(self, append: SnapshotAppend) -> None:
        if self.others_round is None:
            end_who_has_locks(self.lakehouse)
            log, commits = self.lakehouse.new_log(), self.lakehouse.new_commits()
            self.others_round = commit_round(self.lakehouse.key, log, commits, 1_000)
        super()._publish(append)


def test_a_replica_that_lost_its_lock_without_noticing_commits_nothing_twice(
    lakehouse: IngestLakehouse,
) -> None:
    records = [lakehouse.accept([number]) for number in range(3)]
    commits = lakehouse.new_commits(LosesItsLock)
    assert isinstance(commits, LosesItsLock)
    commits.lakehouse = lakehouse
    committer = lakehouse.start_committer(commits=commits)
    for record in records:
        committer.follow(record).result(WITHIN_S)
    assert commits.others_round is not None
    assert lakehouse.ids() == [0, 1, 2]
    assert lakehouse.snapshot_count() == 1
    assert lakehouse.states(records) == {IngestState.COMMITTED}


class StandsStill(PyIcebergTableCommits):
    """Before it reads the table, others commit its round and another, and expire the first one's snapshot."""

    lakehouse: IngestLakehouse
    others: IngestRecord | None = None

    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        if self.others is None:
            end_who_has_locks(self.lakehouse)
            key, log, commits = self.lakehouse.key, self.lakehouse.new_log(), self.lakehouse.new_commits()
            first = commit_round(key, log, commits, 1_000)
            assert first is not None
            assert first.result is not None
            self.others = self.lakehouse.accept([2])
            assert commit_round(key, log, commits, 1_000) is not None
            expiry = self.lakehouse.table().maintenance.expire_snapshots()
            expiry.by_id(first.result.snapshot_id).commit()
        return super().commit(committable, is_open)


def test_a_replica_that_stood_still_for_very_long_commits_nothing_twice(lakehouse: IngestLakehouse) -> None:
    record = lakehouse.accept([1])
    commits = lakehouse.new_commits(StandsStill)
    assert isinstance(commits, StandsStill)
    commits.lakehouse = lakehouse
    lakehouse.start_committer(commits=commits).follow(record).result(WITHIN_S)
    assert commits.others is not None
    assert lakehouse.ids() == [1, 2]
    assert lakehouse.snapshot_count() == 1
    assert lakehouse.states([record, commits.others]) == {IngestState.COMMITTED}


def test_another_writer_in_between_is_no_trouble(lakehouse: IngestLakehouse) -> None:
    committer = lakehouse.start_committer()
    empty = lakehouse.table().scan().to_arrow()

    def append_nothing() -> None:
        for _ in range(5):
            lakehouse.table().append(empty)

    with ThreadPoolExecutor(1) as another:
        theirs = another.submit(append_nothing)
        records = [lakehouse.accept([number]) for number in range(10)]
        for record in records:
            committer.follow(record).result(WITHIN_S)
        theirs.result(WITHIN_S)
    assert lakehouse.ids() == list(range(10))


def test_a_table_that_is_gone_refuses_what_was_written_for_it(lakehouse: IngestLakehouse) -> None:
    record = lakehouse.accept([1])
    lakehouse.table().catalog.drop_table(("game", lakehouse.key.table.table))
    lakehouse.commit_all(record)
    assert lakehouse.record(record).commits[0].error_code == "TABLE_NOT_FOUND"


class StopsTheServer(PyIcebergTableCommits):
    """PostgreSQL, with log and catalog, stops right after the first snapshot is made."""

    server: Postgres
    stopped: threading.Event

    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        result = super().commit(committable, is_open)
        if not self.stopped.is_set():
            self.server.stop()
            self.stopped.set()
        return result


def test_a_postgres_that_stops_and_starts_loses_nothing(lakehouse: IngestLakehouse, server: Postgres) -> None:
    commits = lakehouse.new_commits(StopsTheServer)
    assert isinstance(commits, StopsTheServer)
    commits.server, commits.stopped = server, threading.Event()
    records = [lakehouse.accept([number]) for number in range(3)]
    committer = lakehouse.start_committer(commits=commits)
    futures = [committer.follow(record) for record in records]
    assert commits.stopped.wait(WITHIN_S)
    server.start()
    for future in futures:
        future.result(WITHIN_S)
    later = lakehouse.accept([3])
    committer.follow(later).result(WITHIN_S)
    assert lakehouse.ids() == [0, 1, 2, 3]
    assert lakehouse.states([*records, later]) == {IngestState.COMMITTED}


def end_who_has_locks(lakehouse: IngestLakehouse) -> None:
    with psycopg.connect(lakehouse.log_url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 20000) FROM pg_locks WHERE locktype = 'advisory'"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
