"""The tables of an ingest: found, made or changed so that what was sent fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.errors import CreationInvalid, SchemaMismatch, TableChanged, TableNotFound
from service.ingest.schema_changes.change_rules import ChangeRules
from service.ingest.schema_changes.creation_faults import creation_faults
from service.ingest.schema_changes.evolutions import Evolutions
from service.ingest.schema_changes.plan_schema import SchemaPlan, plan_schema
from service.ingest_ports import TableChanges, WritableTables
from service.model.ingest import Write
from service.model.schema_changes import SchemaDifference, TableEvolution
from service.model.schemas import TableSchema, fields_with_paths
from service.model.table_creation import CreationFault, TableCreation, partition_name
from service.model.tables import TableName
from service.model.writing import MAIN, TableKey, WritableTable

# PyIceberg commits to no newer one.
_NEWEST_FORMAT = 2
# Each time another writer has changed the same table meanwhile, and so has got on.
_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class MatchedTables:
    """The tables as they are now, by table and branch, and what was made and changed for that."""

    by_key: Mapping[TableKey, WritableTable]
    evolutions: tuple[TableEvolution, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """The tables that are there, on whichever branch, and what the others are to be made from."""

    tables: Mapping[TableName, WritableTable]
    creations: Mapping[TableName, TableCreation]


def match_tables(
    writes: Sequence[Write], tables: WritableTables, changes: TableChanges, rules: ChangeRules
) -> MatchedTables:
    """The tables as they are after all that the writes' schemas ask for was made and committed.

    What is refused for one table is refused for all before any is changed. What others change meanwhile is
    matched anew, so that of two who add the same column one does.

    Raises:
        TableNotFound: there is no such table, and nobody asks for it to be made.
        SchemaMismatch, CreationInvalid: with every reason at once.
        WriteNotAllowed, IngestInvalid: the operator does not let callers make or change it so.
        TableChanged: others change it all the time.
        CatalogDown: a catalog does not answer.
    """
    tried: set[TableName] = set()
    made = Evolutions()
    for _ in range(_ATTEMPTS):
        found = _look_up(writes, tables)
        _check_sent(writes, found, rules)
        plans = _plans(writes, found)
        _check(found, plans, rules)
        if not found.creations and not any(plan.changes for plan in plans.values()):
            keys = dict.fromkeys(each.key for each in writes)
            by_key = {key: replace(found.tables[key.table], key=key) for key in keys}
            return MatchedTables(by_key, made.all())
        for name, creation in found.creations.items():
            if changes.create(name, creation):
                made.created(name)
            elif name in tried:
                raise CreationInvalid(f"{name} is there already, and is no table that can be written to.")
            tried.add(name)
        for name, table in found.tables.items():
            own = plans[name].changes if name in plans else ()
            if own and changes.evolve(table, own):
                made.evolved(name, own)
    raise TableChanged("Others change the table's schema all the time. Send the ingest again.")


def _look_up(writes: Sequence[Write], tables: WritableTables) -> _Found:
    known: dict[TableName, WritableTable] = {}
    creations: dict[TableName, TableCreation] = {}
    faults: list[CreationFault] = []
    for name in dict.fromkeys(each.key.table for each in writes):
        try:
            known[name] = tables.writable(name, MAIN)
        except TableNotFound:
            maker = _maker(writes, name)
            if maker is None:
                raise
            write, creations[name] = maker
            faults += creation_faults(name, creations[name], write.place)
    if faults:
        raise CreationInvalid(f"The table cannot be made: {faults[0].reason}", faults)
    return _Found(known, creations)


def _maker(writes: Sequence[Write], name: TableName) -> tuple[Write, TableCreation] | None:
    """The first write that says what the table is to be made from."""
    for each in writes:
        if each.key.table == name and each.schema is not None and each.schema.create is not None:
            schema = each.schema.schema or TableSchema(0, ())
            return each, TableCreation(schema, each.schema.create)
    return None


def _plans(writes: Sequence[Write], found: _Found) -> Mapping[TableName, SchemaPlan]:
    plans: dict[TableName, SchemaPlan] = {}
    for name, table in found.tables.items():
        if table.format_version > _NEWEST_FORMAT:
            # Nothing can be written to it, which is told later.
            continue
        names = [each.name for each in table.partition_fields]
        plans[name] = plan_schema(_of(writes, name), table.schema, names)
    for name, creation in found.creations.items():
        names = [partition_name(each) for each in creation.layout.partition_fields]
        plans[name] = plan_schema(_of(writes, name), creation.schema, names)
    return plans


def _check_sent(writes: Sequence[Write], found: _Found, rules: ChangeRules) -> None:
    for each in writes:
        if each.schema is not None and each.schema.schema is not None:
            table = found.tables.get(each.key.table)
            own_count = 0 if table is None else _field_count(table.schema)
            rules.check_sent(each.key.table, _field_count(each.schema.schema), own_count)


def _field_count(schema: TableSchema) -> int:
    return sum(1 for _ in fields_with_paths(schema.columns))


def _of(writes: Sequence[Write], name: TableName) -> list[Write]:
    return [each for each in writes if each.key.table == name]


def _check(found: _Found, plans: Mapping[TableName, SchemaPlan], rules: ChangeRules) -> None:
    differences: list[SchemaDifference] = [each for plan in plans.values() for each in plan.differences]
    if differences:
        names = " and ".join(str(name) for name, plan in plans.items() if plan.differences)
        count = f"{len(differences)} place(s)"
        raise SchemaMismatch(
            f"The schema differs from that of {names} in {count}: {differences[0].detail}", differences
        )
    for name, creation in found.creations.items():
        rules.check_creation(name, _field_count(creation.schema))
    for name, plan in plans.items():
        if plan.changes:
            rules.check_evolution(name, plan.field_count)
