"""Finds, creates or changes the tables of an ingest so that its records fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from service.errors.ingest_errors import CreationInvalid, IngestInvalid
from service.errors.table_errors import TableChanged, TableNotFound
from service.ingest.one_refusal import OneRefusal, refused_at
from service.ingest.schema_changes.change_rules import ChangeRules
from service.ingest.schema_changes.evolutions import Evolutions, reporting
from service.ingest.schema_changes.plan_table import TablePlan, plan_table
from service.model.ingest.ingest_request import Write, WriteFault
from service.model.ingest.writing import TableKey, WritableTable
from service.model.tables.schema_changes import TableEvolution
from service.model.tables.table_creation import TableCreation
from service.model.tables.tables import TableName
from service.ports.tables.table_changes import TableChanges, WritableTables

# Each retry means that another writer changed the same table in the meantime, and so made progress.
_ATTEMPTS = 100

Check = Callable[[Sequence[Write], Mapping[TableKey, WritableTable]], object]
"""A function that raises IngestInvalid if a write does not fit its table among the given tables."""
_Plans = Mapping[TableName, TablePlan]


@dataclass(frozen=True, slots=True)
class MatchedTables:
    """The tables as they are now, by table and branch, and the changes that were made."""

    by_key: Mapping[TableKey, WritableTable]
    evolutions: tuple[TableEvolution, ...] = ()


def match_tables(
    writes: Sequence[Write],
    tables: WritableTables,
    changes: TableChanges,
    rules: ChangeRules,
    check: Check,
) -> MatchedTables:
    """Makes the changes that the writes' schemas require, and returns the tables after them.

    All tables are planned before any is changed, and `check` is called with the planned ones. An error for
    one is an error for all, and all errors are reported at once. If another process changes a table in the
    meantime, it is matched again, so that only one of two writers adds the same column.

    Raises:
        TableNotFound: a table is missing, and no write creates it; nothing else is wrong.
        SchemaMismatch, CreationInvalid: with every reason at once.
        WriteNotAllowed, IngestInvalid: the operator does not let callers create or change the table in this
            way, or `check` rejects it, or the branch of a write is a tag.
        TableChanged: other processes keep changing it.
        CatalogDown: a catalog does not answer.
    """
    tried: set[TableName] = set()
    made = Evolutions()
    with reporting(made.all):
        for _ in range(_ATTEMPTS):
            plans = _plans(writes, tables, changes, rules, check)
            if not any(plan.is_change for plan in plans.values()):
                return MatchedTables(_by_key(writes, plans), made.all())
            for name, plan in plans.items():
                if plan.creation is not None:
                    _create(name, plan.creation, changes, made, is_again=name in tried)
                    tried.add(name)
            _evolve(plans, changes, made)
        raise TableChanged("Other writers change the table's schema all the time. Send the ingest again.")


def _create(
    name: TableName, creation: TableCreation, changes: TableChanges, made: Evolutions, *, is_again: bool
) -> None:
    if changes.create(name, creation):
        made.created(name)
    elif is_again:
        raise CreationInvalid(f"{name} exists already, and is not a table that can be written to.")


def _evolve(plans: _Plans, changes: TableChanges, made: Evolutions) -> None:
    for name, plan in plans.items():
        # A table that was just created is changed in the next round, as the catalog has it then.
        if plan.now is None:
            continue
        if plan.changes:
            # A sort order may use new columns, so it is added after them.
            if changes.evolve(plan.now, plan.changes):
                made.evolved(name, plan.changes)
        elif plan.sort_orders:
            changes.add_sort_orders(plan.now, plan.sort_orders)


def _plans(
    writes: Sequence[Write], tables: WritableTables, changes: TableChanges, rules: ChangeRules, check: Check
) -> _Plans:
    own: dict[TableName, list[Write]] = {}
    for write in writes:
        own.setdefault(write.key.table, []).append(write)
    found: dict[TableName, WritableTable | None] = {}
    plans: dict[TableName, TablePlan] = {}
    missing: dict[TableName, TableNotFound] = {}
    refusal = OneRefusal()
    for name, of_table in own.items():
        try:
            with refusal.gathering():
                found[name] = _found(name, of_table, tables)
        except TableNotFound as error:
            missing[name] = error
    for name, table in found.items():
        with refusal.gathering():
            plan = plan_table(name, own[name], table, rules)
            if plan.creation is not None:
                changes.check_creation(name, plan.creation)
            plans[name] = plan
    if missing or not refusal.is_empty or any(plan.is_change for plan in plans.values()):
        with refusal.gathering():
            check(_as_planned(writes, plans), _by_key(writes, plans))
    _add_missing(missing, own, refusal)
    refusal.check()
    return plans


def _add_missing(
    missing: Mapping[TableName, TableNotFound], own: Mapping[TableName, list[Write]], refusal: OneRefusal
) -> None:
    """Adds missing tables to the other errors, or raises TableNotFound if there are none."""
    if missing and refusal.is_empty:
        first, *others = missing.values()
        raise TableNotFound(first.table, first.nearest, others)
    for name, error in missing.items():
        refusal.add(IngestInvalid(error.detail, [WriteFault(f"{own[name][0].place}/table", error.detail)]))


def _found(name: TableName, writes: Sequence[Write], tables: WritableTables) -> WritableTable | None:
    opened: dict[str, WritableTable] = {}
    try:
        for write in writes:
            if write.key.branch not in opened:
                with refused_at(f"{write.place}/branch"):
                    opened[write.key.branch] = tables.writable(name, write.key.branch)
    except TableNotFound:
        if any(write.schema is not None and write.schema.create is not None for write in writes):
            return None
        raise
    # A table has one schema for all its branches; the last one loaded is the newest.
    return next(reversed(opened.values()))


def _as_planned(writes: Sequence[Write], plans: _Plans) -> list[Write]:
    return [plans[write.key.table].write(write) if write.key.table in plans else write for write in writes]


def _by_key(writes: Sequence[Write], plans: _Plans) -> dict[TableKey, WritableTable]:
    known = [key for key in _keys(writes) if key.table in plans]
    return {key: replace(plans[key.table].planned, key=key) for key in known}


def _keys(writes: Sequence[Write]) -> list[TableKey]:
    return list(dict.fromkeys(write.key for write in writes))
