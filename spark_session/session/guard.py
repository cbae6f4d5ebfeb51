"""Lets only queries through, as Spark's own parser reads them.

Another parser may read a text differently than Spark does, so Spark decides: every node of the statement's
tree must be one that queries are made of. A new kind of node in a later Spark is refused until it is listed
here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from service.errors import StatementNotAllowed, TableAmbiguous
from service.model.query.query import Parameters
from service.model.tables.reserved_names import RESERVED_PATTERN
from spark_session.bounds.growing_functions import RULES
from spark_session.bounds.plan_sizes import allow_plan, allow_tasks
from spark_session.bounds.query_bounds import QueryBounds
from spark_session.bounds.statement_bounds import allow_cube, allow_statement
from spark_session.bounds.value_sizes import FOLDING
from spark_session.java.java_source import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import DataFrame, SparkSession

QUERY_NODES = frozenset(
    {
        "Aggregate",
        "Distinct",
        "Except",
        "Filter",
        "Generate",
        "GlobalLimit",
        "Intersect",
        "Join",
        "LateralJoin",
        "LimitAll",
        "LocalLimit",
        "LocalRelation",
        "Offset",
        "OneRowRelation",
        "PipeOperator",
        "Pivot",
        "Project",
        "RelationTimeTravel",
        "RepartitionByExpression",
        "Sample",
        "Sort",
        "SubqueryAlias",
        "Union",
        "Unpivot",
        "UnresolvedHaving",
        "UnresolvedHint",
        "UnresolvedInlineTable",
        "UnresolvedRelation",
        "UnresolvedSubqueryColumnAliases",
        "UnresolvedTVFAliases",
        "UnresolvedTableValuedFunction",
        "UnresolvedWith",
        "WithWindowDefinition",
    }
)

# Options for a table's version and the size of its splits. Others may redirect a table of files to any
# folder.
READ_OPTIONS = frozenset(
    {
        "as-of-timestamp",
        "batch-size",
        "branch",
        "end-snapshot-id",
        "file-open-cost",
        "locality",
        "lookback",
        "snapshot-id",
        "split-size",
        "start-snapshot-id",
        "tag",
        "vectorization-enabled",
    }
)


class Guard:
    """Asks `StatementReader.java` in the driver's JVM what a statement is made of."""

    def __init__(self, gateway: JavaGateway, bounds: QueryBounds | None = None) -> None:
        self._reader = java_instance(gateway, "StatementReader", "CallReader")
        self._sizes = java_instance(gateway, "PlanSizes", "ColumnGrowth")
        self._planted = java_instance(gateway, "PlantedTables")
        self._bounds = bounds or QueryBounds()
        self._functions = gateway.jvm.java.util.HashSet()
        for name in (*RULES, *FOLDING):
            self._functions.add(name)

    def allow_queries_only(self, session: SparkSession, sql: str, parameters: Parameters = ()) -> None:
        """Checks that the text is one query whose values stay within their bounds.

        Raises:
            StatementNotAllowed: it is, or holds, something else.
            QueryTooLarge: a clause or function asks for too much.
            ReadOptionInvalid: a read option has a value that it does not take.
            ParseException: Spark cannot parse it.
        """
        allow_cube(self._reader.largestCube(sql), self._bounds)
        parser = session._jsparkSession.sessionState().sqlParser()
        found = json.loads(self._reader.read(parser, sql, self._functions))
        allow_nodes(found["nodes"])
        allow_relations(found["relations"])
        allow_options(name for name, _ in found["options"])
        allow_statement(found, parameters, self._bounds)

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

    def allow_reading_only(self, frame: DataFrame) -> None:
        """Checks that the analyzed frame, which contains its views' plans by now, only reads.

        Raises:
            StatementNotAllowed: a view runs a program or a command.
            TableAmbiguous: a table or view lies where the metadata, or a version, of another table is read.
        """
        if self._reader.isRunningCode(frame._jdf):
            raise StatementNotAllowed("A view that this query reads runs a program or a command.")
        planted = self._planted.firstOf(frame._jdf, RESERVED_PATTERN)
        if planted is not None:
            raise TableAmbiguous(planted)


def allow_nodes(nodes: Sequence[str]) -> None:
    """Checks that every node is one of a query.

    >>> allow_nodes(["Project", "UnresolvedRelation"])
    >>> allow_nodes(["DropTable", "UnresolvedIdentifier"])
    Traceback (most recent call last):
    service.errors.StatementNotAllowed: Only queries may be sent, and Spark reads DropTable in this one.
    """
    for node in nodes:
        if node not in QUERY_NODES:
            raise StatementNotAllowed(f"Only queries may be sent, and Spark reads {node} in this one.")


def allow_relations(relations: Sequence[Sequence[str]]) -> None:
    """Checks that every relation is named, not reached by its path.

    Iceberg's Spark catalogs open any folder whose path is given as a table's name.

    >>> allow_relations([["lake", "tpcds", "item"]])
    >>> allow_relations([["lake", "/etc/table"]])
    Traceback (most recent call last):
    service.errors.StatementNotAllowed: Tables are read by name; a path is not accepted as a table's name.
    """
    if any("/" in part for parts in relations for part in parts):
        raise StatementNotAllowed("Tables are read by name; a path is not accepted as a table's name.")


def allow_options(names: Iterable[str]) -> None:
    """Checks that callers may give every option that a table is read with.

    >>> allow_options(["branch"])
    >>> allow_options(["path"])
    Traceback (most recent call last):
    service.errors.StatementNotAllowed: A table may not be read with the option 'path' here.
    """
    for name in names:
        if name.lower() not in READ_OPTIONS:
            raise StatementNotAllowed(f"A table may not be read with the option {name!r} here.")
