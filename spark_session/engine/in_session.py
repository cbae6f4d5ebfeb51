"""A child session with the values of its caller's session."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from service.errors.statement_errors import StatementNotAllowed
from service.model.sessions.sessions import SessionView
from service.ports.engine.query_engine import Statement
from service.session_values.session_settings import changed_settings
from spark_session.session.warm_session import WarmSession
from spark_session.table_sql_name import quoted

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@contextmanager
def child_of(session: WarmSession, statement: Statement) -> Iterator[SparkSession]:
    """Yields a child session for a statement, at its catalog and schema, with its session's settings.

    Raises:
        PySparkException: there is no such catalog or schema.
    """
    with session.children.taken(
        statement.catalog, statement.schema, str(statement.query_id), statement.caller
    ) as child:
        if statement.session is not None:
            for name, value in statement.session.settings.items():
                child._jconf.setConfString(name, value)
        yield child


def own_settings(session: WarmSession, statement: Statement) -> Mapping[str, str]:
    """Returns the gateway's values of the settings that a statement's session has changed."""
    if statement.session is None:
        return {}
    own = {name: str(session.root.conf.get(name)) for name in statement.session.settings}
    return {name: own[name] for name in changed_settings(statement.session.settings, own)}


def bind_views(
    session: WarmSession, child: SparkSession, statement: Statement, relations: Iterable[Sequence[str]]
) -> Collection[str]:
    """Lets the child session read those temporary views that a statement names, or that these name.

    Each is analyzed from its text, after the same checks as a query, with the statement's rights. Views are
    bound in the order in which they were made, so none can name itself. Returns their names in lower case.

    Raises:
        TableAccessDenied: the statement's principal may not read what a view reads.
        CallerError: a text holds what a query may not have.
        PySparkException: Spark refused a text.
    """
    if statement.session is None or not statement.session.views:
        return ()
    needed = _needed(session, child, statement.session.views, relations)
    if not needed:
        return ()
    bound: set[str] = set()
    here = session.commands.current(child)
    for view in needed:
        _bind(session, child, statement, view, bound)
        session.commands.use(child, here)
    return frozenset(bound)


def schema_text(levels: Sequence[str]) -> str | None:
    """Returns a schema's name as requests have it; levels other than plain words are quoted.

    >>> schema_text(["shop", "north"]), schema_text(["a-b"]), schema_text([])
    ('shop.north', '`a-b`', None)
    """
    parts = (level if _PLAIN.fullmatch(level) else quoted([level]) for level in levels)
    return ".".join(parts) or None


def _needed(
    session: WarmSession,
    child: SparkSession,
    views: Sequence[SessionView],
    relations: Iterable[Sequence[str]],
) -> list[SessionView]:
    names = _names(relations)
    found: list[SessionView] = []
    for view in reversed(views):
        if view.name.lower() in names:
            read = session.guard.read(child, view.sql)
            session.guard.allow(read)
            names |= _names(read["relations"])
            found.append(view)
    return found[::-1]


def _names(relations: Iterable[Sequence[Any]]) -> set[str]:
    return {str(parts[0]).lower() for parts in relations if len(parts) == 1}


def _bind(
    session: WarmSession, child: SparkSession, statement: Statement, view: SessionView, bound: set[str]
) -> None:
    if view.catalog is not None:
        session.commands.use_text(child, view.catalog, view.schema)
    frame = child.sql(view.sql)
    session.guard.allow_reading_only(frame)
    session.guard.allow_size(frame)
    # Only with their full names are the views below it known to the checks of the query.
    full = session.table_guards.in_full(child, frame)
    _allow(session, child, statement, view, full, bound)
    full.createOrReplaceTempView(view.name)
    bound.add(view.name.lower())


def _allow(
    session: WarmSession,
    child: SparkSession,
    statement: Statement,
    view: SessionView,
    frame: DataFrame,
    bound: Collection[str],
) -> None:
    plan = session.table_guards.read(child, view.sql, frame)
    for below in plan.views:
        if statement.access.definer_of(below.name) is not None:
            raise StatementNotAllowed(
                f"The temporary view {view.name} reads {below.name}, which has the rights of its definer."
                " Name that view in the query itself."
            )
    session.table_guards.guarded(
        child, view.sql, frame, statement.access, bound, own=own_settings(session, statement)
    )
