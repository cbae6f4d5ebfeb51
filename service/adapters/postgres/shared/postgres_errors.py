"""Translates PostgreSQL's errors into the gateway's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from service.errors.unavailable import MetricsStoreDown


@contextmanager
def answering() -> Iterator[None]:
    """Raises MetricsStoreDown for every error of the database or of the connection to it."""
    try:
        yield
    except SQLAlchemyError as error:
        # The driver's own message may hold the address, the user and the values.
        raise MetricsStoreDown() from error


@contextmanager
def transaction(engine: Engine) -> Iterator[Session]:
    """One transaction, committed at the end.

    Raises:
        MetricsStoreDown: it may or may not have been committed.
    """
    with answering(), Session(engine) as session, session.begin():
        yield session
