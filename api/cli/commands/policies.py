"""`sluice policy`: shows, exports, imports and tries policies, directly in the metrics store."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel, Settings
from api.bootstrap.settings.callers.authorization import Authorization
from api.bootstrap.settings_loading import load_settings
from api.bootstrap.wiring.build_authorization import opened_policies
from api.cli.commands.audited_commands import command_event, operator
from api.cli.policy_file import MAX_FILE_BYTES, PolicyFile, PolicyFileInvalid, read_policy_file, yaml_of
from api.http.schemas.administration.policy_answers import document_of
from service.errors.gateway_error import CannotStart
from service.errors.policy_errors import PoliciesInvalid
from service.model.audit import events
from service.model.policies.actions import Action
from service.model.policies.decisions import Decision, Refused
from service.model.policies.policies import AnyPolicy, DefinerView, Grant, RowFilter
from service.model.policies.policy_changes import PolicyDifference
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies
from service.policies.manage_policies import PlannedChange
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.table_names import table_names

REFUSED = 3
"""The exit status if the policies refuse what was asked."""
_NOT_USED = "Policies do not decide yet: set SLUICE_AUTHORIZATION=policies for the gateways."


def show() -> None:
    """Prints all policies as a table.

    Raises:
        CannotStart: this version cannot use the metrics store.
        PartDown: the policies cannot be read.
    """
    settings = _settings()
    with opened_policies(settings) as (policies, _):
        found = policies.current()
    table = Table("role", "policy", "tables", "SQL", box=None, pad_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    for policy in found.policies:
        table.add_row(*map(Text, (policy.role, _kind(policy), _tables(policy), _sql(policy))))
    typer.echo(f"version {found.version}", err=True)
    Console().print(table)


def export(path: Path | None) -> None:
    """Writes all policies as YAML, to standard output if there is no path.

    Raises:
        CannotStart: the file cannot be written, or this version cannot use the metrics store.
        PartDown: the policies cannot be read.
    """
    settings = _settings()
    with opened_policies(settings) as (policies, _):
        text = yaml_of(document_of(policies.current()))
    if path is None:
        typer.echo(text, nl=False)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotStart(f"The file {path} cannot be written: {error.strerror}.") from None


def import_file(path: Path, *, is_dry_run: bool, is_checked: bool) -> None:
    """Replaces all policies by those of a file, and prints the difference.

    Raises:
        PolicyFileInvalid: the file cannot be read, or its policies are not valid.
        PoliciesChanged: the file has another version than the store.
        CannotStart: this version cannot use the metrics store, or the engine does not start.
        PartDown: the store, a catalog or the engine does not answer.
    """
    file = _read(path)
    settings = _settings()
    with opened_policies(settings) as (policies, log):
        proposal, version = file.body.proposal(), file.body.version
        try:
            if is_dry_run:
                planned = policies.plan(proposal, version, is_checked=is_checked)
            else:
                planned = policies.replace(proposal, version, operator(), is_checked=is_checked)
                log.add(
                    [command_event(events.Action.POLICIES_CHANGED, f"version {planned.policies.version}")]
                )
        except PoliciesInvalid as error:
            faults = (
                f"{file.name}:{file.line(fault.pointer or '')}: {fault.pointer or '/'}: {fault.detail}"
                for fault in error.faults
            )
            raise PolicyFileInvalid("\n".join(faults)) from None
    _print_change(planned, is_dry_run=is_dry_run)
    if settings.authorization is Authorization.OFF:
        typer.echo(_NOT_USED, err=True)


def decide(roles: Sequence[str], action: str, table: str) -> None:
    """Prints the decision for these roles. Exits with status 3 if the policies refuse it.

    Raises:
        CannotStart: there is no such action, or it is not a table's full name.
        PartDown: the policies cannot be read.
    """
    try:
        wanted = Action(action.lower())
    except ValueError:
        raise CannotStart(f"There is no action {action}: use one of {', '.join(Action)}.") from None
    name = _table(table)
    with opened_policies(_settings()) as (policies, _):
        _, decision = policies.decide(frozenset(roles), wanted, name)
    _print_decision(name, wanted, decision)
    if isinstance(decision, Refused):
        raise typer.Exit(REFUSED)


def explain(roles: Sequence[str], sql: str, catalog: str | None, schema: str | None) -> None:
    """Prints, for each table that a query names, what these roles see of it. Runs nothing.

    Exits with status 3 if the policies refuse a table.

    Raises:
        CannotStart: the text cannot be read as a query.
        PartDown: the policies cannot be read.
    """
    settings = _settings()
    parsed = parse(sql)
    if parsed is None:
        raise CannotStart("The text cannot be read as one query, so its tables are not known.")
    catalogs = frozenset({settings.default_catalog, *settings.catalogs})
    named = table_names(parsed, catalogs, catalog or settings.default_catalog, schema)
    tables = list(dict.fromkeys(found.name for found in named.values()))
    unclear = [".".join(each.parts) for each in parsed.references if each.end not in named]
    with opened_policies(settings) as (policies, _):
        compiled = CompiledPolicies(policies.current())
    decisions = [(table, compiled.decide(frozenset(roles), Action.SELECT, table)) for table in tables]
    for table, decision in decisions:
        _print_decision(table, Action.SELECT, decision)
        _print_definer(table, compiled)
    for text in dict.fromkeys(unclear):
        typer.echo(f"{text}: not decided here: it is a part of the query, or its full name is not clear")
    typer.echo("The tables below a view are decided when a query runs.", err=True)
    if any(isinstance(decision, Refused) for _, decision in decisions):
        raise typer.Exit(REFUSED)


def _print_definer(table: TableName, compiled: CompiledPolicies) -> None:
    roles = compiled.definer_roles(table)
    if roles:
        typer.echo(f"  its tables are read with the rights of {', '.join(sorted(roles))}")


def _settings() -> Settings:
    settings = load_settings()
    configure_logging(LogLevel.WARNING, LogFormat.CONSOLE)
    return settings


def _read(path: Path) -> PolicyFile:
    try:
        if str(path) == "-":
            return read_policy_file("-", sys.stdin.buffer.read(MAX_FILE_BYTES + 1))
        with path.open("rb") as file:
            return read_policy_file(str(path), file.read(MAX_FILE_BYTES + 1))
    except OSError as error:
        raise PolicyFileInvalid(f"The file {path} cannot be read: {error.strerror}.") from None


def _table(text: str) -> TableName:
    parts = text.split(".")
    if len(parts) < 3 or not all(parts):
        raise CannotStart("A table's full name is catalog.schema.table.")
    return TableName.of(text)


def _print_change(planned: PlannedChange, *, is_dry_run: bool) -> None:
    for line in _lines(planned.difference):
        typer.echo(line)
    for warning in planned.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if not planned.difference:
        typer.echo(f"Nothing changes: version {planned.policies.version} has these policies.")
    elif is_dry_run:
        typer.echo("Nothing was changed: this was a dry run.")
    else:
        typer.echo(f"The policies have version {planned.policies.version} now.")


def _lines(difference: PolicyDifference) -> Iterator[str]:
    for sign, policies in (("-", difference.removed), ("+", difference.added)):
        for policy in policies:
            sql = _sql(policy).replace("\n", " ")
            yield f"{sign} {policy.role}: {_kind(policy)} {_tables(policy)} {sql}".rstrip()


def _tables(policy: AnyPolicy) -> str:
    return str(policy.view if isinstance(policy, DefinerView) else policy.pattern)


def _kind(policy: AnyPolicy) -> str:
    if isinstance(policy, Grant):
        return f"{'deny' if policy.is_denial else 'grant'} {policy.action}"
    if isinstance(policy, DefinerView):
        return "definer of view"
    return "row filter" if isinstance(policy, RowFilter) else f"mask {policy.column}"


def _sql(policy: AnyPolicy) -> str:
    if isinstance(policy, Grant):
        return ""
    if isinstance(policy, DefinerView):
        return policy.definition
    return policy.predicate if isinstance(policy, RowFilter) else policy.expression


def _print_decision(table: TableName, action: Action, decision: Decision) -> None:
    if isinstance(decision, Refused):
        typer.echo(f"{table}: {action} is refused: {_reason(decision)}")
        return
    typer.echo(f"{table}: {action} is allowed")
    restriction = decision.restriction
    if restriction.row_filter is not None:
        typer.echo(f"  rows: {restriction.row_filter}")
    for column, expression in restriction.masks:
        typer.echo(f"  {column}: {expression}")


def _reason(refused: Refused) -> str:
    if refused.shows is not None:
        return f"its rows were sent to {refused.shows}, of which these roles do not see every row and column"
    return "a denial says so" if refused.is_denied else "no grant allows it"
