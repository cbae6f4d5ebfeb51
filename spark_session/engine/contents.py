"""The schemas and views of Spark's catalogs, in the gateway's terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pyspark.errors import AnalysisException, PySparkException

from service.errors.unavailable import CatalogDown
from service.model.tables.contents import SchemaEntry
from service.model.tables.tables import TableName
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.catalog_contents import CatalogContents
from spark_session.session.warm_session import WarmSession

MAX_ENTRIES = 100_000
"""More schemas of a catalog, or views of a schema, are not listed."""


class SparkContents:
    """Implements `CatalogContents`; `session` returns the current session, if there is one."""

    def __init__(self, session: Callable[[], WarmSession | None]) -> None:
        self._session = session

    def schemas(self, catalog: str) -> Sequence[SchemaEntry]:
        """See `service.ports.tables.catalogs.CatalogContents`."""
        with self._asked(catalog) as contents:
            found = contents.schemas(catalog, MAX_ENTRIES)
        return [SchemaEntry(catalog, ".".join(levels), comment) for levels, comment in found]

    def views(self, catalog: str, schema: str) -> Sequence[TableName]:
        """See `service.ports.tables.catalogs.CatalogContents`."""
        with self._asked(catalog) as contents:
            try:
                names = contents.views(catalog, schema, MAX_ENTRIES)
            except AnalysisException:
                # The schema was dropped.
                return []
        return [TableName(catalog, schema, name) for name in names]

    @contextmanager
    def _asked(self, catalog: str) -> Iterator[CatalogContents]:
        session = self._session()
        if session is None:
            raise CatalogDown(f"The catalog {catalog} does not answer: there is no engine now.")
        try:
            yield session.contents
        except (PySparkException, *UNREACHABLE) as failure:
            raise CatalogDown(f"The catalog {catalog} does not answer.") from failure
