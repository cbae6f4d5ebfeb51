"""Functions of our own in the sessions of statements about states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from service.model.query.refresh import StateFunction
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway


class StateFunctions:
    """Adds each `StateFunction` to a session. A session is used once, so no caller's query finds them."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._java = java_instance(gateway, "sluice.refresh.StateFunctions")

    def add(self, child: SparkSession) -> None:
        """Lets statements in this session call them."""
        self._java.add(
            child._jsparkSession,
            StateFunction.READ_REGISTERS.value,
            StateFunction.MERGE_REGISTERS.value,
            StateFunction.ESTIMATE_DISTINCT.value,
        )
