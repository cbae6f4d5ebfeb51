"""Finds the analyzed plan of a statement that was asked before, and decides whether a plan may be kept.

A plan is kept for one text with one set of values, at one state of each table that it reads. Policies are not
part of it: they are decided for each statement, on the plan, as for one that was just analyzed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import NotAdmitted
from service.model.policies.read_plan import ReadPlan, lower
from service.model.query.reuse import PlanReads, Reusability
from service.policies.granted_reads import written_views
from service.ports.engine.query_engine import Statement
from spark_session.session.caches.kept_plans import TakenPlan
from spark_session.session.warm_session import WarmSession

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class KnownQuery:
    """A statement's address among the kept plans, and its plan if it has that: no other query has it then."""

    key: str
    plan: TakenPlan | None


def known_query(session: WarmSession, child: SparkSession, statement: Statement) -> KnownQuery | None:
    """Returns what is known of a statement whose plan may be kept; None for any other."""
    if not session.kept_plans.is_on or not _may_be_kept(statement):
        return None
    key = key_of(statement)
    return KnownQuery(key, session.kept_plans.take(child, key))


def key_of(statement: Statement) -> str:
    """Returns the same for two statements whose analyzed plans are the same, as long as nothing else changes.

    All that is not in it is the same for all statements of one engine.
    """
    session = None if statement.session is None else sorted(statement.session.settings.items())
    asked = (
        *(statement.sql, statement.parameters, statement.catalog, statement.schema, session),
        *(sorted(each.items()) for each in (statement.properties, statement.relations, statement.states)),
    )
    return hashlib.sha256(repr(asked).encode()).hexdigest()


def keep(
    session: WarmSession, child: SparkSession, statement: Statement, known: KnownQuery, query: DataFrame
) -> None:
    """Keeps the plan of an analyzed query, if its text is asked again, and would be analyzed alike.

    `query` has passed all checks, and has no policies. It then has the plan itself: the kept one has the same
    expressions. Never raises: other plans are made again.
    """
    if not session.kept_plans.is_asked_again(known.key):
        return
    try:
        if _stays_the_same(session, child, statement, query):
            known.plan = session.kept_plans.keep(known.key, query)
    except (GatewayError, PySparkException, Py4JError, OSError) as failure:
        log.warning("plan_not_kept", error=type(failure).__name__)


@contextmanager
def with_kept_plan(session: WarmSession, known: KnownQuery | None) -> Iterator[None]:
    """Gives the kept plan that a query has back when it has ended well, or has to wait before it runs.

    After any other end, it is dropped: a file that it reads may be gone, and the query may not have stopped.
    """
    try:
        yield
    except NotAdmitted:
        _release(session, known)
        raise
    except BaseException:
        if known is not None and known.plan is not None:
            session.kept_plans.forget(known.key)
        raise
    _release(session, known)


def _release(session: WarmSession, known: KnownQuery | None) -> None:
    if known is not None and known.plan is not None:
        session.kept_plans.release(known.plan)


def _may_be_kept(statement: Statement) -> bool:
    has_views = statement.session is not None and statement.session.views
    is_plain = statement.explain is None and not statement.is_of_state and statement.begin_write is None
    return bool(statement.states) and is_plain and not has_views


def _stays_the_same(
    session: WarmSession, child: SparkSession, statement: Statement, query: DataFrame
) -> bool:
    """Whether the text would be analyzed alike again, for as long as its tables have the same states."""
    facts = session.reuse_facts.of(query, ignores_views=True)
    if facts.reusability is not Reusability.REUSABLE or not _has_states(facts.reads, statement):
        return False
    return _is_of_tables(session.table_guards.read(child, statement.sql, query), statement)


def _has_states(reads: PlanReads, statement: Statement) -> bool:
    """Whether each table is read at a version, in the state that the statement's text was made from."""
    return not reads.has_others and all(
        table.is_version and statement.states.get(str(table.table.in_lower_case())) == table.state
        for table in reads.tables
    )


def _is_of_tables(plan: ReadPlan, statement: Statement) -> bool:
    """Whether the text names tables alone, each by its own name, and rows in memory.

    A name that selects a version would mean a table of that name, as soon as there is one.
    """
    has_views = bool(plan.views) or any(written_views(plan, {*statement.relations}))
    return not has_views and all(lower(table.parts) == lower(table.name.parts) for table in plan.tables)
