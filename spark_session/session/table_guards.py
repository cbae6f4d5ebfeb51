"""Lets a query read only what its principal may read: the analyzed plan decides.

The plan has every table and view that will be read: those of views, of common table expressions, at versions,
and under names that are computed. Each must be allowed. Between the query and what is restricted, the plan
gets a filter of rows and masks of columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import structlog
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.errors.query_errors import QueryFailed
from service.errors.session_errors import SessionSettingRefused
from service.errors.statement_errors import StatementNotAllowed
from service.errors.table_errors import ViewChanged
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.policies.read_plan import ReadPlan, ReadView, lower, name_of
from service.model.tables.tables import TableName
from service.policies.granted_reads import (
    Definition,
    GuardedPlace,
    allow_unread,
    allow_view_depth,
    applied_policies,
    guarded_places,
    has_full_names,
    has_policies,
    written_views,
)
from spark_session.bounds.query_bounds import QueryBounds
from spark_session.java.own_classes import java_instance
from spark_session.session.analysis_count import AnalysisCount
from spark_session.session.view_definitions import ViewDefinitions, definition_of, is_made_from
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

DO_NOT_FIT = (
    "The engine cannot run this query with the policies of its tables. The gateway's log has the reason, for"
    " the operator."
)
log = structlog.get_logger(__name__)
_DEFAULT = QueryBounds()


class TableGuards:
    """Asks `ReadTables.java` what a query reads, and lets `TableGuards.java` guard it.

    `analyses` counts the times that a query was analyzed again. No query may read views within views more
    than `max_view_depth` deep.
    """

    def __init__(self, gateway: JavaGateway, max_view_depth: int = _DEFAULT.view_depth) -> None:
        self.analyses = AnalysisCount()
        self._max_view_depth = max_view_depth
        self._reader = java_instance(gateway, "sluice.policies.ReadTables")
        self._java = java_instance(gateway, "sluice.policies.TableGuards")
        self.definitions = ViewDefinitions(gateway)

    def guarded(
        self,
        session: SparkSession,
        sql: str | None,
        frame: DataFrame,
        access: Access,
        own_names: Collection[str] = (),
        check: Callable[[DataFrame], None] | None = None,
        own: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[DataFrame, tuple[str, ...]]:
        """Returns the query over its tables as the principal sees them, and the names of applied policies.

        `frame` is the analyzed `sql`; None: it is a part of a text. `own_names` are views of the gateway's
        own, which the text may name. `check` is called with what Spark has analyzed again. `own` are the
        gateway's values of settings that the session has others of: predicates and masks have the gateway's.

        Raises:
            TableAccessDenied: the principal may not read a table or a view.
            ViewChanged: a view is no longer what its definer's rights were given to.
            QueryFailed: Spark cannot read a table as the policies say.
            StatementNotAllowed: the plan reads something whose name is not known.
            SessionSettingRefused: a view has a definer, and the session other settings than the gateway.
            QueryTooLarge: it reads views that are nested too deeply.
        """
        if access is FULL_ACCESS:
            return frame, ()
        asked = _Asked(session, sql, access)
        plan = self._read(asked, frame)
        named = {*written_views(plan, own_names), *(view.parts for view in plan.views)}
        definition: Definition = _not_asked
        if any(has_policies(name_of(parts), access) for parts in named):
            frame, plan, definition = self._in_full(asked, frame, plan)
            if check is not None:
                check(frame)
        allow_unread(plan, access, own_names)
        places = list(guarded_places(plan, access, definition))
        # Only who may read all of them learns how deep they are.
        allow_view_depth(plan, self._max_view_depth)
        if not places:
            return frame, ()
        if own and any(place.is_apart for place in places):
            # The conditions of such a view protect rows, and were analyzed with the session's settings.
            raise SessionSettingRefused(
                f"A view with the rights of its definer is read with the gateway's {', '.join(sorted(own))}"
                " only. Send RESET, or the query without its session."
            )
        with _settings(session, own):
            return self._guarded(session, frame, plan, places), applied_policies(places)

    def in_full(self, session: SparkSession, frame: DataFrame) -> DataFrame:
        """Analyzes a query again with the full name of each relation in its text."""
        return DataFrame(self._reader.inFull(session._jsparkSession, frame._jdf), session)

    def plan_in_full(self, session: SparkSession, sql: str, frame: DataFrame) -> ReadPlan:
        """Returns what the analyzed `sql` reads, each view by its full name.

        Raises:
            PySparkException: Spark cannot analyze it again.
            StatementNotAllowed: it reads something whose name is not known.
        """
        asked = _Asked(session, sql, FULL_ACCESS)
        plan = self._read(asked, frame)
        is_full = not plan.views and not any(written_views(plan, ()))
        return plan if is_full else self._analyzed(asked, frame)[1]

    def definition(self, session: SparkSession, view: TableName) -> str | None:
        """Returns the digest of a view and of all views below it. None: there is no such view.

        Raises:
            PySparkException: Spark cannot read the view.
            StatementNotAllowed: it reads something whose name is not known.
        """
        name = view.parts
        if self.definitions.read(session, [name], of_session=True)[name] is None:
            return None
        sql = f"SELECT * FROM {table_sql_name(view)}"
        plan = self._read(_Asked(session, sql, FULL_ACCESS), session.sql(sql))
        names = {name, *(below.parts for below in plan.views)}
        texts = self.definitions.read(session, names, of_session=True)
        return definition_of(name, texts)

    def read(self, session: SparkSession, sql: str | None, frame: DataFrame) -> ReadPlan:
        """Returns what an analyzed query reads; `sql` is its text, None: it is a part of a text.

        Raises:
            StatementNotAllowed: it reads something whose name is not known.
        """
        return self._read(_Asked(session, sql, FULL_ACCESS), frame)

    def _read(self, asked: _Asked, frame: DataFrame) -> ReadPlan:
        jsession = asked.session._jsparkSession
        if asked.sql is None:
            plan = ReadPlan.of(self._reader.readPlan(jsession, frame._jdf))
        else:
            plan = ReadPlan.of(self._reader.read(jsession, asked.sql, frame._jdf))
        if plan.unknown:
            raise StatementNotAllowed(f"Policies do not cover what this query reads: {plan.unknown[0]}.")
        return plan

    def _in_full(
        self, asked: _Asked, frame: DataFrame, plan: ReadPlan
    ) -> tuple[DataFrame, ReadPlan, Definition]:
        """Analyzes the query again with full names, between two looks at its views.

        If a view is the same at both, the plan was made from it, since no two changes have the same state. A
        view of the session catalog has no state, but the plan has its text.
        """
        session = asked.session
        # The first plan of a text with full names knows its views; only the later one is decided on.
        seen = plan if has_full_names(plan) else self._analyzed(asked, frame)[1]
        names = {view.parts for view in seen.views if asked.has_definer(view)}
        before = self.definitions.read(session, names, of_session=True)
        again, plan = self._analyzed(asked, frame)
        after = self.definitions.read(session, names, of_session=True)
        changed = {view.parts for view in plan.views if not is_made_from(view, before.get(view.parts))}

        def definition(view: ReadView) -> str | None:
            below = plan.below(view)
            if not below <= names or below & changed or any(before[name] != after[name] for name in below):
                return None
            return definition_of(view.parts, {name: before[name] for name in below})

        return again, plan, definition

    def _analyzed(self, asked: _Asked, frame: DataFrame) -> tuple[DataFrame, ReadPlan]:
        jsession = asked.session._jsparkSession
        self.analyses.add()
        full = DataFrame(self._reader.inFull(jsession, frame._jdf), asked.session)
        return full, self._read(asked, full)

    def _guarded(
        self, session: SparkSession, frame: DataFrame, plan: ReadPlan, places: Sequence[GuardedPlace]
    ) -> DataFrame:
        restrictions = json.dumps([place.reported() for place in places])
        views = json.dumps(sorted({lower(view.parts) for view in plan.views}))
        try:
            guarded = self._java.guarded(session._jsparkSession, frame._jdf, restrictions, views)
        except (PySparkException, Py4JJavaError) as failure:
            # Its message may have the predicates and masks, which are for operators alone.
            log.warning("policies_do_not_fit", error=type(failure).__name__, exc_info=True)
            raise QueryFailed(DO_NOT_FIT) from None
        return DataFrame(guarded, session)


@contextmanager
def _settings(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Runs the block with other settings of the session. A plan that it analyzes keeps them."""
    before = {name: str(session.conf.get(name)) for name in settings}
    try:
        for name, value in settings.items():
            session._jconf.setConfString(name, value)
        yield
    finally:
        for name, value in before.items():
            session._jconf.setConfString(name, value)


@dataclass(frozen=True, slots=True)
class _Asked:
    session: SparkSession
    sql: str | None
    access: Access

    def has_definer(self, view: ReadView) -> bool:
        """Whether the view, or one around it, has a definer."""
        around = (*view.path, lower(view.parts))
        return any(self.access.definer_of(name_of(parts)) is not None for parts in around)


def _not_asked(view: ReadView) -> str | None:
    raise ViewChanged(view.name)
