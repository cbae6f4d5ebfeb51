"""Analyzes one statement in one child session, to learn whether its result may be reused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.model.policies.read_plan import ReadPlan
from service.model.query.reuse import QueryFacts, Reusability
from service.model.tables.tables import TableName
from service.ports.engine.query_engine import Statement
from spark_session.engine.analyzed import analyzed
from spark_session.engine.in_session import bind_views, child_of
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.analyzed_facts import facts_of
from spark_session.session.parameters import spark_arguments
from spark_session.session.warm_session import WarmSession


def reuse_facts(session: WarmSession, statement: Statement) -> QueryFacts:
    """Returns what the statement reads, and whether its result may be reused, after all checks of a run.

    A query over views is analyzed again, between two looks at them. If they are the same at both, the plan
    was made from them, since no two changes of a view have the same state.

    Raises:
        CallerError: it is not a query, its principal may not read something, or a parameter does not fit.
        PySparkException: Spark refused it.
    """
    with session.children.taken(
        statement.catalog, statement.schema, str(statement.query_id), statement.caller
    ) as child:
        plan, frame = _planned(session, child, statement)
        if not plan.views:
            return facts_of(plan, session.reuse_facts.of(frame), {})
        before = session.reuse_facts.view_texts(child, plan)
        plan, frame = _planned(session, child, statement)
        after = session.reuse_facts.view_texts(child, plan)
        analyzed_facts = session.reuse_facts.of(frame)
        if before != after:
            analyzed_facts = replace(analyzed_facts, reusability=Reusability.NOT_UNDERSTOOD)
        return facts_of(plan, analyzed_facts, after)


def _planned(session: WarmSession, child: SparkSession, statement: Statement) -> tuple[ReadPlan, DataFrame]:
    """Returns what the text reads, and its frame with the policies of its principal."""
    guarded, applied = analyzed(session, child, statement)
    asked = child.sql(statement.sql, spark_arguments(statement.parameters)) if applied else guarded
    return session.table_guards.plan_in_full(child, statement.sql, asked), guarded


def is_read_alike(session: WarmSession, statement: Statement, sql: str) -> bool:
    """See `service.ports.stores.reusable_results.FactReader`."""
    with child_of(session, statement) as child:
        written, views = _vetted(session, child, statement)
        for view in views:
            child.catalog.dropTempView(view)
        values = None if statement.session is None else replace(statement.session, views=())
        other, _ = _vetted(session, child, replace(statement, sql=sql, session=values))
        return session.reuse_facts.are_alike(written, other)


def _vetted(
    session: WarmSession, child: SparkSession, statement: Statement
) -> tuple[DataFrame, Collection[str]]:
    """Returns a statement as Spark analyzes it without policies, and the temporary views that it names."""
    parts = session.guard.read(child, statement.sql)
    session.guard.allow(parts, statement.parameters)
    views = bind_views(session, child, statement, parts["relations"])
    frame = child.sql(statement.sql, spark_arguments(statement.parameters))
    session.guard.allow_reading_only(frame)
    session.guard.allow_size(frame)
    return frame, views


class SparkViewStates:
    """Implements `ViewStates`; `session` returns the current session, if there is one."""

    def __init__(self, session: Callable[[], WarmSession | None]) -> None:
        self._session = session

    def states_of(self, views: Collection[TableName]) -> Mapping[TableName, str]:
        """See the port."""
        session = self._session()
        if session is None:
            return {}
        try:
            return session.reuse_facts.states_of(session.root, views)
        except (PySparkException, *UNREACHABLE):
            return {}
