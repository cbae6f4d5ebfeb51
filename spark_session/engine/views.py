"""The views of Spark's catalogs, in the gateway's terms."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pyspark.errors import AnalysisException, ParseException, PySparkException

from service.errors.gateway_error import CallerError
from service.errors.unavailable import CatalogDown
from service.model.tables.tables import TableName
from service.model.tables.views import View, ViewColumn, ViewReading
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.view_reader import ViewReader
from spark_session.session.warm_session import WarmSession


class SparkViews:
    """Implements `Views`; `session` returns the current session, if there is one."""

    def __init__(self, session: Callable[[], WarmSession | None]) -> None:
        self._session = session

    def view(self, name: TableName) -> View | None:
        """See `service.ports.tables.catalogs.Views`."""
        with self._asked(name.catalog) as reader:
            reported = json.loads(reader.view(name))
        if reported is None:
            return None
        return View(
            name,
            reported["sql"],
            reported["catalog"],
            tuple(reported["namespace"]),
            _columns(reported["columns"]),
        )

    def is_read_alike(self, reading: ViewReading) -> bool:
        """See `service.ports.tables.catalogs.Views`."""
        with self._asked(reading.view.name.catalog) as reader:
            try:
                found = json.loads(reader.columns_if_alike(reading))
            except (AnalysisException, ParseException, CallerError):
                # The view or the query cannot be read.
                return False
        return found is not None and _columns(found) == reading.view.columns

    @contextmanager
    def _asked(self, catalog: str) -> Iterator[ViewReader]:
        session = self._session()
        if session is None:
            raise CatalogDown(f"The catalog {catalog} does not answer: there is no engine now.")
        try:
            yield session.views
        except (PySparkException, *UNREACHABLE) as failure:
            raise CatalogDown(f"The catalog {catalog} does not answer.") from failure


def _columns(reported: Sequence[tuple[str, str]]) -> tuple[ViewColumn, ...]:
    return tuple(ViewColumn(name, type_name) for name, type_name in reported)
