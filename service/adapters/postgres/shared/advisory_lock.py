"""A PostgreSQL lock that goes with its connection: a crash releases it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import BigInteger, ColumnElement, Connection, Engine, func, literal, select
from sqlalchemy.exc import SQLAlchemyError


@contextmanager
def advisory_lock(engine: Engine, *words: str) -> Iterator[Connection | None]:
    """Yields the connection that holds the lock of these words. None: another process has it.

    Each statement of the engine must be a transaction of its own (`AUTOCOMMIT`); otherwise a transaction
    would stay open as long as the lock.
    """
    number = lock_number(*words)
    with engine.connect() as connection:
        if not connection.scalar(select(func.pg_try_advisory_lock(number))):
            yield None
            return
        try:
            yield connection
        finally:
            try:
                connection.scalar(select(func.pg_advisory_unlock(number)))
            except SQLAlchemyError:
                connection.invalidate()


def lock_number(*words: str) -> ColumnElement[int]:
    """Returns PostgreSQL's number for the lock of these words."""
    return literal(lock_key(*words), BigInteger)


def lock_key(*words: str) -> int:
    """Returns the same as a plain number."""
    digest = hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
