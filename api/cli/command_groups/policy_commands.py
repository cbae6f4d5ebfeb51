"""The commands of `sluice policy`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.one_sentence_errors import one_sentence_errors

policy = typer.Typer(
    help="Shows, exports, imports and tries policies.", no_args_is_help=True, rich_markup_mode=None
)
AsRoles = Annotated[
    list[str], typer.Option("--as", help="a role; may be repeated, for a caller with several")
]


@policy.command("show")
def show_policies() -> None:
    """Prints all policies as a table."""
    with one_sentence_errors():
        from api.cli.commands.policies import show as run

        run()


@policy.command("export")
def export_policies(
    path: Annotated[Path | None, typer.Argument(help="a file; without it, standard output")] = None,
) -> None:
    """Writes all policies as YAML."""
    with one_sentence_errors():
        from api.cli.commands.policies import export as run

        run(path)


@policy.command("import")
def import_policies(
    path: Annotated[Path, typer.Argument(help="a file, or - for standard input")],
    is_dry_run: Annotated[
        bool, typer.Option("--dry-run", help="check them and show the difference, and change nothing")
    ] = False,
    is_unchecked: Annotated[
        bool, typer.Option("--no-check", help="do not start an engine to check new row filters and masks")
    ] = False,
) -> None:
    """Replaces all policies by those of a YAML file, if the file's version is the current one.

    A file without a version replaces any version.
    """
    with one_sentence_errors():
        from api.cli.commands.policies import import_file as run

        run(path, is_dry_run=is_dry_run, is_checked=not is_unchecked)


@policy.command("decide")
def decide_by_policies(
    action: Annotated[
        str, typer.Argument(help="select, insert, modify, describe, create, maintain or admin")
    ],
    table: Annotated[str, typer.Argument(help="catalog.schema.table")],
    roles: AsRoles,
) -> None:
    """Prints what the policies decide for these roles. Exits with status 3 if they refuse it."""
    with one_sentence_errors():
        from api.cli.commands.policies import decide as run

        run(roles, action, table)


@policy.command("explain")
def explain_by_policies(
    sql: Annotated[str, typer.Argument(help="a query")],
    roles: AsRoles,
    catalog: Annotated[str | None, typer.Option(help="of names without a catalog")] = None,
    schema: Annotated[str | None, typer.Option(help="of names without a schema")] = None,
) -> None:
    """Prints, for each table that the query names, what these roles see of it. Runs nothing.

    Exits with status 3 if the policies refuse a table.
    """
    with one_sentence_errors():
        from api.cli.commands.policies import explain as run

        run(roles, sql, catalog, schema)
