"""The tables of Spark's own catalog, in the gateway's terms."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid5

from pyspark.errors import PySparkException

from service.errors.unavailable import CatalogDown
from service.model.tables.tables import PartitionField, TableColumn, TableFacts, TableName, TableSource
from spark_session.java.jvm import UNREACHABLE
from spark_session.results.session_table_reader import SessionTableReader
from spark_session.session.warm_session import WarmSession

CATALOG = "spark_catalog"
_NAMESPACE = UUID("6f0a3c52-9a1f-4f0e-8f4c-0b1c6a7d2e55")
_TYPES: Mapping[str, str] = {
    # Spark widens these numbers to INT before it compares them with any other.
    "tinyint": "int",
    "smallint": "int",
    "bigint": "long",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
}


class SparkSessionTables:
    """Implements `SessionTables`; `session` returns the current session, if there is one.

    After each new listing of a table, `on_listed` gets the values of its partitions in each column, as text,
    or None for NULL. It gets no column if there are more than `max_partitions`.
    """

    def __init__(
        self,
        session: Callable[[], WarmSession | None],
        on_listed: Callable[[TableFacts, Mapping[str, Sequence[str | None]]], None],
        max_partitions: int,
    ) -> None:
        self._session = session
        self._on_listed = on_listed
        self._max_partitions = max_partitions

    def check(self) -> None:
        """See `service.ports.tables.catalogs.SessionTables`."""
        with self._asked() as reader:
            reader.check()

    def tables(self) -> Sequence[TableName]:
        """See `service.ports.tables.catalogs.SessionTables`."""
        with self._asked() as reader:
            found = json.loads(reader.tables())
        return [TableName(CATALOG, schema, table) for schema, table in found]

    def facts(self, name: TableName, max_age_ms: int) -> TableFacts | None:
        """See `service.ports.tables.catalogs.SessionTables`."""
        with self._asked() as reader:
            reported = reader.table(name, max_age_ms, self._max_partitions)
        found = json.loads(reported)
        if found is None:
            return None
        facts = _facts(name, found)
        if found["partitionValues"] is not None:
            self._on_listed(facts, found["partitionValues"])
        return facts

    @contextmanager
    def _asked(self) -> Iterator[SessionTableReader]:
        session = self._session()
        if session is None:
            raise CatalogDown(f"The catalog {CATALOG} does not answer: there is no engine now.")
        try:
            yield session.tables
        except (PySparkException, *UNREACHABLE) as failure:
            raise CatalogDown(f"The catalog {CATALOG} does not answer.") from failure


def type_name(spark_type: str) -> str:
    """Returns Iceberg's name of a type of Spark's catalog; a type that Iceberg does not have stays as it is.

    >>> type_name("bigint"), type_name("decimal(7,2)"), type_name("timestamp_ntz"), type_name("char(3)")
    ('long', 'decimal(7, 2)', 'timestamp', 'char(3)')
    """
    if spark_type.startswith("decimal("):
        return ", ".join(part.strip() for part in spark_type.split(","))
    return _TYPES.get(spark_type, spark_type)


def _is_read_alike(reported: Mapping[str, Any]) -> bool:
    """Whether a partition's value is the same to a predicate on it and in the rows.

    For a folder `price=2` in a DECIMAL(7, 2), Spark reads 2.00 for the one and 0.02 for the other, unless the
    value comes from a metastore.
    """
    types = {column: spark_type for column, spark_type, _, _ in reported["columns"]}
    by_decimals = any(types[column].startswith("decimal") for column in reported["partitionColumns"])
    return bool(reported["isTracked"]) or not by_decimals


def _facts(name: TableName, reported: Mapping[str, Any]) -> TableFacts:
    columns = tuple(
        TableColumn(position, column, type_name(spark_type), not is_nullable, comment)
        for position, (column, spark_type, is_nullable, comment) in enumerate(reported["columns"], start=1)
    )
    listing = reported["listing"] if _is_read_alike(reported) else None
    _, files, size, state, _ = listing or (0, 0, 0, "", False)
    shape = json.dumps([reported["columns"], reported["partitionColumns"], reported["createdAt"]])
    identity = json.dumps([str(name), reported["location"], shape, state])
    return TableFacts(
        name=name,
        table_uuid=uuid5(_NAMESPACE, identity),
        format_version=0,
        location=reported["location"],
        schema_id=zlib.crc32(shape.encode()),
        spec_id=0,
        snapshot_id=None,
        columns=columns,
        partition_fields=tuple(
            PartitionField(column, column, "identity") for column in reported["partitionColumns"]
        ),
        sort_fields=(),
        snapshots=(),
        record_count=reported["rows"],
        data_file_count=files,
        total_bytes=size,
        source=TableSource.OTHER if listing is None else TableSource.FILES,
    )
