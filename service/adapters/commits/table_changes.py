"""Creates Iceberg tables, changes their schemas and adds sort orders, through PyIceberg."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchIdentifierError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
)
from pyiceberg.table import Table
from pyiceberg.table.update import (
    AssertCurrentSchemaId,
    AssertLastAssignedFieldId,
    AssertTableUUID,
    TableRequirement,
    TableUpdate,
)
from pyiceberg.table.update.schema import UpdateSchema
from pyiceberg.types import IcebergType
from sqlalchemy.exc import IntegrityError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_random_exponential,
)

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.check_unambiguous import check_unambiguous
from service.adapters.catalogs.iceberg_schemas import pyiceberg_type
from service.adapters.catalogs.opened_tables import identifier_of
from service.adapters.commits.iceberg_sort_orders import (
    AssertSortOrdersFree,
    added_sort_orders,
    known_sort_orders,
)
from service.adapters.commits.new_table import NewTable
from service.adapters.commits.time_order import with_increasing_time
from service.errors.ingest_errors import CreationInvalid, SchemaMismatch
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.ingest.writing import WritableTable
from service.model.tables.schema_changes import AddField, MakeOptional, SchemaChange, WidenField
from service.model.tables.table_creation import TableCreation
from service.model.tables.tables import SortField, TableName

_Updates = tuple[TableUpdate, ...]
_Requirements = tuple[TableRequirement, ...]
_NOT_THERE = (NoSuchTableError, NoSuchNamespaceError, NoSuchIdentifierError)
_LONGEST_PAUSE_S = 1.0


class PyIcebergTableChanges:
    """Implements `service.ports.tables.table_changes.TableChanges`."""

    def __init__(
        self, catalogs: PyIcebergCatalogs, first_pause_s: float = 0.02, conflicts_within_s: float = 15.0
    ) -> None:
        self._catalogs = catalogs
        self._first_pause_s = first_pause_s
        self._conflicts_within_s = conflicts_within_s

    def check_creation(self, name: TableName, creation: TableCreation) -> None:
        """Checks that the catalog is configured and Iceberg allows such a table.

        Raises:
            CreationInvalid: one of the two is not so.
        """
        self._new_table(name, creation)

    def create(self, name: TableName, creation: TableCreation) -> bool:
        """Creates the table and its missing schemas. Returns False if the table exists by now.

        Raises:
            CreationInvalid: the catalog does not accept such a table.
            CatalogDown: the catalog does not answer.
        """
        made = self._new_table(name, creation)
        return self._catalogs.ask(name.catalog, lambda catalog: _created(catalog, name, made))

    def evolve(self, table: WritableTable, changes: Sequence[SchemaChange]) -> bool:
        """Makes all changes in one separate commit. Returns False, without a change, if the schema changed.

        Raises:
            SchemaMismatch: this table cannot take the changes.
            TableNotFound: the table does not exist any more.
            CatalogDown: the catalog does not answer, or other commits keep conflicting.
        """
        return self._changed(table, lambda catalog: self._attempt(catalog, table, changes))

    def add_sort_orders(self, table: WritableTable, orders: Sequence[tuple[SortField, ...]]) -> bool:
        """Adds these orders to the table in one separate commit. Its default order stays.

        Returns False, without a change, if the table has one of them by now or its schema has changed.

        Raises:
            SchemaMismatch: this table's rows cannot be sorted in this way.
            TableNotFound: the table does not exist any more.
            CatalogDown: the catalog does not answer, or other commits keep conflicting.
        """
        return self._changed(table, lambda catalog: self._attempt_orders(catalog, table, orders))

    def _changed(self, table: WritableTable, attempt: Callable[[Catalog], bool]) -> bool:
        name = table.key.table
        retrying = Retrying(
            retry=retry_if_exception_type(CommitFailedException),
            wait=wait_random_exponential(multiplier=self._first_pause_s, max=_LONGEST_PAUSE_S),
            stop=stop_after_delay(self._conflicts_within_s),
            retry_error_callback=partial(_give_up, str(name)),
        )
        try:
            is_done: bool = retrying(self._catalogs.ask, name.catalog, attempt)
            return is_done
        except _NOT_THERE as error:
            raise TableNotFound(str(name)) from error

    def _new_table(self, name: TableName, creation: TableCreation) -> NewTable:
        if not self._catalogs.is_configured(name.catalog):
            raise CreationInvalid(f"{name} cannot be created: there is no catalog {name.catalog}.")
        try:
            return NewTable.of(creation)
        except (ValueError, ValidationError) as error:
            raise CreationInvalid(f"{name} cannot be created: {error}") from error

    def _attempt(self, catalog: Catalog, table: WritableTable, changes: Sequence[SchemaChange]) -> bool:
        # Loads its own table: the opened ones have many readers, and a commit changes the table object that
        # it is made from.
        own = catalog.load_table(identifier_of(table.key.table))
        if not _has_schema(own, table):
            return False
        updates, requirements = _staged(own, changes)
        self._publish(own, updates, requirements)
        return True

    def _attempt_orders(
        self, catalog: Catalog, table: WritableTable, orders: Sequence[tuple[SortField, ...]]
    ) -> bool:
        own = catalog.load_table(identifier_of(table.key.table))
        known = {order.fields for order in known_sort_orders(own.schema(), own.metadata.sort_orders)}
        if not _has_schema(own, table) or known & set(orders):
            return False
        updates, requirements = _staged_orders(own, orders)
        self._publish(own, updates, requirements)
        return True

    def _publish(self, table: Table, updates: _Updates, requirements: _Requirements) -> None:
        table.catalog.commit_table(table, requirements, with_increasing_time(table.catalog, updates))


def _has_schema(own: Table, table: WritableTable) -> bool:
    return (own.metadata.table_uuid, own.schema().schema_id) == (table.table_uuid, table.schema.schema_id)


def _staged_orders(table: Table, orders: Sequence[tuple[SortField, ...]]) -> tuple[_Updates, _Requirements]:
    metadata = table.metadata
    try:
        updates = added_sort_orders(metadata, orders)
    except (ValueError, ValidationError) as error:
        raise SchemaMismatch(f"The sort order cannot be added to this table: {error}") from error
    schema = AssertCurrentSchemaId(current_schema_id=metadata.current_schema_id)
    if isinstance(table.catalog, RestCatalog):
        return updates, (AssertTableUUID(uuid=metadata.table_uuid), schema)
    ids = frozenset(update.sort_order.order_id for update in updates)
    return updates, (AssertSortOrdersFree(uuid=metadata.table_uuid, order_ids=ids), schema)


def _staged(table: Table, changes: Sequence[SchemaChange]) -> tuple[_Updates, _Requirements]:
    update = table.update_schema()
    try:
        for change in changes:
            _stage(update, change)
        updates, requirements = update._commit()
    except (ValueError, ValidationError) as error:
        raise SchemaMismatch(f"The schema change is not possible: {error}") from error
    metadata = table.metadata
    # PyIceberg requires only the current schema. If the schema was changed and changed back, an id would be
    # assigned twice.
    return updates, (
        *requirements,
        AssertTableUUID(uuid=metadata.table_uuid),
        AssertLastAssignedFieldId(last_assigned_field_id=metadata.last_column_id),
    )


def _stage(update: UpdateSchema, change: SchemaChange) -> None:
    match change:
        case AddField(_, field):
            update.add_column(change.path, pyiceberg_type(field.type), field.doc)
        case WidenField(path, _, after):
            update.update_column(path, IcebergType.model_validate(after))
        case MakeOptional(path):
            update.make_column_optional(path)


def _created(catalog: Catalog, name: TableName, made: NewTable) -> bool:
    if catalog.table_exists(identifier_of(name)):
        return False
    check_unambiguous(catalog, name.schema.split("."), name.table)
    try:
        try:
            made.create(catalog, identifier_of(name))
        except NoSuchNamespaceError:
            _create_namespaces(catalog, tuple(name.schema.split(".")))
            made.create(catalog, identifier_of(name))
    except TableAlreadyExistsError:
        return False
    return True


def _create_namespaces(catalog: Catalog, levels: tuple[str, ...]) -> None:
    for depth in range(1, len(levels) + 1):
        # Another process may create it at the same time; the SQL catalog then raises its database's error.
        with suppress(NamespaceAlreadyExistsError, IntegrityError):
            catalog.create_namespace(levels[:depth])


def _give_up(name: str, state: RetryCallState) -> NoReturn:
    last = state.outcome.exception() if state.outcome else None
    raise CatalogDown(f"Other writers commit to {name} all the time. Try again.") from last
