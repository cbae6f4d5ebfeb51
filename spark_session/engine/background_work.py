"""Work of the gateway's own on the engine's current session, given up after a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

from service.model.policies.decisions import FULL_ACCESS
from service.ports.engine.query_engine import Statement
from spark_session.engine.engine import SparkEngine
from spark_session.session.warm_session import WarmSession


@dataclass(frozen=True, slots=True)
class BackgroundWork:
    """The session, the tag of the work's jobs, and whether its time is over."""

    session: WarmSession
    tag: str
    is_late: Callable[[], bool]


@contextmanager
def background_work(engine: SparkEngine, step: str, says: str, within_s: float) -> Iterator[BackgroundWork]:
    """Lends the session for work that sees all rows; after `within_s`, its jobs are canceled.

    `says` stands for the work where statements are shown.

    Raises:
        EngineNotReady: there is no session.
        EngineLost: the session is lost during the work.
        QueryCanceled: the work took too long.
    """
    until_s = time.monotonic() + within_s
    statement = Statement(
        query_id=uuid4(),
        sql=says,
        parameters=(),
        catalog=None,
        schema=None,
        row_limit=0,
        byte_limit=0,
        is_canceled=lambda: time.monotonic() > until_s,
        access=FULL_ACCESS,
    )
    tag = str(statement.query_id)
    late = threading.Timer(within_s, engine.cancel, [statement.query_id])
    late.daemon = True
    late.start()
    try:
        with engine.calls.session(statement, step, is_background=True) as session, session.jobs.of(tag):
            yield BackgroundWork(session, tag, statement.is_canceled)
    finally:
        late.cancel()
