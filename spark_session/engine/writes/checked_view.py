"""The text of a new view: checked as a query of its creator, and kept as it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from service.model.sessions.sessions import SessionValues
from spark_session.engine.analyzed import analyzed
from spark_session.engine.writes.asked_write import AskedWrite
from spark_session.engine.writes.ready_write import read_by


def checked_view(asked: AskedWrite) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Checks that the text of a view is a query that its creator may run; nothing runs.

    Returns the full names of the tables that it reads, and the names of the policies that hide something of
    them from the creator. The text has none of these policies in it: whoever reads the view has its own.

    Raises:
        TableAccessDenied: the creator may not read a table or view.
        CallerError: the text holds something that a query may not have, a parameter, or the name of a
            temporary view.
        PySparkException: Spark refused it.
    """
    session, child, statement = asked.session, asked.child, asked.statement
    if statement.parameters:
        raise SqlInvalid("A view is kept as its text, so it takes no parameters.")
    if asked.parsed.query is None:
        raise StatementNotAllowed("A view needs AS and a query.")
    values = statement.session or SessionValues()
    found = session.guard.read(child, asked.parsed.query)
    _allow_lasting(found["relations"], values)
    query = replace(statement, sql=asked.parsed.query, session=replace(values, views=()))
    frame, applied = analyzed(session, child, query, found)
    return read_by(session.table_guards.read(child, asked.parsed.query, frame)), applied


def _allow_lasting(relations: Iterable[Sequence[str]], values: SessionValues) -> None:
    """Checks that no name is that of a temporary view, which other sessions do not have."""
    temporary = {view.name.lower() for view in values.views}
    for parts in relations:
        if len(parts) == 1 and parts[0].lower() in temporary:
            raise StatementNotAllowed(
                f"{parts[0]} is a temporary view of this session, and a view of a catalog outlives the"
                " session. Write a table with its schema."
            )
