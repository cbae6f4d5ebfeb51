"""A loss of Spark whose JVM lives on: the next engine serves what follows. Uses the shared engine last."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from py4j.protocol import Py4JError

from service.errors.unavailable import EngineLost
from spark_session.engine.engine import SparkEngine
from tests.integration.engine.test_engine import run
from tests.polling import until

pytestmark = pytest.mark.integration


def test_what_comes_right_after_a_loss_waits_for_the_next_engine_though_the_jvm_lives(
    shared_engine: SparkEngine,
) -> None:
    engine = shared_engine
    lost = engine.session
    assert lost is not None
    endless = "SELECT max(pmod(hash(id), 2)) AS n FROM range(0, 1000000000000, 1, 1)"
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run, engine, endless)
        until(lambda: len(lost.calls.open()) == 1 and lost.context.statusTracker().getActiveJobsIds())
        # This happens when a cluster ends the application.
        with suppress(Py4JError, OSError):
            # The engine may end the JVM before it has answered.
            lost.context._jsc.sc().stop()
        with pytest.raises(EngineLost):
            running.result()
        assert run(engine, "SELECT 1 + 1 AS n").rows.to_pylist() == [{"n": 2}]
    assert engine.session is not lost
    assert lost.jvm.is_dead_within(10)
