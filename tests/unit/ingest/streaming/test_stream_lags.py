"""How far streams are behind, and since when."""

from __future__ import annotations

from uuid import UUID

from service.ingest.streaming.stream_lags import StreamLags
from service.model.ingest.stream_standing import StreamLag, StreamProgress

CLICKS, ORDERS = UUID(int=1), UUID(int=2)
IDLE, BUSY = StreamProgress(has_nothing_to_do=True), StreamProgress()


def test_a_stream_is_behind_from_its_last_batch_or_its_last_idle_moment_on() -> None:
    lags = StreamLags()
    lags.follow(CLICKS, 1_000)
    assert lags.longest_ms(4_000) == 3_000
    lags.note(CLICKS, BUSY, 4_000)
    assert lags.longest_ms(5_000) == 4_000
    lags.note_batch(CLICKS, 5_000)
    assert lags.longest_ms(6_000) == 1_000
    lags.note(CLICKS, IDLE, 9_000)
    assert lags.longest_ms(9_000) == 0


def test_following_a_stream_again_makes_it_no_younger() -> None:
    lags = StreamLags()
    lags.follow(CLICKS, 0)
    lags.follow(CLICKS, 5_000)
    assert lags.longest_ms(6_000) == 6_000


def test_the_longest_lag_counts_and_all_messages_together() -> None:
    lags = StreamLags()
    lags.follow(CLICKS, 0)
    lags.follow(ORDERS, 2_000)
    lags.note(CLICKS, StreamProgress(messages_behind=30), 2_000)
    lags.note(ORDERS, StreamProgress(messages_behind=4), 2_000)
    lags.note(ORDERS, BUSY, 2_000)
    assert (lags.longest_ms(3_000), lags.messages) == (3_000, 34)
    lags.forget(CLICKS)
    assert (lags.longest_ms(3_000), lags.messages, lags.followed()) == (1_000, 4, {ORDERS})


def test_the_lag_of_one_stream_is_its_own() -> None:
    lags = StreamLags()
    lags.follow(CLICKS, 1_000)
    lags.note(ORDERS, StreamProgress(messages_behind=4), 2_000)
    assert lags.of(CLICKS, 3_000) == StreamLag(2_000)
    assert lags.of(ORDERS, 3_000) == StreamLag(1_000, 4)
    lags.forget(ORDERS)
    assert lags.of(ORDERS, 3_000) is None


def test_without_streams_nothing_is_behind() -> None:
    assert StreamLags().longest_ms(7_000) == 0
