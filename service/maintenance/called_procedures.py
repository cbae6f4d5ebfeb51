"""Procedures of maintenance that SQL may call: which there are, and what a call asks of the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from service.model.ingest.writing import MAIN, TableKey
from service.model.operations.maintenance import (
    MaintenanceBounds,
    MaintenanceOperation,
    MaintenanceRequest,
)
from service.model.tables.tables import TableName
from service.model.writes.procedure_calls import ArgumentKind, ProcedureCall

SCHEMA = "system"
_WORDS: Mapping[ArgumentKind, str] = {
    ArgumentKind.TEXT: "a text in quotes",
    ArgumentKind.NUMBER: "a whole number",
    ArgumentKind.MOMENT: "a literal such as TIMESTAMP '2026-01-31 00:00:00'",
}
_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_LONGEST = timedelta(days=3650)
"""As requests for maintenance have it. Without this bound, an age could lead to a date of no calendar."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """An operation, and the arguments that a call of it may have beside the table."""

    operation: MaintenanceOperation
    arguments: Mapping[str, ArgumentKind]


PROCEDURES: Mapping[str, Procedure] = MappingProxyType(
    {
        "rewrite_data_files": Procedure(MaintenanceOperation.COMPACT, {}),
        "expire_snapshots": Procedure(
            MaintenanceOperation.EXPIRE,
            {"older_than": ArgumentKind.MOMENT, "retain_last": ArgumentKind.NUMBER},
        ),
        "remove_orphan_files": Procedure(
            MaintenanceOperation.REMOVE_ORPHANS, {"older_than": ArgumentKind.MOMENT}
        ),
    }
)
"""By name, as Iceberg spells it."""


def check_call(call: ProcedureCall) -> None:
    """Checks that a call is of an operation that the gateway has, with arguments that it takes.

    >>> check_call(ProcedureCall(("lake", "system", "rollback_to_snapshot")))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    service.errors.statement_errors.StatementNotAllowed: The procedure lake.system.rollback_to_snapshot...

    Raises:
        StatementNotAllowed: there is no such operation, or it takes no such argument.
        SqlInvalid: an argument has another type, or none is a table.
    """
    procedure = _procedure(call)
    taken = {"table": ArgumentKind.TEXT, **procedure.arguments}
    given: set[str] = set()
    for argument in call.arguments:
        if not argument.name:
            raise SqlInvalid("Arguments are written with their names, such as table => 'shop.item'.")
        kind = taken.get(argument.name)
        if kind is None:
            raise StatementNotAllowed(
                f"{call.name[-1]} may not have the argument {argument.name[:40]} here. It takes"
                f" {', '.join(taken)}."
            )
        if argument.name in given:
            raise SqlInvalid(f"The argument {argument.name} is given twice.")
        if argument.kind is not kind:
            raise SqlInvalid(f"The argument {argument.name} is {_WORDS[kind]}.")
        given.add(argument.name)
    if "table" not in given:
        raise SqlInvalid(f"{call.name[-1]} needs a table, such as table => 'shop.item'.")


def called_request(
    call: ProcedureCall, table: TableName, default: MaintenanceBounds, now: datetime
) -> MaintenanceRequest:
    """Returns the maintenance of a checked call; arguments that are left out are those of `default`.

    Ages are counted from `now`, and rounded up: nothing younger than the call says is removed.

    Raises:
        SqlInvalid: a moment is in the future or too long ago, or no snapshot would be left.
    """
    procedure = _procedure(call)
    bounds = default
    before = call.since_1970("older_than")
    if before is not None:
        age = _age(before, now)
        is_of_snapshots = procedure.operation is MaintenanceOperation.EXPIRE
        bounds = replace(bounds, snapshot_age=age) if is_of_snapshots else replace(bounds, orphan_age=age)
    kept = call.argument("retain_last")
    if kept is not None:
        bounds = replace(bounds, snapshots_kept=_kept(int(kept.value or 0)))
    return MaintenanceRequest(TableKey(table, MAIN), (procedure.operation,), bounds)


def _procedure(call: ProcedureCall) -> Procedure:
    found = PROCEDURES.get(call.name[-1].lower())
    if found is None or len(call.name) != 3 or call.name[1].lower() != SCHEMA:
        offered = ", ".join(f"<catalog>.{SCHEMA}.{name}" for name in PROCEDURES)
        raise StatementNotAllowed(
            f"The procedure {'.'.join(call.name)[:200]} may not be called here. These may: {offered}."
        )
    return found


def _age(before: timedelta, now: datetime) -> timedelta:
    age = now - _1970 - before
    if age < timedelta():
        raise SqlInvalid("The argument older_than is in the future.")
    if age > _LONGEST:
        raise SqlInvalid(f"The argument older_than is at most {_LONGEST.days} days ago.")
    return timedelta(seconds=-(-age // _SECOND))


def _kept(count: int) -> int:
    if not 1 <= count <= 100_000:
        raise SqlInvalid("The argument retain_last is a number from 1 to 100000.")
    return count
