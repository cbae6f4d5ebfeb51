"""CREATE, REPLACE, DROP, ALTER and COMMENT: statements that change what a catalog has."""

from __future__ import annotations

from service.errors.statement_errors import StatementNotAllowed
from service.ingest.schema_changes.table_properties import refused_properties
from service.model.policies.read_plan import name_of
from service.model.writes.writes import Write, WriteKind
from service.policies.require import require
from spark_session.engine.writes.asked_write import AskedWrite
from spark_session.engine.writes.checked_view import checked_view
from spark_session.engine.writes.inserted_rows import allow_all_rows, guarded_source
from spark_session.engine.writes.ready_write import ReadyWrite, read_by, unknown_work
from spark_session.session.write_statements import ParsedWrite, WritePlan
from spark_session.vetting.vetted_writes import NEW_VIEWS

AS_SELECT = frozenset({WriteKind.CREATE_TABLE_AS, WriteKind.REPLACE_TABLE_AS})
_REMOVING = frozenset(
    {
        WriteKind.REPLACE_TABLE,
        WriteKind.REPLACE_TABLE_AS,
        WriteKind.DROP_TABLE,
        WriteKind.ALTER_TABLE,
        WriteKind.RENAME,
        WriteKind.REPLACE_VIEW,
        WriteKind.DROP_VIEW,
    }
)
"""Those that change or take away rows or columns, of which their principal must see everything."""


def defined(asked: AskedWrite) -> ReadyWrite:
    """Returns the statement, ready to run.

    Raises:
        TableAccessDenied: its principal may not do it, or policies hide something that it would take away.
        CallerError: it holds something that such a statement may not have here.
        PySparkException: Spark refused it.
    """
    session, child, statement = asked.session, asked.child, asked.statement
    parsed, write = asked.parsed, asked.write
    _allow_form(parsed, write)
    if parsed.renamed_to is not None:
        for action in write.kind.needs:
            require(statement.access, action, name_of(parsed.renamed_to))
    if write.kind in _REMOVING:
        allow_all_rows(statement.access, write)
    if parsed.kind in NEW_VIEWS:
        reads, applied = checked_view(asked)
        return ReadyWrite(_definition(asked), unknown_work(), reads, applied)
    if write.kind not in AS_SELECT:
        return ReadyWrite(_definition(asked), unknown_work())
    rows, applied = guarded_source(asked)
    work = session.planned_work.read(rows)
    reads = read_by(session.table_guards.read(child, None, rows))
    return ReadyWrite(session.sql_writes.create(child, statement.sql, rows), work, reads, applied)


def _definition(asked: AskedWrite) -> WritePlan:
    plan = asked.session.sql_writes.define(asked.child, asked.statement.sql)
    if plan is None:
        raise StatementNotAllowed(f"{asked.write.table} is not a view: write ALTER TABLE … RENAME TO.")
    return plan


def _allow_form(parsed: ParsedWrite, write: Write) -> None:
    if not parsed.is_in_iceberg:
        raise StatementNotAllowed(
            f"{write.kind.words} needs an Iceberg catalog: {write.table.catalog} is none."
        )
    if parsed.renamed_to is not None and parsed.renamed_to[0] != write.table.catalog:
        raise StatementNotAllowed("A table is renamed within its catalog.")
    given = {name: value for name, value in parsed.properties.items() if value is not None}
    taken = {name: "" for name, value in parsed.properties.items() if value is None}
    for name, reason in refused_properties(given):
        raise StatementNotAllowed(f"The property {name[:80]} may not be set: {reason}.")
    for name in taken:
        if not is_settable(name):
            raise StatementNotAllowed(f"The property {name[:80]} may not be taken away by callers.")


def is_settable(name: str) -> bool:
    """Whether callers may set a property of this name to some value, and so take it away.

    >>> is_settable("gc.enabled"), is_settable("user.team"), is_settable("write.data.path")
    (True, True, False)
    """
    return all("may not set" not in reason for _, reason in refused_properties({name: "?"}))
