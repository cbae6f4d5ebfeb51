"""Statements that write are run, and nothing else: no plan and no description tells of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from service.errors.statement_errors import SqlWritesOff, StatementNotAllowed
from service.query.execution.run_query import QueryPorts


@contextmanager
def without_writes(ports: QueryPorts) -> Iterator[None]:
    """Says so of a statement that writes, where SQL may write.

    Raises:
        StatementNotAllowed: the block has found that the statement writes.
    """
    try:
        yield
    except SqlWritesOff as failure:
        if ports.writes is None:
            raise
        raise StatementNotAllowed(
            "A statement that writes is neither planned nor described alone: it can only be run."
        ) from failure
