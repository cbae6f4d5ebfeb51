"""One round: the waiting ingests become one snapshot, or are refused."""

from __future__ import annotations

import pytest

from service.errors.ingest_errors import CommittableUnreadable
from service.errors.table_errors import TableChanged, TableNotFound
from service.errors.unavailable import CatalogDown, MetricsStoreDown
from service.ingest.committing.commit_round import Refusal, commit_round
from service.model.ingest.ingest import IngestState
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.ingests import LOGS, ORDERS, ingest_of, write_result
from tests.fakes.table_commits import FakeTableCommits


def test_all_that_waits_becomes_one_snapshot_whatever_the_write_schemas() -> None:
    log, commits = FakeIngestLog(), FakeTableCommits()
    records = []
    for number in range(5):
        results = [write_result(column_ids=(number,)), write_result(column_ids=(number, 9))]
        records.append(log.accept(ingest_of(results), results))
    ended = commit_round(LOGS, log, commits, 100)
    assert ended is not None
    assert ended.committable.ingest_ids == tuple(record.ingest_id for record in records)
    assert (ended.refusal, ended.is_alike) == (None, True)
    assert len(commits.rounds) == 1
    found = [log.find(record.ingest_id) for record in records]
    assert [record and (record.state, record.commits[0].snapshot_id) for record in found] == [
        (IngestState.COMMITTED, 1)
    ] * 5


def test_nothing_waits() -> None:
    assert commit_round(LOGS, FakeIngestLog(), FakeTableCommits(), 100) is None


@pytest.mark.parametrize(
    "refusal", [TableChanged("other spec"), TableNotFound("lake.game.logs"), CommittableUnreadable()]
)
def test_what_a_table_refuses_is_reported_with_its_code(refusal: Refusal) -> None:
    log, commits = FakeIngestLog(), FakeTableCommits()
    results = [write_result(), write_result(ORDERS)]
    record = log.accept(ingest_of(results), results)
    commits.failures = [refusal]
    ended = commit_round(LOGS, log, commits, 100)
    assert ended is not None
    assert ended.refusal is refusal
    found = log.find(record.ingest_id)
    assert found is not None
    first, second = found.commits
    assert (first.error_code, first.error_detail) == (refusal.code, refusal.detail)
    assert (second.error_code, found.state) == (None, IngestState.FAILED)
    assert commit_round(LOGS, log, commits, 100) is None


def test_an_ingest_whose_files_cannot_be_described_does_not_keep_the_others_of_its_round() -> None:
    log, commits = FakeIngestLog(), FakeTableCommits()
    all_results = [[write_result()] for _ in range(3)]
    records = [log.accept(ingest_of(results), results) for results in all_results]
    poison = CommittableUnreadable(data_files=all_results[1][0].data_files)
    commits.failures = [poison]
    ended = commit_round(LOGS, log, commits, 100)
    assert ended is not None
    assert (ended.refusal, ended.is_alike) == (None, False)
    assert set(ended.ingest_ids) == {record.ingest_id for record in records}
    found = [log.find(record.ingest_id) for record in records]
    assert [record and record.commits[0].error_code for record in found] == [None, poison.code, None]
    assert [record and record.state for record in found] == [
        IngestState.COMMITTED,
        IngestState.FAILED,
        IngestState.COMMITTED,
    ]
    assert commits.files(LOGS) == [*all_results[0][0].data_files, *all_results[2][0].data_files]


def test_a_catalog_that_is_down_leaves_the_round_as_it_is() -> None:
    log, commits = FakeIngestLog(), FakeTableCommits()
    first = [write_result()]
    log.accept(ingest_of(first), first)
    commits.failures = [CatalogDown()]
    with pytest.raises(CatalogDown):
        commit_round(LOGS, log, commits, 100)
    later = [write_result()]
    log.accept(ingest_of(later), later)
    again = commit_round(LOGS, log, commits, 100)
    assert again is not None
    assert again.committable.write_results == tuple(first)
    assert commits.files(LOGS) == list(first[0].data_files)


def test_a_crash_between_the_commit_and_its_mark_commits_nothing_twice() -> None:
    log, commits = FakeIngestLog(), FakeTableCommits()
    results = [write_result(files=2)]
    record = log.accept(ingest_of(results), results)
    log.has_marks = False
    with pytest.raises(MetricsStoreDown):
        commit_round(LOGS, log, commits, 100)
    log.has_marks = True
    ended = commit_round(LOGS, log, commits, 100)
    assert ended is not None
    assert ended.result is not None
    assert ended.result.is_repeated
    assert commits.files(LOGS) == list(results[0].data_files)
    found = log.find(record.ingest_id)
    assert found is not None
    assert found.state is IngestState.COMMITTED
