"""A lakehouse for tests of catalogs: it is written to from outside, stopped and restarted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Protocol

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchNamespaceError
from pyiceberg.partitioning import PartitionField as IcebergPartitionField
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortOrder
from pyiceberg.table.sorting import SortField as IcebergSortField
from pyiceberg.transforms import parse_transform
from pyiceberg.types import DateType, DecimalType, LongType, NestedField, StringType, TimestamptzType

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.model.tables.tables import PartitionField, SortField, TableColumn, TableName
from service.ports.tables.catalogs import Catalogs
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.clock import FakeClock

COLUMNS = (
    TableColumn(1, "id", "long", True, "who did it"),
    TableColumn(2, "day", "date", False),
    TableColumn(3, "happened_at", "timestamptz", False),
    TableColumn(4, "log_type", "string", False),
    TableColumn(5, "amount", "decimal(7, 2)", False),
)
_SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True, doc="who did it"),
    NestedField(2, "day", DateType()),
    NestedField(3, "happened_at", TimestamptzType()),
    NestedField(4, "log_type", StringType()),
    NestedField(5, "amount", DecimalType(7, 2)),
)


class Lakehouse(Protocol):
    """A lakehouse with one catalog, named `lake`."""

    @property
    def catalogs(self) -> Catalogs: ...

    def create(
        self,
        name: TableName,
        partition_fields: tuple[PartitionField, ...] = (),
        sort_fields: tuple[SortField, ...] = (),
        identifier_fields: tuple[str, ...] = (),
    ) -> None:
        """Creates an empty table with `COLUMNS`, and its schema if that is missing."""

    def append(self, name: TableName, record_count: int) -> None:
        """Makes one commit of one data file per partition, as another writer would."""

    def stop(self) -> None: ...

    def start(self) -> None: ...


class FakeLakehouse:
    def __init__(self) -> None:
        self.catalogs = FakeCatalogs(["lake"])

    def create(
        self,
        name: TableName,
        partition_fields: tuple[PartitionField, ...] = (),
        sort_fields: tuple[SortField, ...] = (),
        identifier_fields: tuple[str, ...] = (),
    ) -> None:
        made = facts_of_empty_table(name, COLUMNS, partition_fields, sort_fields)
        self.catalogs.put(replace(made, identifier_fields=identifier_fields))

    def append(self, name: TableName, record_count: int) -> None:
        self.catalogs.append(name, record_count)

    def stop(self) -> None:
        self.catalogs.down.add("lake")

    def start(self) -> None:
        self.catalogs.down.clear()


class PyIcebergLakehouse:
    def __init__(
        self, properties: Mapping[str, str], stop: Callable[[], None], start: Callable[[], None]
    ) -> None:
        self.properties = properties
        self.clock = FakeClock()
        # Queries omit the facts of a table that take more than a second, which can happen on a busy machine.
        self.catalogs = PyIcebergCatalogs({"lake": properties}, self.clock, timeout_s=5, facts_timeout_s=10)
        self.stop = stop
        self.start = start
        self.outside = _open(properties)

    def create(
        self,
        name: TableName,
        partition_fields: tuple[PartitionField, ...] = (),
        sort_fields: tuple[SortField, ...] = (),
        identifier_fields: tuple[str, ...] = (),
    ) -> None:
        schema = tuple(name.schema.split("."))
        self.outside.create_namespace_if_not_exists(schema)
        self.outside.create_table(
            (*schema, name.table),
            Schema(
                *_SCHEMA.fields,
                identifier_field_ids=[_SCHEMA.find_field(field).field_id for field in identifier_fields],
            ),
            partition_spec=_partition_spec(partition_fields),
            sort_order=_sort_order(sort_fields),
        )

    def append(self, name: TableName, record_count: int) -> None:
        table = self.outside.load_table((*name.schema.split("."), name.table))
        table.append(_rows(record_count).cast(table.schema().as_arrow()))

    def drop_everything(self) -> None:
        names = self.catalogs.tables().tables
        for name in names:
            self.outside.drop_table((*name.schema.split("."), name.table))
        levels = {tuple(name.schema.split(".")[: depth + 1]) for name in names for depth in range(9)}
        for namespace in sorted(levels, key=len, reverse=True):
            # A level that was not created by itself disappears with the last level below it.
            with suppress(NoSuchNamespaceError):
                self.outside.drop_namespace(namespace)

    def close(self) -> None:
        _close(self.outside)
        self.catalogs.close()


def _open(properties: Mapping[str, str]) -> Catalog:
    kind = SqlCatalog if properties["type"] == "sql" else RestCatalog
    # The catalog may be stopped and restarted while this client is open.
    return kind("lake", **{"pool_pre_ping": "true", **properties})


def _close(catalog: Catalog) -> None:
    assert isinstance(catalog, SqlCatalog | RestCatalog)
    catalog.close()


def _rows(count: int) -> pa.Table:
    row = {
        "day": date(2000, 1, 1),
        "happened_at": datetime(2000, 1, 1, tzinfo=UTC),
        "log_type": "http",
        "amount": Decimal("1.50"),
    }
    fields = [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("day", pa.date32()),
        pa.field("happened_at", pa.timestamp("us", tz="UTC")),
        pa.field("log_type", pa.string()),
        pa.field("amount", pa.decimal128(7, 2)),
    ]
    return pa.Table.from_pylist([{"id": 1} | row] * count, schema=pa.schema(fields))


def _partition_spec(fields: tuple[PartitionField, ...]) -> PartitionSpec:
    return PartitionSpec(
        *(
            IcebergPartitionField(
                source_id=_SCHEMA.find_field(field.source).field_id,
                field_id=1000 + index,
                transform=parse_transform(field.transform),
                name=field.name,
            )
            for index, field in enumerate(fields)
        )
    )


def _sort_order(fields: tuple[SortField, ...]) -> SortOrder:
    iceberg_fields = [
        IcebergSortField(
            source_id=_SCHEMA.find_field(field.source).field_id,
            transform=parse_transform(field.transform),
            direction=SortDirection(field.direction),
            null_order=NullOrder(field.null_order),
        )
        for field in fields
    ]
    return SortOrder(*iceberg_fields, order_id=1 if fields else 0)
