"""INSERT: its query is checked and guarded by policies like any other, and then its rows are written."""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame

from service.errors.policy_errors import TableAccessDenied
from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Allowed
from service.model.writes.writes import Write, WriteKind
from spark_session.engine.in_session import own_settings
from spark_session.engine.writes.asked_write import AskedWrite
from spark_session.engine.writes.ready_write import ReadyWrite, read_by
from spark_session.engine.writes.unmasked import allow_unmasked
from spark_session.session.warm_session import WarmSession


def inserted_rows(asked: AskedWrite) -> ReadyWrite:
    """Returns the INSERT, ready to run. It writes the rows that its principal sees.

    Raises:
        TableAccessDenied: its principal may not read a table, or sees masked values of one.
        CallerError: it holds something that a query may not have, or a parameter does not fit its type.
        PySparkException: Spark refused it.
    """
    session, child, statement = asked.session, asked.child, asked.statement
    if asked.write.kind is WriteKind.INSERT_OVERWRITE:
        allow_all_rows(statement.access, asked.write)
    rows, applied = guarded_source(asked)
    work = session.planned_work.read(rows)
    plan = session.sql_writes.insert(child, statement.sql, rows)
    session.guard.allow_writing(plan)
    reads = read_by(session.table_guards.read(child, None, rows))
    return ReadyWrite(plan, work, reads, applied)


def guarded_source(asked: AskedWrite) -> tuple[DataFrame, tuple[str, ...]]:
    """Returns the query whose rows a statement writes, over what its principal sees, after all checks.

    Also returns the names of the policies that hide something of it.

    Raises:
        TableAccessDenied, CallerError, PySparkException: as `inserted_rows`.
    """
    session, child, statement = asked.session, asked.child, asked.statement
    views = asked.bind_views()
    source = session.sql_writes.source(child, statement.sql, statement.parameters)
    check = partial(_check, session)
    check(source)
    rows, applied = session.table_guards.guarded(
        child, None, source, statement.access, views, check, own_settings(session, statement)
    )
    allow_unmasked(applied)
    session.guard.allow_planned(rows)
    return rows, applied


def allow_all_rows(access: Access, write: Write) -> None:
    """Checks that the principal sees every row and value of the target: hidden rows are never changed.

    Raises:
        TableAccessDenied: policies hide something of it.
    """
    for action in (Action.SELECT, *write.kind.needs):
        decided = access.decide(action, write.table)
        if isinstance(decided, Allowed) and decided.restriction.is_any:
            raise TableAccessDenied(
                write.table, Action.MODIFY, "policies hide rows or values of it, which must not be changed"
            )


def _check(session: WarmSession, source: DataFrame) -> None:
    session.guard.allow_reading_only(source)
    session.guard.allow_size(source)
