"""Reads what a text depends on besides the rows of its tables, and the states of its views."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.model.policies.read_plan import Parts, ReadPlan, lower, name_of
from service.model.query.reuse import PlanReads, PlanShape, QueryFacts, Reusability, TableRead
from service.model.tables.tables import TableName
from spark_session.java.own_classes import java_instance
from spark_session.session.view_definitions import ViewDefinitions, ViewText, definition_of
from spark_session.vetting.repeatable_plans import reusability_of

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

VIEW = "View"
ViewTexts = Mapping[Parts, ViewText | None]


@dataclass(frozen=True, slots=True)
class AnalyzedFacts:
    """The facts of a result that the analyzed plan of its query has."""

    reusability: Reusability
    reads: PlanReads
    shape: PlanShape


class ReuseFacts:
    """Asks `ReuseFacts.java` in the driver's JVM, and `definitions` about views."""

    def __init__(self, gateway: JavaGateway, definitions: ViewDefinitions) -> None:
        self._java = java_instance(gateway, "sluice.reuse.ReuseFacts")
        self._definitions = definitions

    def of(self, frame: DataFrame, *, ignores_views: bool = False) -> AnalyzedFacts:
        """Returns whether the analyzed query gives the same result each time, and what it reads.

        With `ignores_views`, its caller knows what the views of the session catalog and of the session read.
        """
        found = json.loads(self._java.analyzed(frame._jdf))
        if ignores_views:
            found["nodes"] = [name for name in found["nodes"] if name != VIEW]
        shape = PlanShape(
            frozenset(found["nodes"]),
            frozenset(found["aggregates"]),
            found["aggregations"],
            frozenset(found["belowAggregations"]),
        )
        return AnalyzedFacts(reusability_of(found), _plan_reads(found), shape)

    def reads(self, frame: DataFrame) -> PlanReads | None:
        """Returns the tables as a query that has run read them; None if the engine no longer can tell."""
        try:
            return _plan_reads(json.loads(self._java.planned(frame._jdf)))
        except (PySparkException, Py4JError, OSError, AssertionError, AttributeError):
            # The last two: another thread made PySpark forget the context in the meantime.
            return None

    def are_alike(self, one: DataFrame, other: DataFrame) -> bool:
        """Whether both have the same plan and columns once their common table expressions are inlined."""
        return bool(self._java.areAlike(one._jdf, other._jdf))

    def view_texts(self, session: SparkSession, plan: ReadPlan) -> ViewTexts:
        """Returns all views of the plan as they are now.

        Raises:
            PySparkException, Py4JError: a catalog does not answer.
        """
        return self._definitions.read(session, {view.parts for view in plan.views})

    def states_of(self, session: SparkSession, views: Collection[TableName]) -> Mapping[TableName, str]:
        """Returns the state of each view that exists, if its catalog says when it changed it.

        Raises:
            PySparkException, Py4JError: a catalog does not answer.
        """
        found = self._definitions.read(session, {view.parts for view in views})
        return {name_of(parts): text.state for parts, text in found.items() if text is not None}


def facts_of(plan: ReadPlan, analyzed: AnalyzedFacts, texts: ViewTexts) -> QueryFacts:
    """Returns the facts of a query with this plan, whose views are known."""
    reusability = analyzed.reusability
    known = {parts: text for parts, text in texts.items() if text is not None}
    if len(known) < len(texts) or _has_selector(plan):
        reusability = Reusability.OTHER_SOURCE
    return QueryFacts(
        plan,
        reusability,
        {name_of(parts): text.state for parts, text in known.items()},
        dict(_definitions_of(plan, texts)),
        tuple(json.loads(text.text)[0] for text in known.values()),
        analyzed.reads.tables,
        analyzed.shape,
    )


def _plan_reads(found: Mapping[str, Any]) -> PlanReads:
    return PlanReads(tuple(map(_table_read, found["reads"])), has_others=bool(found["others"]))


def _table_read(found: Mapping[str, Any]) -> TableRead:
    return TableRead(
        name_of(found["name"]),
        UUID(found["uuid"]),
        found["schemaId"],
        found["location"] or "",
        found["snapshotId"],
        found["isVersion"],
        found["hasOptions"],
    )


def _definitions_of(plan: ReadPlan, texts: ViewTexts) -> Iterator[tuple[Parts, str]]:
    for view in plan.views:
        below = plan.below(view)
        if below <= texts.keys():
            found = definition_of(view.parts, {parts: texts[parts] for parts in below})
            if found is not None:
                yield view.parts, found


def _has_selector(plan: ReadPlan) -> bool:
    """Whether a name selects a version: a table of that name would take its place, without a commit."""
    return any(lower(table.parts) != lower(table.name.parts) for table in plan.tables)
