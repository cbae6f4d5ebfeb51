"""Callers that wait for ingests: who shares a future, when it resolves, and what is known afterwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from service.ingest.committing.waiters import Outcome, Waiters, unsettled
from service.model.ingest.ingest import IngestRecord
from tests.fakes.ingests import ACCEPTED_AT, LOGS, ORDERS, ingest_of, write_result


def of_logs() -> IngestRecord:
    return ingest_of([write_result(LOGS)])


def of_both() -> IngestRecord:
    return ingest_of([write_result(LOGS), write_result(ORDERS)])


def test_all_who_wait_for_an_ingest_get_the_same_future() -> None:
    waiters, record = Waiters(), of_logs()
    first = waiters.wait_for(record)
    assert waiters.wait_for(record) is first
    assert waiters.future_of(record.ingest_id) is first
    assert waiters.future_of(of_logs().ingest_id) is None
    assert (len(waiters), waiters.keys()) == (1, {LOGS})


def test_a_settled_ingest_is_not_waited_for() -> None:
    waiters, record = Waiters(), of_logs()
    done = replace(record, commits=(replace(record.commits[0], snapshot_id=7),))
    assert waiters.wait_for(done).done()
    assert (len(waiters), waiters.keys()) == (0, set())


def test_an_ingest_of_two_tables_has_the_outcome_of_each() -> None:
    waiters, record = Waiters(), of_both()
    future = waiters.wait_for(record)
    waiters.settle(LOGS, [record.ingest_id], Outcome(7))
    assert not future.done()
    assert (waiters.settled(record.ingest_id), waiters.keys()) == (None, {ORDERS})
    waiters.settle(ORDERS, [record.ingest_id], Outcome(None, "TABLE_CHANGED", "other spec"))
    assert future.done()
    settled = waiters.settled(record.ingest_id)
    assert settled is not None
    assert [(commit.snapshot_id, commit.error_code, commit.error_detail) for commit in settled.commits] == [
        (7, None, None),
        (None, "TABLE_CHANGED", "other spec"),
    ]


def test_without_each_outcome_the_log_has_to_be_asked() -> None:
    waiters, record = Waiters(), of_both()
    future = waiters.wait_for(record)
    waiters.settle(LOGS, [record.ingest_id])
    waiters.settle(ORDERS, [record.ingest_id], Outcome(7))
    assert future.done()
    assert waiters.settled(record.ingest_id) is None


def test_ingests_that_nobody_waits_for_are_passed_over() -> None:
    waiters, record = Waiters(), of_logs()
    future = waiters.wait_for(record)
    waiters.settle(LOGS, [of_logs().ingest_id, record.ingest_id], Outcome(7))
    assert future.done()


def test_a_caller_that_went_away_is_no_hindrance_for_the_others() -> None:
    waiters, records = Waiters(), [of_logs() for _ in range(2)]
    gone, waiting = [waiters.wait_for(record) for record in records]
    assert gone.cancel()
    waiters.settle(LOGS, [record.ingest_id for record in records], Outcome(7))
    assert waiting.done()


def test_the_ingests_that_were_looked_up_least_often_are_looked_up_next() -> None:
    waiters, records = Waiters(), [of_logs(), ingest_of([write_result(ORDERS)]), of_logs(), of_logs()]
    for record in records:
        waiters.wait_for(record)
    first, of_orders, second, third = (record.ingest_id for record in records)
    assert waiters.least_asked(LOGS, 2) == [first, second]
    assert waiters.least_asked(LOGS, 2) == [third, first]
    assert (waiters.oldest(LOGS), waiters.oldest(ORDERS)) == (first, of_orders)


def test_a_moment_is_known_while_its_ingest_waits() -> None:
    waiters, record = Waiters(), of_both()
    later = replace(of_logs(), accepted_at=ACCEPTED_AT + timedelta(seconds=1))
    for each in (record, later):
        waiters.wait_for(each)
    ids = [record.ingest_id, of_logs().ingest_id, later.ingest_id]
    assert waiters.accepted_at(ids) == [ACCEPTED_AT, later.accepted_at]
    assert waiters.oldest_accepted_at() == ACCEPTED_AT
    # After a part without an outcome, only the log knows the ingest.
    waiters.settle(LOGS, [record.ingest_id])
    assert waiters.accepted_at(ids) == [later.accepted_at]
    assert waiters.oldest_accepted_at() == later.accepted_at


def test_everybody_is_let_go_at_the_end() -> None:
    waiters = Waiters()
    futures = [waiters.wait_for(of_logs()) for _ in range(2)]
    waiters.release()
    assert [future.done() for future in futures] == [True, True]
    assert len(waiters) == 0


def test_a_refused_or_committed_part_does_not_wait() -> None:
    record = of_both()
    of_logs, of_orders = record.commits
    assert unsettled(record) == [LOGS, ORDERS]
    assert unsettled(replace(record, commits=(replace(of_logs, snapshot_id=7), of_orders))) == [ORDERS]
    assert unsettled(replace(record, commits=(of_logs, replace(of_orders, error_code="GONE")))) == [LOGS]
