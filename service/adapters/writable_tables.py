"""Tables as those see them who write to them, through PyIceberg."""

from __future__ import annotations

from collections.abc import Mapping

from pyiceberg.table import Table

from service.adapters.catalogs import PyIcebergCatalogs
from service.adapters.data_files.writer_state import WriterState
from service.adapters.iceberg_schemas import table_schema
from service.model.tables import TableName
from service.model.writing import TableKey, WritableTable

# What storage is reached with. A catalog's own address and password are none of a writer's business.
_STORAGE_PREFIXES = ("s3.", "gcs.", "adls.", "hdfs.", "hf.", "client.", "io.")
_STORAGE_NAMES = frozenset({"py-io-impl"})
# Where the catalog signs each request to S3, it has to be asked.
_SIGNER = "s3.signer"
_SIGNER_NAMES = frozenset({"uri", "token", "credential"})


class PyIcebergWritableTables:
    """Implements `service.ingest_ports.WritableTables`."""

    def __init__(self, catalogs: PyIcebergCatalogs) -> None:
        self._catalogs = catalogs

    def writable(self, name: TableName, branch: str) -> WritableTable:
        """The table as it is now; a branch that is not there yet is made by the first commit to it.

        Raises:
            TableNotFound: there is none of that name (`nearest` is filled).
            CatalogDown: the catalog does not answer.
        """
        opened = self._catalogs.opened(name)
        table = opened.table
        return WritableTable(
            TableKey(name, branch),
            table.metadata.table_uuid,
            table.metadata.format_version,
            table_schema(table.schema()),
            table.spec().spec_id,
            opened.facts.partition_fields,
            opened.facts.sort_fields,
            writer_state(table).encoded(),
        )


def writer_state(table: Table) -> WriterState:
    """All that a writer needs of a table as PyIceberg has opened it."""
    return WriterState(
        table.schema(),
        table.spec(),
        table.sort_order(),
        table.location(),
        {key: value for key, value in table.properties.items() if key.startswith("write.")},
        _storage_properties(table.io.properties),
    )


def _storage_properties(properties: Mapping[str, str]) -> dict[str, str]:
    names = _STORAGE_NAMES | (_SIGNER_NAMES if _SIGNER in properties else frozenset())
    return {
        key: str(value)
        for key, value in properties.items()
        if key.startswith(_STORAGE_PREFIXES) or key in names
    }
