"""Commands that other installed packages add to `sluice`, by entry points of the group `sluice.commands`.

The gateway knows no such package. Names are read from the metadata of packages, and a command is imported
when it runs. A name that `sluice` has itself is its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

GROUP = "sluice.commands"
CLIENT_COMMANDS = ("advise", "cancel", "completion", "explain", "ingest", "query", "status", "tables", "top")
"""Commands of the client, for a message if it is not installed."""
_HOW_TO_INSTALL = "pip install './client[cli]' in a checkout of Sluice"


@cache
def other_commands() -> Mapping[str, EntryPoint]:
    """Returns the entry points by name. The first package that has a name wins."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point)
    return found


class CommandsOfAllPackages(TyperGroup):
    """The gateway's own commands, and those of other packages after them."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Returns a command; one of another package is imported now."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        point = other_commands().get(cmd_name)
        return None if point is None else _loaded(point)

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns all names, for completion in shells."""
        own = super().list_commands(ctx)
        return [*own, *(name for name in sorted(other_commands()) if name not in own)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the gateway's own commands, and then the names of the others."""
        own = super().list_commands(ctx)
        rows = [(name, super(CommandsOfAllPackages, self).get_command(ctx, name)) for name in own]
        limit = formatter.width - 6 - max(map(len, own))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(limit)) for name, command in rows if command is not None]
            )
        for package, names in _by_package(own).items():
            with formatter.section(f"Commands of {package} (`sluice COMMAND --help` explains one)"):
                formatter.write_text(", ".join(names))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command of the arguments. One of the client that is missing says how to get it."""
        name = args[0]
        if name in CLIENT_COMMANDS and self.get_command(ctx, name) is None:
            typer.echo(f"sluice: `{name}` is a command of the client: {_HOW_TO_INSTALL}", err=True)
            raise typer.Exit(2)
        return super().resolve_command(ctx, args)


def _by_package(own: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, point in sorted(other_commands().items()):
        if name not in own:
            package = "another package" if point.dist is None else point.dist.name
            found.setdefault(package, []).append(name)
    return found


def _loaded(point: EntryPoint) -> Any:
    try:
        return get_command(point.load())
    except ImportError as error:
        typer.echo(f"sluice: `{point.name}` cannot be loaded: {error}. {_HOW_TO_INSTALL}", err=True)
        raise typer.Exit(2) from None
