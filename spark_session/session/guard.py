"""Lets only queries through, as Spark's own parser and analyzer read them.

Another parser may read a text differently than Spark does, so Spark decides: every node, function and option
of the statement must be one that the tables of `spark_session.vetting` allow. Anything that a later Spark
adds is refused until it is listed there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from service.errors.statement_errors import StatementNotAllowed
from service.errors.table_errors import TableAmbiguous
from service.model.query.query import Parameters
from service.model.tables.reserved_names import RESERVED_PATTERN
from spark_session.bounds.growing_functions import RULES
from spark_session.bounds.plan_sizes import allow_plan, allow_tasks
from spark_session.bounds.query_bounds import QueryBounds
from spark_session.bounds.statement_bounds import allow_cube, allow_statement
from spark_session.bounds.value_sizes import FOLDING, LOOPS
from spark_session.java.own_classes import java_instance
from spark_session.vetting.expressions import CALCULATING, CALLED_CLASSES
from spark_session.vetting.functions import OFFERED, OFFERED_TABLE_FUNCTIONS
from spark_session.vetting.options import TAKEN_FORMAT_OPTIONS
from spark_session.vetting.plan_nodes import ANALYZED
from spark_session.vetting.state_functions import STATE_EXPRESSIONS, vet_state_statement
from spark_session.vetting.vet import vet_statement, vet_write
from spark_session.vetting.vetted_writes import INSTRUCTIONS, WRITING

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import DataFrame, SparkSession

    from spark_session.session.write_statements import WritePlan


class Guard:
    """Asks `StatementReader.java` in the driver's JVM what a statement is made of."""

    def __init__(self, gateway: JavaGateway, bounds: QueryBounds | None = None) -> None:
        self._reader = java_instance(gateway, "sluice.statements.StatementReader")
        self._sizes = java_instance(gateway, "sluice.statements.PlanSizes")
        self._planted = java_instance(gateway, "sluice.statements.PlantedTables")
        self._plans = java_instance(gateway, "sluice.statements.PlanVetting")
        self._plans.allow(*map(" ".join, (ANALYZED, CALCULATING, TAKEN_FORMAT_OPTIONS, CALLED_CLASSES)))
        self._states = java_instance(gateway, "sluice.statements.PlanVetting")
        values = CALCULATING | STATE_EXPRESSIONS
        self._states.allow(*map(" ".join, (ANALYZED, values, TAKEN_FORMAT_OPTIONS, CALLED_CLASSES)))
        self._writes = java_instance(gateway, "sluice.statements.PlanVetting")
        nodes, values = ANALYZED | WRITING, CALCULATING | INSTRUCTIONS
        self._writes.allow(*map(" ".join, (nodes, values, TAKEN_FORMAT_OPTIONS, CALLED_CLASSES)))
        self._bounds = bounds or QueryBounds()
        self._functions = gateway.jvm.java.util.HashSet()
        for name in {*RULES, *FOLDING, *LOOPS}:
            self._functions.add(name)

    def allow_queries_only(self, session: SparkSession, sql: str, parameters: Parameters = ()) -> None:
        """Checks that the text is one query whose values stay within their bounds.

        Raises:
            StatementNotAllowed: it is, or holds, something else.
            SqlInvalid: it calls a function that does not exist.
            QueryTooLarge: a clause or function asks for too much.
            ReadOptionInvalid: a read option has a value that it does not take.
            ParseException: Spark cannot parse it.
        """
        self.allow(self.read(session, sql), parameters)

    def read(self, session: SparkSession, sql: str) -> Mapping[str, Any]:
        """Returns what the text is made of, as `StatementReader.java` reports it. Its root is the first node.

        Raises:
            QueryTooLarge: a CUBE has too many columns to parse it.
            ParseException: Spark cannot parse it.
        """
        allow_cube(self._reader.largestCube(sql), self._bounds)
        parser = session._jsparkSession.sessionState().sqlParser()
        found: Mapping[str, Any] = json.loads(self._reader.read(parser, sql, self._functions))
        return found

    def allow(self, found: Mapping[str, Any], parameters: Parameters = ()) -> None:
        """Checks what was read of a text, as `allow_queries_only` does.

        Raises:
            StatementNotAllowed, SqlInvalid, QueryTooLarge, ReadOptionInvalid: as `allow_queries_only`.
        """
        vet_statement(found)
        allow_statement(found, parameters, self._bounds)

    def allow_of_state(self, found: Mapping[str, Any], parameters: Parameters = ()) -> None:
        """Checks the same of a statement about a state, which may call functions of our own.

        Raises:
            StatementNotAllowed, SqlInvalid, QueryTooLarge, ReadOptionInvalid: as `allow_queries_only`.
        """
        vet_state_statement(found)
        allow_statement(found, parameters, self._bounds)

    def allow_write(self, found: Mapping[str, Any], parameters: Parameters = ()) -> None:
        """Checks what was read of a statement that writes, its queries as `allow` does.

        Raises:
            StatementNotAllowed, SqlInvalid, QueryTooLarge, ReadOptionInvalid: as `allow_queries_only`.
        """
        vet_write(found)
        allow_statement(found, parameters, self._bounds)

    def allow_writing(self, plan: WritePlan) -> None:
        """Checks that an analyzed statement only writes what it says, and otherwise only reads.

        Raises:
            StatementNotAllowed: a view, or a function of a catalog, holds something else.
            TableAmbiguous: a table or view lies where the metadata, or a version, of another table is read.
            QueryTooLarge: it asks for more partitions, or copies of rows, than allowed.
        """
        if (refused := plan.refused_in(self._writes)) is not None:
            raise StatementNotAllowed(
                f"This statement, or a view or function in it, holds {refused}, which is not part of a write"
                " here."
            )
        if (planted := plan.planted(RESERVED_PATTERN)) is not None:
            raise TableAmbiguous(planted)
        allow_plan(json.loads(plan.sizes()), self._bounds)

    def keep_functions(self) -> None:
        """Drops each function that is not offered. Sessions that are created from now on do not have it.

        No property of Spark does that. It also holds for texts of views.
        """
        self._plans.keepFunctions(" ".join(OFFERED), " ".join(OFFERED_TABLE_FUNCTIONS))

    def allow_size(self, frame: DataFrame) -> None:
        """Checks that the analyzed frame asks for no more partitions and copies of rows than allowed.

        Raises:
            QueryTooLarge: it asks for more.
        """
        allow_plan(json.loads(self._sizes.analyzed(frame._jdf)), self._bounds)

    def allow_planned(self, frame: DataFrame) -> None:
        """Checks that the planned frame has no more tasks than allowed.

        Raises:
            QueryTooLarge: it has more.
        """
        allow_tasks(json.loads(self._sizes.planned(frame._jdf)), self._bounds)

    def allow_reading_only(self, frame: DataFrame, *, is_of_state: bool = False) -> None:
        """Checks that the analyzed frame, which contains its views' plans by now, only reads.

        `is_of_state`: it may call functions of our own.

        Raises:
            StatementNotAllowed: a view, or a function of a catalog, holds something else.
            TableAmbiguous: a table or view lies where the metadata, or a version, of another table is read.
        """
        plans = self._states if is_of_state else self._plans
        if (refused := plans.refusedIn(frame._jdf)) is not None:
            raise StatementNotAllowed(
                f"A view or function that this query uses holds {refused}, which is not part of a query here."
            )
        planted = self._planted.firstOf(frame._jdf, RESERVED_PATTERN)
        if planted is not None:
            raise TableAmbiguous(planted)
