"""PostgreSQL's wall clock, for decisions that replicas make together."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from sqlalchemy import NullPool, text

from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.adapters.postgres.shared.postgres_errors import answering
from service.ports.clock import Clock


class StoreClock:
    """The `Clock` port with the same wall clock at every replica.

    `now` raises MetricsStoreDown if the store does not answer.
    """

    def __init__(self, url: str, own: Clock) -> None:
        # It is used at most once every few seconds.
        self._engine = store_engine(url, CONNECTION, poolclass=NullPool)
        self._own = own

    def now(self) -> datetime:
        """PostgreSQL's wall clock, in UTC."""
        with answering(), self._engine.connect() as connection:
            return cast(datetime, connection.scalar(text("SELECT clock_timestamp()"))).astimezone(UTC)

    def elapsed_ms(self) -> int:
        """Milliseconds on this machine's clock."""
        return self._own.elapsed_ms()

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


class EarlierClock:
    """The `Clock` port: the earlier of two clocks. Anything deleted by its time is old by both."""

    def __init__(self, one: Clock, other: Clock) -> None:
        self._one = one
        self._other = other

    def now(self) -> datetime:
        """The earlier moment."""
        return min(self._one.now(), self._other.now())

    def elapsed_ms(self) -> int:
        """Milliseconds on the first clock."""
        return self._one.elapsed_ms()
