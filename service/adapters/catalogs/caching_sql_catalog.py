"""PyIceberg's SQL catalog with a cache, so that known metadata is not read or copied again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Self

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
from pyiceberg.io import FileIO
from pyiceberg.serializers import Compressor
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata, TableMetadataV2, TableMetadataV3
from pyiceberg.typedef import Identifier
from sqlalchemy import bindparam, select, tuple_
from sqlalchemy.exc import IntegrityError, ProgrammingError

from service.adapters.catalogs.changed_metadata import changed_metadata_json
from service.adapters.catalogs.metadata_json import metadata_json
from service.adapters.catalogs.variant_type import table_metadata
from service.adapters.disk.synced_files import Sync, sync_files
from service.bounded_lru import BoundedLru

MAX_CACHED_TABLES = 64
MAX_CACHED_BYTES = 64 << 20
# Measured in a process's memory, rounded up; consecutive versions share most of it.
_FIXED_BYTES = 20_000
_SNAPSHOT_BYTES = 5_000
_FIELD_BYTES = 1_000
_LOCATION = select(IcebergTables.metadata_location).where(
    IcebergTables.catalog_name == bindparam("catalog"),
    IcebergTables.table_namespace == bindparam("namespace"),
    IcebergTables.table_name == bindparam("table"),
)
_LOCATIONS = select(
    IcebergTables.table_namespace, IcebergTables.table_name, IcebergTables.metadata_location
).where(
    IcebergTables.catalog_name == bindparam("catalog"),
    tuple_(IcebergTables.table_namespace, IcebergTables.table_name).in_(bindparam("places", expanding=True)),
)


class CachingSqlCatalog(SqlCatalog):
    """Caches tables' metadata by the location of its file, which never changes.

    PyIceberg reads a table's metadata twice for each commit, and copies it value by value: with a thousand
    snapshots, that takes most of the time of a commit. The location of the newest metadata is still read from
    the database each time.

    The database must not point to metadata that a power failure can lose: `sync` is called first.
    """

    def __init__(
        self,
        name: str,
        sync: Sync = sync_files,
        *,
        max_cached_bytes: int = MAX_CACHED_BYTES,
        **properties: str,
    ) -> None:
        self._sync = sync
        self._max_cached_bytes = max_cached_bytes
        # By folder, because metadata that a commit has replaced is not read any more.
        self._cached: BoundedLru[str, tuple[str, TableMetadata]] = BoundedLru(
            MAX_CACHED_TABLES, max_cached_bytes
        )
        super().__init__(name, **properties)
        # A single query needs no transaction, which would cost two more round trips.
        self._at_once = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    def create_tables(self) -> None:
        """Creates the catalog's own tables if they are missing, also while others create them.

        PyIceberg looks for them first, so gateways that start together on an empty database collide.
        """
        try:
            super().create_tables()
        except (IntegrityError, ProgrammingError):
            # The collision ended when the other transaction was committed, and it made all tables.
            super().create_tables()

    def location(self, namespace: str, table_name: str) -> str | None:
        """The location of a table's newest metadata; None if there is no such table."""
        asked = {"catalog": self.name, "namespace": namespace, "table": table_name}
        with self._at_once.connect() as connection:
            return connection.scalar(_LOCATION, asked)

    def locations(self, places: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
        """The same for several tables, by namespace and name; without those that do not exist."""
        with self._at_once.connect() as connection:
            rows = connection.execute(_LOCATIONS, {"catalog": self.name, "places": list(places)}).all()
        return {(namespace, table): location for namespace, table, location in rows if location}

    def load_table(self, identifier: str | Identifier) -> Table:
        """Overrides PyIceberg's; uses cached metadata."""
        parts = Catalog.identifier_to_tuple(identifier)
        location = self.location(Catalog.namespace_to_string(parts[:-1]), parts[-1])
        cached = self.cached(parts, location) if location else None
        return cached or super().load_table(identifier)

    def cached(self, identifier: Identifier, location: str) -> Table | None:
        """The table at this location of its metadata, if that is cached."""
        cached = self._cached.get(_folder(location), lambda cached: cached[0] == location)
        if cached is None:
            return None
        _, metadata = cached
        return Table(identifier, metadata, location, self._load_file_io(metadata.properties, location), self)

    def _convert_orm_to_iceberg(self, orm_table: IcebergTables) -> Table:
        namespace = Catalog.identifier_to_tuple(orm_table.table_namespace)
        cached = self.cached((*namespace, orm_table.table_name), orm_table.metadata_location or "")
        if cached is not None:
            return cached
        location = orm_table.metadata_location
        if not location:
            return super()._convert_orm_to_iceberg(orm_table)
        io = self._load_file_io(location=location)
        metadata = self._cache(location, table_metadata(io.new_input(location)))
        return Table(
            (*namespace, orm_table.table_name),
            metadata,
            location,
            self._load_file_io(metadata.properties, location),
            self,
        )

    def _write_metadata(  # type: ignore[override] # a static method there, called on the instance
        self, metadata: TableMetadata, io: FileIO, metadata_path: str
    ) -> None:
        text = metadata_json(metadata)
        if isinstance(metadata, TableMetadataV3):
            text = changed_metadata_json(metadata, io)
        if text is None:
            super()._write_metadata(metadata, io, metadata_path)
        else:
            compressed = Compressor.get_compressor(metadata_path).bytes_compressor()
            with io.new_output(metadata_path).create() as stream:
                stream.write(compressed(text.encode()))
        self._sync([metadata_path])
        self._cache(metadata_path, metadata)

    def _cache(self, location: str, metadata: TableMetadata) -> TableMetadata:
        cached = _uncopied(metadata)
        fields = sum(len(schema.fields) for schema in cached.schemas)
        size = _FIXED_BYTES + _SNAPSHOT_BYTES * len(cached.snapshots) + _FIELD_BYTES * fields
        # A table with more snapshots than fit is the one that costs most to read again.
        self._cached.put(_folder(location), (location, cached), min(size, self._max_cached_bytes))
        return cached


def _folder(location: str) -> str:
    return location.rpartition("/")[0]


class _Uncopied(TableMetadataV2):
    """Metadata that is never changed in place, so that copies may share its parts."""

    def model_copy(self, *, update: Any = None, deep: bool = False) -> Self:  # noqa: ARG002
        return super().model_copy(update=update)


def _uncopied(metadata: TableMetadata) -> TableMetadata:
    if type(metadata) is not TableMetadataV2:
        return metadata
    return _Uncopied.model_construct(_fields_set=metadata.model_fields_set, **dict(metadata))
