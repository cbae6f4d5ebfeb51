"""Analyzes one statement in its child session, after all checks of its text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from service.model.policies.decisions import FULL_ACCESS
from service.ports.engine.query_engine import Statement
from spark_session.engine.in_session import bind_views, own_settings
from spark_session.engine.known_query import KnownQuery, keep
from spark_session.session.parameters import spark_arguments
from spark_session.session.warm_session import WarmSession

Ask = Callable[[SparkSession, Statement], DataFrame]
EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"


def analyzed(
    session: WarmSession,
    child: SparkSession,
    statement: Statement,
    found: Mapping[str, Any] | None = None,
    ask: Ask | None = None,
    known: KnownQuery | None = None,
) -> tuple[DataFrame, tuple[str, ...]]:
    """Returns the statement as Spark understands it, over what its principal sees, after all checks.

    Also returns the names of the policies that hide something of its tables. `found` is what its text is made
    of, if the guard has read it; `ask` lets Spark analyze the text. `known` is what is known of it, if its
    plan may be kept: a kept plan has passed the checks. Policies are decided in either case.

    Raises:
        TableAccessDenied: its principal may not read a table.
        CallerError: it is not a query, or a parameter does not fit its type.
        QueryFailed: a relation that it reads is no longer cached.
        PySparkException: Spark refused it.
    """
    check = partial(_check, session, is_of_state=statement.is_of_state)
    views: Collection[str] = ()
    if known is not None and known.plan is not None:
        asked = _known(session, child, statement, known.plan.query)
    else:
        parts = session.guard.read(child, statement.sql) if found is None else found
        views = _allowed(session, child, statement, parts)
        session.relations.bind(child, statement.relations)
        _set(session, child, statement)
        asked = (ask or _asked)(child, statement)
        check(asked)
        if known is not None:
            keep(session, child, statement, known, asked)
    return session.table_guards.guarded(
        child,
        statement.sql,
        asked,
        statement.access,
        {*statement.relations, *views},
        check,
        own_settings(session, statement),
    )


def _allowed(
    session: WarmSession, child: SparkSession, statement: Statement, parts: Mapping[str, Any]
) -> Collection[str]:
    """Checks what the text is made of, and returns the temporary views that it can read now."""
    if statement.is_of_state:
        session.guard.allow_of_state(parts, statement.parameters)
        session.state_functions.add(child)
    else:
        session.guard.allow(parts, statement.parameters)
    return bind_views(session, child, statement, parts["relations"])


def _known(session: WarmSession, child: SparkSession, statement: Statement, query: DataFrame) -> DataFrame:
    """Returns the query of a kept plan, in a session that is as if it had analyzed the plan itself."""
    if statement.access is not FULL_ACCESS:
        # Names without a view would be taken for tables, and policies decided on these.
        session.relations.bind(child, statement.relations)
    _set(session, child, statement)
    return query


def _set(session: WarmSession, child: SparkSession, statement: Statement) -> None:
    """Gives the session what the statement needs of it to be optimized and run."""
    for name, value in statement.properties.items():
        child._jconf.setConfString(name, _with_excluded(child, name, value))
    if statement.relations and EXCLUDED_RULES not in statement.properties:
        session.relations.fold_as_cached(child)


def _asked(child: SparkSession, statement: Statement) -> DataFrame:
    return child.sql(statement.sql, spark_arguments(statement.parameters))


def _check(session: WarmSession, asked: DataFrame, *, is_of_state: bool) -> None:
    session.guard.allow_reading_only(asked, is_of_state=is_of_state)
    session.guard.allow_size(asked)


def _with_excluded(child: SparkSession, name: str, value: str) -> str:
    """Adds to the rules that are excluded for every session, so that those stay excluded."""
    before = child.conf.get(EXCLUDED_RULES, "") if name == EXCLUDED_RULES else ""
    return f"{before},{value}" if before else value
