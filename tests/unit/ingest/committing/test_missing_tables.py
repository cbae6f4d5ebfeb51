"""A missing table may come back, so it is looked up for a while before its ingests fail."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.ingest.committing.commit_round import CommitRound, StillMissed, commit_round
from service.ingest.committing.missing_tables import MissingTables
from service.model.ingest.ingest import IngestCommit, IngestRecord
from tests.fakes.clock import FakeClock
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.ingests import LOGS, ORDERS, ingest_of, write_result
from tests.fakes.table_commits import FakeTableCommits

MINUTE = timedelta(minutes=1)
ROUND, NEXT_ROUND = UUID(int=1), UUID(int=2)


class Place:
    def __init__(self) -> None:
        self.clock, self.log, self.commits = FakeClock(), FakeIngestLog(), FakeTableCommits()
        self.missing_tables = MissingTables(self.clock, 5 * 60_000)

    def accept(self) -> IngestRecord:
        results = [write_result()]
        return self.log.accept(ingest_of(results), results)

    def round(self, failure: Exception | None = None) -> CommitRound | None:
        self.commits.failures = [failure]
        return commit_round(LOGS, self.log, self.commits, 100, missing_tables=self.missing_tables)

    def missed(self) -> None:
        with pytest.raises(StillMissed):
            self.round(TableNotFound(str(LOGS.table)))

    def commit(self, record: IngestRecord) -> IngestCommit:
        found = self.log.find(record.ingest_id)
        assert found is not None
        return found.commits[0]


@pytest.fixture
def place() -> Place:
    return Place()


def test_what_is_missed_for_minutes_and_looked_for_again_and_again_is_gone() -> None:
    clock = FakeClock()
    missing_tables = MissingTables(clock, 5 * 60_000)
    looks = []
    for _ in range(6):
        looks.append(missing_tables.is_final(LOGS, ROUND))
        clock.advance(MINUTE)
    assert looks == [False] * 5 + [True]
    assert not missing_tables.is_final(ORDERS, ROUND)


def test_what_was_not_looked_for_meanwhile_is_not_gone() -> None:
    clock = FakeClock()
    missing_tables = MissingTables(clock, 5 * 60_000)
    assert not missing_tables.is_final(LOGS, ROUND)
    clock.advance(60 * MINUTE)
    assert [missing_tables.is_final(LOGS, ROUND) for _ in range(2)] == [False, True]


def test_of_another_round_it_is_missed_again() -> None:
    clock = FakeClock()
    missing_tables = MissingTables(clock, 5 * 60_000)
    for _ in range(5):
        assert not missing_tables.is_final(LOGS, ROUND)
        clock.advance(MINUTE)
    assert not missing_tables.is_final(LOGS, NEXT_ROUND)
    assert not missing_tables.is_final(LOGS, ROUND)


def test_a_table_that_is_missed_once_gets_what_was_accepted_for_it(place: Place) -> None:
    record = place.accept()
    place.missed()
    reported = place.commit(record)
    assert (reported.error_code, reported.snapshot_id) == (None, None)
    assert "no table lake.game.logs. It is looked for again" in (reported.error_detail or "")
    place.clock.advance(60 * MINUTE)
    assert place.round() is not None
    reported = place.commit(record)
    assert (reported.error_code, reported.error_detail, reported.snapshot_id) == (None, None, 1)


def test_a_table_that_stays_away_ends_its_ingests(place: Place) -> None:
    record = place.accept()
    for _ in range(5):
        place.missed()
        place.clock.advance(MINUTE)
    ended = place.round(TableNotFound(str(LOGS.table)))
    assert ended is not None
    assert place.commit(record).error_code == "TABLE_NOT_FOUND"
    # An ingest that is accepted later waits as long before it fails.
    place.accept()
    place.missed()


def test_a_catalog_that_is_down_in_between_says_nothing_of_its_tables(place: Place) -> None:
    place.accept()
    for _ in range(4):
        place.missed()
        place.clock.advance(MINUTE)
    with pytest.raises(CatalogDown):
        place.round(CatalogDown())
    place.clock.advance(MINUTE)
    place.missed()


def test_a_look_that_another_replica_has_the_round_for_says_nothing_either(place: Place) -> None:
    record = place.accept()
    for _ in range(5):
        place.missed()
        with place.log.round(LOGS, 100):
            assert place.round() is None
        place.clock.advance(MINUTE)
    assert place.round(TableNotFound(str(LOGS.table))) is not None
    assert place.commit(record).error_code == "TABLE_NOT_FOUND"
