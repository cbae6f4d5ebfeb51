"""Cancellations are handed over, and no caller waits for them."""

from __future__ import annotations

import threading
from queue import Queue
from uuid import uuid4

from py4j.protocol import Py4JNetworkError

from spark_session.supervision.cancels import Cancels
from tests.fakes.engine import PATIENCE_S


def test_who_asks_again_adds_nothing_while_the_same_one_waits_and_a_failure_ends_nothing() -> None:
    gate, handed = threading.Event(), Queue[str]()

    def cancel(query_id: str) -> None:
        handed.put(query_id)
        gate.wait(PATIENCE_S)
        raise Py4JNetworkError("gone")

    cancels, one, other = Cancels(cancel), uuid4(), uuid4()
    cancels.start()
    cancels.ask(one)
    assert handed.get(timeout=PATIENCE_S) == str(one)
    for _ in range(100):
        cancels.ask(other)
    gate.set()
    assert handed.get(timeout=PATIENCE_S) == str(other)
    cancels.ask(one)
    assert handed.get(timeout=PATIENCE_S) == str(one)
    cancels.stop()
    assert handed.empty()
