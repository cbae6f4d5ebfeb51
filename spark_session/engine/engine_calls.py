"""Calls of the warm session for a statement: in its turn, counted, with failures in the engine's terms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from service.errors.unavailable import EngineLost
from service.ports.engine.query_engine import Statement
from service.tracing import step
from spark_session.engine.engine_terms import in_engine_terms
from spark_session.session.warm_session import WarmSession
from spark_session.supervision.session_keeper import SessionKeeper
from spark_session.supervision.suspects import Suspects


class EngineCalls:
    """Lets statements into the session. Any thread may call any method."""

    def __init__(self, keeper: SessionKeeper, suspects: Suspects) -> None:
        self._keeper = keeper
        self._suspects = suspects

    @contextmanager
    def turn(self, statement: Statement) -> Iterator[WarmSession]:
        """Yields a session that may run the statement, in its turn.

        Raises:
            QueryQuarantined: it ran when engines were lost.
            PartDown, QueryCanceled: there is no session in time.
        """
        text = statement.text_fingerprint()
        if statement.is_rehearsal:
            self._suspects.check_rehearsal(text)
        else:
            self._suspects.check(text)
        with self._suspects.turn(text, statement.is_canceled):
            yield self._keeper.warm(statement.is_canceled)

    @contextmanager
    def under_way(
        self, session: WarmSession, statement: Statement, *, is_background: bool = False
    ) -> Iterator[None]:
        """Runs the block as a call for the statement's caller.

        Raises:
            GatewayError: what Spark raised, in the engine's terms.
        """
        text, is_canceled = statement.text_fingerprint(), statement.is_canceled
        with (
            session.calls.under_way(text, is_canceled, str(statement.query_id), is_background),
            self._counted(statement.query_id),
        ):
            try:
                with in_engine_terms(session, is_canceled):
                    yield
            except EngineLost as lost:
                if session.is_lost():
                    self._suspects.note_loss_of(session.calls)
                raise self._suspects.of_loss(text) from lost

    @contextmanager
    def session(
        self, statement: Statement, name: str, *, is_background: bool = False
    ) -> Iterator[WarmSession]:
        """Yields a session to call for the statement, as a step of its trace with this name.

        Raises:
            GatewayError: as `turn` and `under_way` do.
        """
        with (
            self.turn(statement) as session,
            step(name),
            self.under_way(session, statement, is_background=is_background),
        ):
            yield session

    def note_success(self, statement: Statement) -> None:
        """Notes that the statement ran to its end. Its text is harmless then, unless it was a rehearsal.

        A rehearsal makes fewer rows than a caller may ask for, as a plan makes none.
        """
        if not statement.is_rehearsal:
            self._suspects.note_success(statement.text_fingerprint())

    @contextmanager
    def _counted(self, query_id: UUID) -> Iterator[None]:
        """Keeps the query's progress for as long as the block runs."""
        watch = self._keeper.watch
        if watch is None:
            yield
            return
        watch.progress.note_begin(query_id)
        try:
            yield
        finally:
            watch.progress.note_end(query_id)
