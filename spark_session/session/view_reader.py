"""Asks the driver's JVM about views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from service.model.tables.reserved_names import RESERVED_PATTERN
from service.model.tables.tables import TableName
from service.model.tables.views import ViewReading
from spark_session.java.own_classes import java_instance
from spark_session.session.child_sessions import ChildSessions
from spark_session.session.guard import Guard
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

JOB_TAG = "views"
NOT_ALIKE = "null"


class ViewReader:
    """Asks `ViewReader.java`."""

    def __init__(
        self, gateway: JavaGateway, root: SparkSession, children: ChildSessions, guard: Guard
    ) -> None:
        self._java = java_instance(gateway, "sluice.statements.ViewReader")
        self._root = root
        self._children = children
        self._guard = guard

    def view(self, name: TableName) -> str:
        """Returns one view, in the JSON of `ViewReader.java`.

        Raises:
            PySparkException, Py4JError: its catalog does not answer.
        """
        session = self._root._jsparkSession
        return str(self._java.view(session, name.catalog, name.schema, name.table, RESERVED_PATTERN))

    def columns_if_alike(self, reading: ViewReading) -> str:
        """Returns the query's columns, in the JSON of `ViewReader.java`, if Spark reads it like the view.

        Raises:
            StatementNotAllowed: it is not a query.
            AnalysisException: the view cannot be read, or the query.
            PySparkException, Py4JError: a catalog does not answer.
        """
        with self._children.taken(reading.catalog, reading.schema, JOB_TAG) as child:
            self._guard.allow_queries_only(child, reading.sql)
            if self._java.isOpen(child._jsparkSession, reading.sql):
                return NOT_ALIKE
            view = child.sql(f"SELECT * FROM {table_sql_name(reading.view.name)}")
            return str(self._java.columnsIfAlike(view._jdf, child.sql(reading.sql)._jdf))
