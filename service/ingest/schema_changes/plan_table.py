"""Plans the changes to one table of a request, or finds everything that prevents them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from service.errors.ingest_errors import CreationInvalid, IngestInvalid, SchemaMismatch
from service.ingest.one_refusal import OneRefusal, refused_at
from service.ingest.schema_changes.change_rules import ChangeRules
from service.ingest.schema_changes.creation_faults import creation_faults
from service.ingest.schema_changes.plan_schema import SchemaPlan, plan_schema
from service.ingest.schema_changes.planned_columns import highest_id, planned_columns, with_planned_ids
from service.ingest.schema_changes.sort_orders import missing_sort_orders, with_sort_orders
from service.model.ingest.ingest_request import ColumnFields, Write
from service.model.ingest.writing import NEWEST_FORMAT, TableKey, WritableTable
from service.model.tables.schema_changes import SchemaChange
from service.model.tables.schemas import TableSchema, fields_with_paths
from service.model.tables.table_creation import TableCreation, partition_name
from service.model.tables.tables import SortField, TableName

# The newest format to which PyIceberg commits; new tables have it.
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The plan for a table that is changed, or created from `creation`, or neither; `planned` is the result.

    New fields of `planned` have provisional ids, above `known_id`. `now` is the table as it is, if it exists.
    """

    planned: WritableTable
    now: WritableTable | None
    known_id: int = 0
    changes: tuple[SchemaChange, ...] = ()
    creation: TableCreation | None = None
    sort_orders: tuple[tuple[SortField, ...], ...] = ()
    """Sort orders that the table does not have yet."""

    @property
    def is_change(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.changes) or bool(self.sort_orders) or self.creation is not None

    def write(self, write: Write) -> Write:
        """Returns the write as it applies to the planned table."""
        asked = write.write_schema
        if not (self.is_change and isinstance(asked, ColumnFields)):
            return write
        columns = with_planned_ids(asked.columns, self.planned.schema.columns, self.known_id)
        return replace(write, write_schema=ColumnFields(columns))


def plan_table(
    name: TableName, writes: Sequence[Write], table: WritableTable | None, rules: ChangeRules
) -> TablePlan:
    """Returns the plan for all writes to the table; `table` is None where it must be created.

    Raises:
        SchemaMismatch, CreationInvalid: with every reason at once.
        WriteNotAllowed, IngestInvalid: the operator does not let callers create or change it in this way.
    """
    _check_sent(name, writes, table, rules)
    if table is None:
        return _made(name, writes, rules)
    if table.format_version > NEWEST_FORMAT:
        # Nothing can be written to it, which is reported later.
        return TablePlan(table, table)
    orders = missing_sort_orders(writes, table.sort_orders)
    if orders:
        rules.check_sort_orders(name, len(table.sort_orders) + len(orders))
    plan = _plan(name, writes, table.schema, [field.name for field in table.partition_fields])
    if plan.changes:
        rules.check_evolution(name, plan.field_count)
    if (orders or plan.changes) and table.format_version > _FORMAT:
        raise IngestInvalid(
            f"{name} has format version {table.format_version}; columns and sort orders are added to tables "
            f"up to version {_FORMAT}. Add them with SQL first."
        )
    planned = with_sort_orders(table, orders) if orders else table
    if plan.changes:
        planned = replace(planned, schema=_planned(table.schema, plan))
    return TablePlan(planned, table, highest_id(table.schema.columns), plan.changes, sort_orders=orders)


def _made(name: TableName, writes: Sequence[Write], rules: ChangeRules) -> TablePlan:
    creation = _creation(name, writes)
    layout = creation.layout
    partition_fields = tuple(replace(field, name=partition_name(field)) for field in layout.partition_fields)
    plan = _plan(name, writes, creation.schema, [field.name for field in partition_fields])
    rules.check_creation(name, _field_count(creation.schema))
    if plan.changes:
        rules.check_evolution(name, plan.field_count)
    planned = WritableTable(
        TableKey(name),
        UUID(int=0),
        _FORMAT,
        _planned(creation.schema, plan),
        0,
        partition_fields,
        layout.sort_fields,
        b"",
    )
    orders = missing_sort_orders(writes, ())
    if orders:
        rules.check_sort_orders(name, len({layout.sort_fields, *orders} - {()}))
    return TablePlan(with_sort_orders(planned, orders), None, 0, plan.changes, creation)


def _creation(name: TableName, writes: Sequence[Write]) -> TableCreation:
    """Returns the schema and layout of the new table, from the first write that asks for its creation."""
    for write in writes:
        if write.schema is not None and write.schema.create is not None:
            creation = TableCreation(write.schema.schema or TableSchema(0, ()), write.schema.create)
            faults = list(creation_faults(name, creation, write.place))
            if faults:
                raise CreationInvalid(f"The table cannot be created: {faults[0].reason}", faults)
            return creation
    raise AssertionError("a table that nobody makes is looked up before")


def _plan(
    name: TableName, writes: Sequence[Write], schema: TableSchema, partition_names: Sequence[str]
) -> SchemaPlan:
    plan = plan_schema(writes, schema, partition_names)
    if plan.differences:
        count = f"{len(plan.differences)} place(s)"
        raise SchemaMismatch(
            f"The schema differs from that of {name} in {count}: {plan.differences[0].detail}",
            plan.differences,
        )
    return plan


def _planned(schema: TableSchema, plan: SchemaPlan) -> TableSchema:
    return replace(schema, columns=planned_columns(schema.columns, plan.changes))


def _check_sent(
    name: TableName, writes: Sequence[Write], table: WritableTable | None, rules: ChangeRules
) -> None:
    asked = [(write.place, write.schema) for write in writes if write.schema is not None]
    sent = [(place, write.schema) for place, write in asked if write.schema is not None]
    # Most writes send no schema, and tables may have thousands of fields.
    own_count = _field_count(table.schema) if sent and table is not None else 0
    refusal = OneRefusal()
    for place, schema in sent:
        with refusal.gathering(), refused_at(f"{place}/schema"):
            rules.check_sent(name, _field_count(schema), own_count)
    refusal.check()


def _field_count(schema: TableSchema) -> int:
    return sum(1 for _ in fields_with_paths(schema.columns))
