"""The commands of the interactive mode that are not SQL. Each begins with a backslash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from sluice_client.cli.command_session import Session
from sluice_client.cli.exits import WrongUsage
from sluice_client.cli.formats.row_format import BINARY, Format
from sluice_client.cli.output import Output
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.cli.work.query import format_of
from sluice_client.cli.work.run_statement import Manner
from sluice_client.cli.work.tables import show_table, show_tables

META_COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "\\d": "list tables; \\d TABLE: its columns; \\d PATTERN: tables with it in their names",
        "\\format": "the format of rows: table, vertical, csv, json, jsonl or markdown",
        "\\q": "leave; so does Ctrl-D",
        "\\x": "rows as blocks, or as a table again",
        "\\?": "this list",
    }
)
"""Each command with its meaning."""


class Leave(Exception):
    """The interactive mode ends."""


def run_meta_command(text: str, session: Session, manner: Manner, output: Output) -> Manner:
    r"""Runs a command, and returns how the next statements are shown.

    Raises:
        Leave: it is `\q`.
        WrongUsage: there is no such command.
    """
    command, _, argument = text.strip().rstrip(";").strip().partition(" ")
    argument = argument.strip()
    match command:
        case "\\q" | "\\quit":
            raise Leave
        case "\\?" | "\\h" | "\\help":
            output.text(f"{name:<8} {says}\n" for name, says in META_COMMANDS.items())
        case "\\d":
            _describe(argument, session, manner, output)
        case "\\x":
            is_vertical = manner.format is Format.VERTICAL
            return replace(manner, format=Format.TABLE if is_vertical else Format.VERTICAL)
        case "\\format":
            return replace(manner, format=_format(argument))
        case _:
            raise WrongUsage(f"there is no command {safe_text(command)}: \\? lists them")
    return manner


def _format(text: str) -> Format:
    found = format_of(text)
    if found is None or found in BINARY:
        raise WrongUsage("\\format takes a format of text")
    return found


def _describe(name: str, session: Session, manner: Manner, output: Output) -> None:
    """Describes the table of this name, in the schema of the statements if it has no other."""
    name = name.replace("`", "")
    catalog, schema = session.run(session.shared.place(manner.options)) if name else (None, None)
    parts = name.split(".") if name else []
    context = [part for part in (catalog, schema) if part]
    has_full_name = (
        len(parts) >= 3 or (len(parts) == 1 and len(context) == 2) or (len(parts) == 2 and catalog)
    )
    if name and has_full_name and not any(mark in name for mark in "*?["):
        full = ".".join([*context[: max(3 - len(parts), 0)], *parts])
        show_table(session, full, manner.format, output)
        return
    show_tables(session, name or None, manner.format, output)
