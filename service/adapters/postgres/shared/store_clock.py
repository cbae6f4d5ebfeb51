"""PostgreSQL's wall clock, for what replicas decide together."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from sqlalchemy import NullPool, text

from service.adapters.postgres.shared.answering import answering
from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.ports import Clock


class StoreClock:
    """The `Clock` port; whoever asks it for the time gets that of one clock, at whichever replica.

    `now` raises MetricsStoreDown where the store does not answer.
    """

    def __init__(self, url: str, own: Clock) -> None:
        # Nobody asks more often than once in some seconds.
        self._engine = store_engine(url, CONNECTION, poolclass=NullPool)
        self._own = own

    def now(self) -> datetime:
        """PostgreSQL's wall clock, in UTC."""
        with answering(), self._engine.connect() as connection:
            return cast(datetime, connection.scalar(text("SELECT clock_timestamp()"))).astimezone(UTC)

    def elapsed_ms(self) -> int:
        """This machine's."""
        return self._own.elapsed_ms()

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


class EarlierClock:
    """The `Clock` port: the earlier of two. What is deleted by it is old by both of them."""

    def __init__(self, one: Clock, other: Clock) -> None:
        self._one = one
        self._other = other

    def now(self) -> datetime:
        """The earlier moment."""
        return min(self._one.now(), self._other.now())

    def elapsed_ms(self) -> int:
        """The first one's."""
        return self._one.elapsed_ms()
