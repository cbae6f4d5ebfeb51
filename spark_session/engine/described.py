"""Describes one query in a child session: its columns and parameters. Nothing runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from service.errors.statement_errors import ParameterUnused
from service.model.query.description import Description, ParameterType, type_of_value
from service.model.query.query import Parameter, Parameters
from service.ports.engine.query_engine import Statement
from spark_session.engine.analyzed import analyzed
from spark_session.engine.in_session import child_of
from spark_session.engine.metadata.explained import PLAN
from spark_session.results.result_types import result_columns
from spark_session.session.parameters import spark_arguments
from spark_session.session.warm_session import WarmSession


def described(session: WarmSession, statement: Statement) -> Description:
    """Returns the columns that a run would have, and the types of the parameters as far as Spark knows them.

    Raises:
        CallerError: it is not a query, or a value does not fit its parameter.
        PySparkException: Spark refused it.
    """
    with child_of(session, statement) as child:
        names = session.parameter_types.names(child, statement.sql)
        given = _given(statement.parameters, names)
        asked: list[DataFrame] = []

        def ask(own: SparkSession, known: Statement) -> DataFrame:
            asked.append(session.parameter_types.analyzed(own, known.sql, _values(given)))
            return asked[-1]

        frame, _ = analyzed(session, child, replace(statement, parameters=given), ask=ask)
        types = session.parameter_types.types(asked[0])
        schema = frame.schema if statement.explain is None else PLAN
        return Description(
            result_columns(schema), tuple(ParameterType(name, _type(name, given, types)) for name in names)
        )


def _given(parameters: Parameters, names: Sequence[str]) -> Mapping[str, Parameter]:
    if isinstance(parameters, Mapping):
        given = parameters
    else:
        given = {str(number): parameter for number, parameter in enumerate(parameters, start=1)}
    unused = next((name for name in given if name not in names), None)
    if unused is not None:
        raise ParameterUnused(f"The SQL text has no parameter {unused}. Remove its value.")
    return given


def _values(given: Mapping[str, Parameter]) -> Mapping[str, Any]:
    values = spark_arguments(given)
    assert isinstance(values, dict)  # as for every mapping
    return values


def _type(name: str, given: Mapping[str, Parameter], types: Mapping[str, str | None]) -> str | None:
    if name in given:
        return given[name].type_name or type_of_value(given[name].value)
    return types.get(name)
