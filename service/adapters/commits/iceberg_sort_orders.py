"""Converts sort orders to and from PyIceberg's terms, and adds them to a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.schema import Schema
from pyiceberg.table import sorting as iceberg
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.update import AddSortOrderUpdate, AssertTableUUID
from pyiceberg.transforms import parse_transform

from service.model.tables.tables import UNSORTED_ID, SortField, SortOrder


def known_sort_orders(schema: Schema, orders: Iterable[iceberg.SortOrder]) -> Iterator[SortOrder]:
    """The sort orders whose columns the schema still has, with the columns' current names."""
    for order in orders:
        names = [schema.find_column_name(field.source_id) for field in order.fields]
        if order.fields and all(names):
            pairs = zip(names, order.fields, strict=True)
            yield SortOrder(
                order.order_id, tuple(_sort_field(name or "", sort_field) for name, sort_field in pairs)
            )


def iceberg_sort_fields(schema: Schema, fields: Iterable[SortField]) -> list[iceberg.SortField]:
    """Converts sort fields into PyIceberg's terms.

    Raises:
        ValueError: the schema does not have such a column, or Iceberg does not have such a transform.
    """
    return [
        iceberg.SortField(
            schema.find_field(field.source).field_id,
            parse_transform(field.transform),
            iceberg.SortDirection(field.direction),
            iceberg.NullOrder(field.null_order),
        )
        for field in fields
    ]


def added_sort_orders(
    metadata: TableMetadata, orders: Sequence[tuple[SortField, ...]]
) -> tuple[AddSortOrderUpdate, ...]:
    """Returns the updates that add these orders to a table. Its default order stays.

    Raises:
        ValueError, pyiceberg.exceptions.ValidationError: the table's rows cannot be sorted in this way.
    """
    schema = metadata.schema()
    first = max((order.order_id for order in metadata.sort_orders), default=UNSORTED_ID) + 1
    made = [
        iceberg.SortOrder(*iceberg_sort_fields(schema, fields), order_id=order_id)
        for order_id, fields in enumerate(orders, first)
    ]
    for sort_order in made:
        sort_order.check_compatible(schema)
    return tuple(AddSortOrderUpdate(sort_order=sort_order) for sort_order in made)


class AssertSortOrdersFree(AssertTableUUID):
    """Also requires that these order ids are unused; for catalogs that PyIceberg itself commits to.

    PyIceberg checks for another order with the same id, but not for the same order under two ids. Nothing can
    read a table that has an order twice. Catalog servers assign the ids themselves.
    """

    order_ids: frozenset[int]

    def validate(self, base_metadata: TableMetadata | None) -> None:  # type: ignore[override] # as PyIceberg's
        """See PyIceberg.

        Raises:
            CommitFailedException: another writer has added an order in the meantime.
        """
        super().validate(base_metadata)
        known = {order.order_id for order in base_metadata.sort_orders} if base_metadata else set()
        if known & self.order_ids:
            raise CommitFailedException("Requirement failed: another sort order was added meanwhile")


def _sort_field(name: str, field: iceberg.SortField) -> SortField:
    return SortField(name, str(field.transform), field.direction.value, field.null_order.value)
