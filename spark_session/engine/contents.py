"""The schemas and views of Spark's catalogs, in the gateway's terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException

from service.errors.unavailable import CatalogDown
from service.model.tables.contents import SchemaEntry
from service.model.tables.tables import TableName
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.catalog_contents import CatalogContents
from spark_session.session.warm_session import WarmSession
from spark_session.spark_errors import causes_of

MAX_ENTRIES = 100_000
"""More schemas of a catalog, or views of a schema, are not listed."""
_NO_SCHEMA = "org.apache.iceberg.exceptions.NoSuchNamespaceException"
"""How Iceberg's catalogs refuse a schema, instead of Spark's own exception."""


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
            except (AnalysisException, Py4JJavaError) as failure:
                if isinstance(failure, Py4JJavaError) and not _is_no_schema(failure):
                    raise
                # There is no such schema, or it was dropped.
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


def _is_no_schema(failure: Py4JJavaError) -> bool:
    return any(str(cause.getClass().getName()) == _NO_SCHEMA for cause in causes_of(failure))
