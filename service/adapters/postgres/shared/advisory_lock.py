"""A lock of PostgreSQL that goes with its connection: whoever crashes lets go of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import BigInteger, ColumnElement, Connection, Engine, func, literal, select
from sqlalchemy.exc import SQLAlchemyError


@contextmanager
def advisory_lock(engine: Engine, *words: str) -> Iterator[Connection | None]:
    """The connection that holds the lock of these words; None: somebody else has it.

    The engine's statements must be transactions of their own (`AUTOCOMMIT`), or one would be open as long.
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
    """What PostgreSQL knows the lock of these words by."""
    digest = hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
    return literal(int.from_bytes(digest, signed=True), BigInteger)
