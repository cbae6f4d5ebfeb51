"""Keys count as awaited from the submission of their collection to its end."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from service.query.filtering.awaited_keys import AwaitedKeys


def test_keys_are_awaited_until_all_who_wait_have_them_or_have_given_up() -> None:
    awaited = AwaitedKeys()
    first: Future[int] = awaited.submit("a", Future)
    second: Future[int] = awaited.submit("a", Future)
    assert ("a" in awaited, "b" in awaited) == (True, False)
    first.set_result(1)
    assert "a" in awaited
    second.cancel()
    assert "a" not in awaited


def test_nobody_waits_for_keys_that_no_thread_will_collect() -> None:
    awaited, threads = AwaitedKeys(), ThreadPoolExecutor(1)
    threads.shutdown()
    with pytest.raises(RuntimeError):
        awaited.submit("a", lambda: threads.submit(int))
    assert "a" not in awaited
