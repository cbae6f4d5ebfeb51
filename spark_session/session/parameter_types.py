"""The parameters of a query, and the types that Spark gives to those without a value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway


class ParameterTypes:
    """Asks `ParameterTypes.java` in the driver's JVM."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._gateway = gateway
        self._java = java_instance(gateway, "sluice.statements.ParameterTypes")

    def names(self, session: SparkSession, sql: str) -> Sequence[str]:
        """Returns the names of a text's parameters; positional ones are numbers from 1 on.

        Raises:
            ParseException: Spark cannot parse it.
        """
        names: Sequence[str] = json.loads(self._java.names(session._jsparkSession, sql))
        return names

    def analyzed(self, session: SparkSession, sql: str, values: Mapping[str, Any]) -> DataFrame:
        """Returns the analyzed query; a parameter without a value is a NULL.

        Raises:
            PySparkException: Spark refused it.
        """
        columns = self._gateway.jvm.java.util.HashMap()
        for name, value in values.items():
            columns[name] = (value if isinstance(value, Column) else F.lit(value))._jc
        return DataFrame(self._java.analyzed(session._jsparkSession, sql, columns), session)

    def types(self, frame: DataFrame) -> Mapping[str, str | None]:
        """Returns the types of the parameters without a value, by name; None: no type, or several."""
        types: Mapping[str, str | None] = json.loads(self._java.types(frame._jdf))
        return types
