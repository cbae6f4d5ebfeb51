"""In-memory tables that can be created and changed, also by another writer just before a change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from uuid import uuid4

from service.errors.ingest_errors import CreationInvalid, SchemaMismatch
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.ingest.schema_changes.change_schema import change_schema
from service.ingest.schema_changes.layout_faults import sort_order_faults
from service.ingest.schema_changes.sort_orders import with_sort_orders
from service.model.ingest.writing import MAIN, TableKey, WritableTable
from service.model.tables.schema_changes import SchemaChange
from service.model.tables.schemas import Field, TableSchema, fields_with_paths, with_children
from service.model.tables.table_creation import TableCreation, partition_name
from service.model.tables.tables import SortField, SortOrder, TableName
from tests.fakes.writable_tables import FakeWritableTables

CATALOG = "lake"


class FakeTableChanges:
    """Calls `before` once, ahead of the next change; with `never`, another writer always wins.

    The changes that were made are listed in `evolved` and `created`.
    """

    def __init__(self, tables: FakeWritableTables) -> None:
        self._tables = tables
        self._last_ids: dict[TableName, int] = {}
        self.before: Callable[[], object] = lambda: None
        self.never = False
        self.created: list[TableName] = []
        self.evolved: list[tuple[TableName, tuple[SchemaChange, ...]]] = []

    def check_creation(self, name: TableName, creation: TableCreation) -> None:
        if name.catalog != CATALOG:
            raise CreationInvalid(f"{name} cannot be created: there is no catalog {name.catalog}.")
        if creation.schema.identifier_field_ids - {
            column.field_id for column in creation.schema.columns if column.is_required
        }:
            raise CreationInvalid(f"{name} cannot be created: an identifier field is optional.")

    def create(self, name: TableName, creation: TableCreation) -> bool:
        self.check_creation(name, creation)
        self._begin(name)
        if self.never:
            return False
        try:
            self._tables.writable(name, MAIN)
        except TableNotFound:
            self._tables.put(self._made(name, creation))
            self.created.append(name)
            return True
        return False

    def evolve(self, table: WritableTable, changes: Sequence[SchemaChange]) -> bool:
        name = table.key.table
        self._begin(name)
        now = self._tables.writable(name, table.key.branch)
        if self.never or (now.table_uuid, now.schema.schema_id) != (table.table_uuid, table.schema.schema_id):
            return False
        last = self._last_ids.get(name, _highest(now.schema.columns))
        columns = change_schema(now.schema.columns, changes)
        new_ids = count(last + 1)
        changed = tuple(_with_new_ids(column, new_ids) for column in columns)
        self._last_ids[name] = max(last, _highest(changed))
        schema = replace(now.schema, schema_id=now.schema.schema_id + 1, columns=changed)
        self._tables.put(replace(now, schema=schema))
        self.evolved.append((name, tuple(changes)))
        return True

    def add_sort_orders(self, table: WritableTable, orders: Sequence[tuple[SortField, ...]]) -> bool:
        name = table.key.table
        self._begin(name)
        now = self._tables.writable(name, table.key.branch)
        known = {order.fields for order in now.sort_orders}
        is_same = (now.table_uuid, now.schema.schema_id) == (table.table_uuid, table.schema.schema_id)
        if self.never or not is_same or known & set(orders):
            return False
        if any(True for order in orders for _ in sort_order_faults(now.schema.columns, order)):
            raise SchemaMismatch("The sort order cannot be added to this table.")
        self._tables.put(with_sort_orders(now, orders))
        return True

    def _begin(self, name: TableName) -> None:
        before, self.before = self.before, lambda: None
        before()
        if self._tables.is_down:
            raise CatalogDown(f"The catalog {name.catalog} does not answer.")

    def _made(self, name: TableName, creation: TableCreation) -> WritableTable:
        ids = count(1)
        columns = tuple(_with_new_ids(_without_ids(column), ids) for column in creation.schema.columns)
        new = {
            old.field_id: made.field_id for old, made in zip(creation.schema.columns, columns, strict=True)
        }
        identifiers = frozenset(new[field_id] for field_id in creation.schema.identifier_field_ids)
        layout = creation.layout
        return WritableTable(
            TableKey(name),
            uuid4(),
            2,
            TableSchema(0, columns, identifiers),
            0,
            tuple(replace(field, name=partition_name(field)) for field in layout.partition_fields),
            layout.sort_fields,
            b"",
            sort_orders=(SortOrder(1, layout.sort_fields),) if layout.sort_fields else (),
        )


def _highest(columns: Sequence[Field]) -> int:
    return max((field.field_id for _, field in fields_with_paths(tuple(columns))), default=0)


def _with_new_ids(field: Field, ids: Iterator[int]) -> Field:
    new_id = field.field_id or next(ids)
    children = [_with_new_ids(child, ids) for child in field.children]
    return replace(field, field_id=new_id, type=with_children(field.type, children))


def _without_ids(field: Field) -> Field:
    return replace(field, field_id=0, type=with_children(field.type, map(_without_ids, field.children)))
