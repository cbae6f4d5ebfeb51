"""Tables of dead letters in the catalogs, created for the first dead letter."""

from __future__ import annotations

from contextlib import suppress

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import TableAlreadyExistsError
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import DayTransform

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.check_unambiguous import check_unambiguous
from service.adapters.catalogs.iceberg_schemas import pyiceberg_schema
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.errors.table_errors import TableNotFound
from service.model.ingest.writing import MAIN, WritableTable
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import TableName

_FIRST_PARTITION_FIELD = 1000


class PyIcebergDeadLetterTables:
    """Implements `service.ports.tables.table_changes.DeadLetterTables`. New tables get the schema `schema`.

    They are partitioned by the day of their first column.
    """

    def __init__(self, catalogs: PyIcebergCatalogs, schema: TableSchema) -> None:
        self._catalogs = catalogs
        self._tables = PyIcebergWritableTables(catalogs)
        self._schema = schema

    def opened(self, name: TableName) -> WritableTable:
        """Returns the table of dead letters with this name, and creates it if it does not exist.

        Raises:
            CreationInvalid: the table cannot be created, because its name is ambiguous.
            CatalogDown: the catalog does not answer.
        """
        try:
            return self._tables.writable(name, MAIN)
        except TableNotFound:
            self._make(name)
            return self._tables.writable(name, MAIN)

    def _make(self, name: TableName) -> None:
        received = self._schema.columns[0]
        by_day = PartitionField(
            received.field_id, _FIRST_PARTITION_FIELD, DayTransform(), f"{received.name}_day"
        )
        identifier = name.parts[1:]

        def make(catalog: Catalog) -> None:
            check_unambiguous(catalog, name.schema.split("."), name.table)
            # Another gateway may create it first.
            with suppress(TableAlreadyExistsError):
                catalog.create_table(
                    identifier,
                    pyiceberg_schema(self._schema),
                    partition_spec=PartitionSpec(by_day),
                    properties={"format-version": "2"},
                )

        self._catalogs.ask(name.catalog, make)
