"""When a commit round of a table and branch is due."""

from __future__ import annotations

from service.ingest.committing.commit_pace import CommitPace
from service.ingest.committing.round_queue import RoundQueue
from tests.fakes.ingests import LOGS, ORDERS

PACE = CommitPace(interval_ms=200, contended_pause_ms=50, first_pause_ms=100, longest_pause_ms=300)


def queue() -> RoundQueue:
    return RoundQueue(PACE)


def test_a_round_is_due_at_once() -> None:
    rounds = queue()
    rounds.put(LOGS, 1000)
    assert rounds.due_in_ms(1000) == 0
    assert rounds.take(1000) == LOGS


def test_nothing_is_due_when_nothing_waits() -> None:
    rounds = queue()
    assert rounds.take(0) is None
    assert rounds.due_in_ms(0) is None


def test_one_round_of_a_key_is_open_at_a_time_and_takes_all_that_came_meanwhile() -> None:
    rounds = queue()
    rounds.put(LOGS, 0)
    assert rounds.take(0) == LOGS
    rounds.put(LOGS, 10)
    rounds.put(LOGS, 20)
    assert rounds.take(30) is None
    assert rounds.due_in_ms(30) is None
    rounds.ended(LOGS)
    assert rounds.take(30) == LOGS
    rounds.ended(LOGS)
    assert rounds.take(30) is None


def test_rounds_of_several_keys_are_open_at_once_in_order_of_arrival() -> None:
    rounds = queue()
    rounds.put(ORDERS, 0)
    rounds.put(LOGS, 0)
    assert [rounds.take(0), rounds.take(0), rounds.take(0)] == [ORDERS, LOGS, None]


def test_a_round_waits_for_ingests_that_are_being_written() -> None:
    rounds = queue()
    rounds.expect([LOGS, ORDERS])
    rounds.expect([LOGS])
    rounds.put(LOGS, 0)
    rounds.expect_no_more([LOGS])
    assert rounds.take(10) is None
    assert rounds.due_in_ms(10) == 190
    rounds.expect_no_more([LOGS, ORDERS])
    assert rounds.take(20) == LOGS


def test_a_round_never_waits_longer_for_more_than_the_interval() -> None:
    rounds = queue()
    rounds.expect([LOGS])
    rounds.put(LOGS, 0)
    rounds.put(LOGS, 150)
    assert rounds.take(199) is None
    assert rounds.take(200) == LOGS


def test_a_round_that_another_replica_has_is_asked_for_a_little_later() -> None:
    rounds = queue()
    rounds.put(LOGS, 0)
    rounds.take(0)
    rounds.pause(LOGS, 5)
    assert (rounds.take(54), rounds.due_in_ms(54)) == (None, 1)
    assert rounds.take(55) == LOGS


def test_a_round_that_fails_is_tried_ever_more_slowly_whoever_asks_meanwhile() -> None:
    rounds = queue()
    now = 0
    pauses = []
    rounds.put(LOGS, now)
    for _ in range(4):
        assert rounds.take(now) == LOGS
        rounds.failed(LOGS, now)
        rounds.put(LOGS, now)
        pause = rounds.due_in_ms(now)
        assert pause is not None
        pauses.append(pause)
        now += pause
    assert pauses == [100, 200, 300, 300]


def test_after_a_success_the_next_failure_is_the_first_again() -> None:
    rounds = queue()
    rounds.put(LOGS, 0)
    rounds.take(0)
    rounds.failed(LOGS, 0)
    rounds.take(100)
    rounds.ended(LOGS)
    rounds.put(LOGS, 100)
    rounds.take(100)
    rounds.failed(LOGS, 100)
    assert rounds.due_in_ms(100) == 100


def test_a_key_that_fails_holds_up_no_other() -> None:
    rounds = queue()
    rounds.put(LOGS, 0)
    rounds.take(0)
    rounds.failed(LOGS, 0)
    rounds.put(ORDERS, 1)
    assert rounds.take(1) == ORDERS
