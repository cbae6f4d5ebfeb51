"""Statements that write, as Spark reads and analyzes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from service.model.policies.read_plan import ReadPlan
from service.model.query.query import Parameters
from service.model.writes.procedure_calls import ArgumentKind, ProcedureArgument, ProcedureCall
from spark_session.java.own_classes import java_instance
from spark_session.session.parameters import spark_arguments

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject


@dataclass(frozen=True, slots=True)
class ParsedWrite:
    """A statement that writes: its class in Spark, and the full name of its target.

    `options` are the names of those that the target has in the text. The rest is of statements that change a
    catalog: the new name of a table, the properties that are set (None: taken away), words for what such
    a statement may not have here, and the text of a view. `is_kept`: a view that exists stays as it is.
    `call` is the procedure of a CALL.
    """

    kind: str
    target: tuple[str, ...] | None
    options: tuple[str, ...]
    is_overwrite: bool
    is_in_iceberg: bool = True
    renamed_to: tuple[str, ...] | None = None
    properties: Mapping[str, str | None] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    query: str | None = None
    is_kept: bool = False
    call: ProcedureCall | None = None


class WritePlan:
    """An analyzed statement that has not run."""

    def __init__(self, java: JavaObject, session: SparkSession) -> None:
        self._java = java
        self._session = session

    def refused_in(self, vetting: JavaObject) -> str | None:
        """Returns what `PlanVetting.java` finds in it that it may not have; None if there is nothing."""
        found: str | None = self._java.refusedIn(vetting)
        return found

    def planted(self, reserved: str) -> str | None:
        """Returns the first relation whose name is also that of another table's metadata, if there is one."""
        found: str | None = self._java.planted(reserved)
        return found

    def sizes(self) -> str:
        """Returns the JSON of `PlanSizes.java`."""
        return str(self._java.sizes())

    def reads(self) -> ReadPlan:
        """Returns all that it reads; a table that it changes is among it."""
        return ReadPlan.of(self._java.reads())

    def is_into(self, parts: Sequence[str]) -> bool:
        """Whether its target is the Iceberg table of this full name, and not a part or branch of it."""
        return bool(self._java.isInto(list(parts)))

    def run(self, mark: str, value: str) -> DataFrame:
        """Runs it once, to its end; its snapshot has the mark. The frame's plan has its scans.

        Raises:
            PySparkException, Py4JJavaError: it failed. It may have been committed all the same.
        """
        return DataFrame(self._java.run(mark, value), self._session)


class SqlWrites:
    """Asks `SqlWrites.java` in the driver's JVM."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._gateway = gateway

    def read(self, session: SparkSession, sql: str) -> ParsedWrite:
        """Returns what the statement writes to.

        Raises:
            ParseException: Spark cannot parse it.
        """
        found: Mapping[str, Any] = json.loads(self._java.read(session._jsparkSession, sql))
        target = found["target"]
        return ParsedWrite(
            found["kind"],
            None if target is None else tuple(target),
            tuple(found["options"]),
            bool(found["isOverwrite"]),
            bool(found["isInIceberg"]),
            None if found["renamedTo"] is None else tuple(found["renamedTo"]),
            found["properties"],
            (*found["faults"], *found["unkept"]),
            found["query"],
            bool(found["isKept"]),
            None if found["procedure"] is None else _call(found["procedure"], found["arguments"]),
        )

    def source(self, session: SparkSession, sql: str, parameters: Parameters) -> DataFrame:
        """Returns the analyzed query whose rows the statement writes.

        Raises:
            PySparkException: Spark refused it.
        """
        names, values = _bound(parameters)
        return DataFrame(self._java.source(session._jsparkSession, sql, names, values), session)

    def insert(self, session: SparkSession, sql: str, rows: DataFrame) -> WritePlan:
        """Returns the analyzed INSERT of these rows in place of those of its own query.

        Raises:
            PySparkException: Spark refused it.
        """
        return WritePlan(self._java.insert(session._jsparkSession, sql, rows._jdf), session)

    def create(self, session: SparkSession, sql: str, rows: DataFrame) -> WritePlan:
        """Returns the analyzed CREATE or REPLACE TABLE of these rows in place of those of its own query.

        Raises:
            PySparkException: Spark refused it.
        """
        return WritePlan(self._java.create(session._jsparkSession, sql, rows._jdf), session)

    def define(self, session: SparkSession, sql: str) -> WritePlan | None:
        """Returns the analyzed statement that changes a catalog, and reads no rows.

        None: it is ALTER VIEW, and Iceberg has no such view.

        Raises:
            PySparkException: Spark refused it.
        """
        java = self._java.define(session._jsparkSession, sql)
        return None if java is None else WritePlan(java, session)

    def change(self, session: SparkSession, sql: str, parameters: Parameters) -> WritePlan:
        """Returns the analyzed DELETE, UPDATE or MERGE.

        Raises:
            PySparkException: Spark refused it.
        """
        names, values = _bound(parameters)
        return WritePlan(self._java.change(session._jsparkSession, sql, names, values), session)

    @cached_property
    def _java(self) -> JavaObject:
        # Not made unless a caller writes.
        return java_instance(self._gateway, "sluice.writes.SqlWrites")


def _call(name: Sequence[str], arguments: Sequence[Mapping[str, Any]]) -> ProcedureCall:
    read = (
        ProcedureArgument((each["name"] or "").lower(), ArgumentKind(each["kind"]), each.get("value"))
        for each in arguments
    )
    return ProcedureCall(tuple(name), tuple(read))


def _bound(parameters: Parameters) -> tuple[list[str], list[JavaObject]]:
    """Returns the names of named parameters, and all values as columns of Spark."""
    given = spark_arguments(parameters)
    if isinstance(given, dict):
        return list(given), [_column(value) for value in given.values()]
    return [], [_column(value) for value in given]


def _column(value: Any) -> JavaObject:
    column: Any = value if isinstance(value, Column) else F.lit(value)
    java: JavaObject = column._jc
    return java
