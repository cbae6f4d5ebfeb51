"""Tables as those see them who write to them, through PyIceberg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyiceberg.table import Table

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.commits.is_tag import is_tag
from service.adapters.commits.sort_orders import known_sort_orders
from service.adapters.concurrency.bounded_lru import BoundedLru
from service.adapters.data_files.plan.locations import folder_bounds
from service.adapters.data_files.plan.writer_state import WriterState
from service.errors import IngestInvalid
from service.model.ingest.writing import TableKey, WritableTable
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import SortOrder, TableName

# What storage is reached with. A catalog's own address and password are none of a writer's business.
_STORAGE_PREFIXES = ("s3.", "gcs.", "adls.", "hdfs.", "hf.", "client.", "io.")
_STORAGE_NAMES = frozenset({"py-io-impl"})
# Where the catalog signs each request to S3, it has to be asked.
_SIGNER = "s3.signer"
_SIGNER_NAMES = frozenset({"uri", "token", "credential"})
_KEPT_TABLES = 1_000
_KEPT_BYTES = 64 << 20
_FIELD_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class _Described:
    """A writer's state, and what was made of it."""

    state: WriterState
    schema: TableSchema
    encoded: bytes
    sort_orders: tuple[SortOrder, ...]


class PyIcebergWritableTables:
    """Implements `service.ingest_ports.WritableTables`.

    What a writer must know of a table is made once: commits change the table all the time, but not that.
    """

    def __init__(self, catalogs: PyIcebergCatalogs) -> None:
        self._catalogs = catalogs
        self._described: BoundedLru[TableName, _Described] = BoundedLru(_KEPT_TABLES, _KEPT_BYTES)

    def writable(self, name: TableName, branch: str) -> WritableTable:
        """The table as it is now; a branch that is not there yet is made by the first commit to it.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: there is none of that name (`nearest` is filled).
            IngestInvalid: the branch is a tag.
            CatalogDown: the catalog does not answer.
        """
        opened = self._catalogs.opened(name)
        table = opened.table
        if is_tag(table.metadata, branch):
            raise IngestInvalid(f"{branch} is a tag of {name}, no branch: nothing can be written to it.")
        described = self._describe(name, writer_state(table))
        return WritableTable(
            TableKey(name, branch),
            table.metadata.table_uuid,
            table.metadata.format_version,
            described.schema,
            table.spec().spec_id,
            opened.facts.partition_fields,
            opened.facts.sort_fields,
            described.encoded,
            folder_bounds(described.state),
            described.sort_orders,
        )

    def _describe(self, name: TableName, state: WriterState) -> _Described:
        kept = self._described.get(name)
        if kept is not None and _is_same(kept.state, state):
            return kept
        orders = tuple(known_sort_orders(state.schema, state.sort_orders))
        described = _Described(state, table_schema(state.schema), state.encoded(), orders)
        self._described.put(name, described, len(described.encoded) + _FIELD_BYTES * len(state.schema.fields))
        return described


def _is_same(one: WriterState, other: WriterState) -> bool:
    # Of consecutive versions of a table, the schemas are one object mostly; to compare fields takes long.
    has_same_schema = one.schema is other.schema or (
        one.schema.schema_id == other.schema.schema_id and one.schema == other.schema
    )
    return (
        has_same_schema
        and (one.spec, one.spec.spec_id) == (other.spec, other.spec.spec_id)
        and (one.sort_order, one.sort_orders) == (other.sort_order, other.sort_orders)
        and (one.location, one.properties, one.io_properties)
        == (other.location, other.properties, other.io_properties)
    )


def writer_state(table: Table) -> WriterState:
    """All that a writer needs of a table as PyIceberg has opened it."""
    return WriterState(
        table.schema(),
        table.spec(),
        table.sort_order(),
        table.location(),
        {key: value for key, value in table.properties.items() if key.startswith("write.")},
        storage_properties(table.io.properties),
        tuple(table.metadata.sort_orders),
    )


def storage_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Those of a table's or a catalog's properties that its storage is reached with."""
    names = _STORAGE_NAMES | (_SIGNER_NAMES if _SIGNER in properties else frozenset())
    return {
        key: str(value)
        for key, value in properties.items()
        if key.startswith(_STORAGE_PREFIXES) or key in names
    }
