"""The text of a new view: checked as a query of its creator, and kept as it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from service.model.policies.read_plan import ReadPlan, lower
from service.model.sessions.sessions import SessionValues
from service.model.tables.tables import TableName
from spark_session.engine.analyzed import analyzed
from spark_session.engine.writes.asked_write import AskedWrite
from spark_session.engine.writes.ready_write import read_by


def checked_view(asked: AskedWrite) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Checks that the text of a view is a query that its creator may run; nothing runs.

    Returns the full names of the tables that it reads, and the names of the policies that hide something of
    them from the creator. The text has none of these policies in it: whoever reads the view has its own.

    Raises:
        TableAccessDenied: the creator may not read a table or view.
        CallerError: the text holds something that a query may not have, a parameter, the name of a
            temporary view, or the view itself.
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
    plan = session.table_guards.read(child, asked.parsed.query, frame)
    _allow_end(plan, asked.write.table)
    return read_by(plan), applied


def _allow_end(plan: ReadPlan, view: TableName) -> None:
    """Checks that a view does not read itself: Iceberg only notices that if the text has its full name."""
    if lower(view.parts) in {lower(parts) for parts in (*plan.written, *(each.parts for each in plan.views))}:
        raise SqlInvalid(f"{view} would read itself.")


def _allow_lasting(relations: Iterable[Sequence[str]], values: SessionValues) -> None:
    """Checks that no name is that of a temporary view, which other sessions do not have."""
    temporary = {view.name.lower() for view in values.views}
    for parts in relations:
        if len(parts) == 1 and parts[0].lower() in temporary:
            raise StatementNotAllowed(
                f"{parts[0]} is a temporary view of this session, and a view of a catalog outlives the"
                " session. Write a table with its schema."
            )
