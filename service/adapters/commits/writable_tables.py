"""Tables as their writers see them, through PyIceberg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import Table

from service.adapters.catalogs.caching_sql_catalog import CachingSqlCatalog
from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.commits.engine_snapshot import PYICEBERG_WRITES_UP_TO
from service.adapters.commits.iceberg_sort_orders import known_sort_orders
from service.adapters.commits.is_tag import is_tag
from service.adapters.data_files.plan.locations import folder_bounds
from service.adapters.data_files.plan.writer_state import WriterState
from service.bounded_lru import BoundedLru
from service.errors.ingest_errors import IngestInvalid
from service.model.ingest.writing import TableKey, WritableTable
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import SortOrder, TableName

# The properties needed to reach storage. A writer does not need the catalog's own address and password.
_STORAGE_PREFIXES = ("s3.", "gcs.", "adls.", "hdfs.", "hf.", "client.", "io.")
_STORAGE_NAMES = frozenset({"py-io-impl"})
# If the catalog signs each S3 request, the writer has to reach it.
_SIGNER = "s3.signer"
_SIGNER_NAMES = frozenset({"uri", "token", "credential"})
# Others write metadata by PyIceberg itself, which refuses later versions.
_WRITE_ANY_VERSION = (RestCatalog, CachingSqlCatalog)
_MAX_CACHED_TABLES = 1_000
_MAX_CACHED_BYTES = 64 << 20
_FIELD_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class _Described:
    """A writer's state, and the values derived from it."""

    state: WriterState
    schema: TableSchema
    encoded: bytes
    sort_orders: tuple[SortOrder, ...]


class PyIcebergWritableTables:
    """Implements `service.ports.tables.table_changes.WritableTables`.

    The facts that a writer needs are computed once and cached. Commits change a table all the time, but
    rarely these facts.
    """

    def __init__(self, catalogs: PyIcebergCatalogs) -> None:
        self._catalogs = catalogs
        self._described: BoundedLru[TableName, _Described] = BoundedLru(_MAX_CACHED_TABLES, _MAX_CACHED_BYTES)

    def writable(self, name: TableName, branch: str) -> WritableTable:
        """Returns the table as it is now. The first commit to a branch creates it.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has that name (`nearest` is filled).
            IngestInvalid: the branch is a tag, or the catalog's client cannot commit to this format version.
            CatalogDown: the catalog does not answer.
        """
        opened = self._catalogs.opened(name)
        table = opened.table
        if is_tag(table.metadata, branch):
            raise IngestInvalid(f"{branch} is a tag of {name}, not a branch: it cannot be written to.")
        version = table.metadata.format_version
        if version > PYICEBERG_WRITES_UP_TO and not isinstance(table.catalog, _WRITE_ANY_VERSION):
            raise IngestInvalid(
                f"{name} has format version {version}; in a catalog of this type, tables up to version "
                f"{PYICEBERG_WRITES_UP_TO} can be written to."
            )
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
        cached = self._described.get(name)
        if cached is not None and _is_same(cached.state, state):
            return cached
        orders = tuple(known_sort_orders(state.schema, state.sort_orders))
        described = _Described(state, table_schema(state.schema), state.encoded(), orders)
        self._described.put(name, described, len(described.encoded) + _FIELD_BYTES * len(state.schema.fields))
        return described


def _is_same(one: WriterState, other: WriterState) -> bool:
    # Consecutive versions of a table mostly share one schema object; comparing fields takes long.
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
    """Everything that a writer needs of a table that PyIceberg has loaded."""
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
    """Selects the properties of a table or catalog that are needed to reach its storage."""
    names = _STORAGE_NAMES | (_SIGNER_NAMES if _SIGNER in properties else frozenset())
    return {
        key: str(value)
        for key, value in properties.items()
        if key.startswith(_STORAGE_PREFIXES) or key in names
    }
