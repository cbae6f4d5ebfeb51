"""Finds the source columns of a result's columns."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

import structlog
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from service.model.query.lineage import ColumnLineage, ColumnSources, Influence, Source
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)


class ColumnLineageReader:
    """Asks `ColumnLineage.java` in the driver's JVM."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._gateway = gateway

    def read(self, frame: DataFrame) -> ColumnLineage | None:
        """Returns the source columns of the frame, by its text alone; None if they cannot be found."""
        try:
            return column_lineage(str(self._java.read(frame._jdf.queryExecution())))
        except (PySparkException, Py4JError, OSError, AttributeError) as failure:
            # The last one: another thread made PySpark forget the context in the meantime.
            log.warning("column_lineage_not_read", error=type(failure).__name__)
            return None

    @cached_property
    def _java(self) -> JavaObject:
        # Compiled on first use: most gateways never need it.
        return java_instance(self._gateway, "sluice.results.ColumnLineage")


def column_lineage(text: str) -> ColumnLineage | None:
    """Parses the reader's JSON; None if the plan was too large.

    >>> column_lineage("null")
    >>> lineage = column_lineage('[[["n", [["lake.a.t", "id", "AGGREGATION", true]]]], []]')
    >>> lineage.columns[0].sources
    (Source(table='lake.a.t', column='id', influence=<Influence.AGGREGATION: 'AGGREGATION'>, is_masked=True),)
    """
    reported = json.loads(text)
    if reported is None:
        return None
    columns, rows = reported
    return ColumnLineage(
        tuple(ColumnSources(name, _sources(sources)) for name, sources in columns), _sources(rows)
    )


def _sources(reported: list[list[Any]]) -> tuple[Source, ...]:
    return tuple(
        Source(table, column, Influence(kind), is_masked) for table, column, kind, is_masked in reported
    )
