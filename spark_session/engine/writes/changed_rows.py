"""DELETE, UPDATE and MERGE: run only over tables of which their principal sees everything."""

from __future__ import annotations

from collections.abc import Collection

from service.errors.policy_errors import TableAccessDenied
from service.errors.statement_errors import StatementNotAllowed
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.policies.read_plan import ReadPlan, name_of
from service.policies.granted_reads import allow_unread, guarded_places
from spark_session.engine.writes.asked_write import AskedWrite
from spark_session.engine.writes.inserted_rows import allow_all_rows
from spark_session.engine.writes.ready_write import ReadyWrite, read_by, unknown_work


def changed_rows(asked: AskedWrite) -> ReadyWrite:
    """Returns the DELETE, UPDATE or MERGE, ready to run.

    Raises:
        TableAccessDenied: its principal may not read a table, or policies hide something of one.
        CallerError: it holds something that a write may not have, or a parameter does not fit its type.
        PySparkException: Spark refused it.
    """
    session, statement = asked.session, asked.statement
    allow_all_rows(statement.access, asked.write)
    views = asked.bind_views()
    plan = session.sql_writes.change(asked.child, statement.sql, statement.parameters)
    session.guard.allow_writing(plan)
    reads = plan.reads()
    allow_whole_reads(reads, statement.access, views)
    return ReadyWrite(plan, unknown_work(), read_by(reads))


def allow_whole_reads(plan: ReadPlan, access: Access, own_names: Collection[str]) -> None:
    """Checks that the principal may read all that a statement reads, and sees all of it.

    Raises:
        TableAccessDenied: it may not read a table or view, or policies hide rows or values of it.
        StatementNotAllowed: the statement reads something whose name is not known.
    """
    if access is FULL_ACCESS:
        return
    if plan.unknown:
        raise StatementNotAllowed(f"Policies do not cover what this statement reads: {plan.unknown[0]}.")
    for view in plan.views:
        if any(access.definer_of(name_of(parts)) is not None for parts in (*view.path, view.parts)):
            raise StatementNotAllowed(
                f"{view.name} has the rights of its definer, and only queries and INSERT may read it."
            )
    allow_unread(plan, access, own_names)
    for place in guarded_places(plan, access, lambda _: None):
        raise TableAccessDenied(
            place.table,
            Action.SELECT,
            "policies hide rows or values of it, and only queries and INSERT run over the rest",
        )
