"""Everything that a writer must know of a table, in a serializable form; without its snapshots."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder

from service.adapters.catalogs.iceberg_schema_json import schema_from_json, schema_to_json
from service.adapters.catalogs.iceberg_schemas import pyiceberg_schema, table_schema
from service.model.tables.tables import UNSORTED_ID

_VERSION = 2
_MAX_CACHED_STATES = 64


@dataclass(frozen=True, slots=True)
class WriterState:
    """A table at one metadata file. `io_properties` may hold credentials, so its repr omits them."""

    schema: Schema
    spec: PartitionSpec
    sort_order: SortOrder
    location: str
    properties: Mapping[str, str]
    io_properties: Mapping[str, str] = field(repr=False)
    sort_orders: tuple[SortOrder, ...] = ()
    """All sort orders of the table; `sort_order` is its default."""

    def order(self, order_id: int | None) -> SortOrder:
        """Returns the order with this id; the default order for None.

        Raises:
            ValueError: the table does not have such an order.
        """
        if order_id is None or order_id == self.sort_order.order_id:
            return self.sort_order
        if order_id == UNSORTED_ID:
            return UNSORTED_SORT_ORDER
        found = next((order for order in self.sort_orders if order.order_id == order_id), None)
        if found is None:
            raise ValueError(f"The table knows no sort order {order_id}.")
        return found

    def encoded(self) -> bytes:
        """Returns the bytes that `decoded` reads."""
        content = {
            "version": _VERSION,
            "schema": schema_to_json(table_schema(self.schema)),
            "spec": self.spec.model_dump(mode="json", by_alias=True),
            "sort-order": self.sort_order.model_dump(mode="json", by_alias=True),
            "sort-orders": [order.model_dump(mode="json", by_alias=True) for order in self.sort_orders],
            "location": self.location,
            "properties": dict(self.properties),
            "io-properties": dict(self.io_properties),
        }
        return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), level=1)

    @staticmethod
    @lru_cache(_MAX_CACHED_STATES)
    def decoded(state: bytes) -> WriterState:
        """Decodes a state; the same object for the same bytes, because each target of a request has them.

        Raises:
            ValueError: another version of the gateway encoded it.
        """
        content = json.loads(zlib.decompress(state))
        if content["version"] != _VERSION:
            raise ValueError(f"A writer's state of version {content['version']} cannot be read here.")
        return WriterState(
            pyiceberg_schema(schema_from_json(content["schema"])),
            PartitionSpec.model_validate(content["spec"]),
            SortOrder.model_validate(content["sort-order"]),
            content["location"],
            content["properties"],
            content["io-properties"],
            tuple(SortOrder.model_validate(order) for order in content["sort-orders"]),
        )
