"""The `sluice` command. The modules of a command are imported when it runs, so that `--help` is quick."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from api.cli.other_commands import CommandsOfAllPackages

app = typer.Typer(
    help="A query gateway for lakehouses.",
    cls=CommandsOfAllPackages,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"sluice {version('sluice-gateway')}")
        raise typer.Exit


@app.callback()
def sluice(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """A query gateway for lakehouses."""


@app.command()
def serve() -> None:
    """Serves until SIGINT or SIGTERM. Settings: `sluice config`, and docs/reference/settings.md."""
    with _one_sentence_errors():
        from api.bootstrap.memory import share_allocator_with_arrow

        share_allocator_with_arrow()
        from api.cli.commands.serve import serve as run

        run()


@app.command()
def check() -> None:
    """Tries each part that `serve` needs, within seconds, and prints what it found. Starts nothing."""
    with _one_sentence_errors():
        from api.cli.commands.check import check as run

        run()


@app.command()
def doctor(
    is_json: Annotated[
        bool, typer.Option("--json", help="print one JSON document instead of a table")
    ] = False,
    is_without_engine: Annotated[
        bool, typer.Option("--no-engine", help="skip the checks that need Spark")
    ] = False,
) -> None:
    """Finds out why it does not work here: tries every part for real, including a query and an ingest.

    Exits with status 1 if a part failed. Does not touch a running gateway.
    """
    with _one_sentence_errors():
        from api.cli.commands.doctor import doctor as run

        run(is_json=is_json, has_engine=not is_without_engine)


@app.command()
def demo() -> None:
    """Creates the demo lakehouse once, runs one query and one ingest over HTTP, and shows both."""
    with _one_sentence_errors():
        from api.cli.commands.demo import demo as run

        run()


@app.command("demo-data")
def demo_data(
    scale: Annotated[float, typer.Option(help="TPC-DS scale factor; 1 is about 1 GB of text")] = 0.1,
    schema: Annotated[str, typer.Option(help="schema of the default catalog that gets the tables")] = "tpcds",
    is_all: Annotated[bool, typer.Option("--all", help="all 24 tables, not just the first six")] = False,
) -> None:
    """Loads real TPC-DS data and creates the log table. Keeps existing data; resumes an interrupted load."""
    with _one_sentence_errors():
        from api.cli.commands.demo import demo_data as run

        run(schema, scale=scale, is_all=is_all)


@app.command()
def migrate(
    revision: Annotated[
        str | None,
        typer.Option(
            "--to", help="bring it to this schema, such as 0017, before an earlier version takes over"
        ),
    ] = None,
) -> None:
    """Brings the metrics store's schema to what this version needs. Can be run again."""
    with _one_sentence_errors():
        from api.cli.commands.migrate import migrate as run

        run(revision)


@app.command()
def jars(
    is_all: Annotated[
        bool, typer.Option("--all", help="also those for tables in S3, for Kafka, and for the demo's data")
    ] = False,
) -> None:
    """Fetches what `serve` would fetch at its first start, into SLUICE_JARS_DIR. Can be run again."""
    with _one_sentence_errors():
        from api.cli.commands.jars import jars as run

        run(is_all=is_all)


@app.command()
def config(
    is_describing: Annotated[bool, typer.Option("--describe", help="every setting with its meaning")] = False,
) -> None:
    """Prints the settings of this environment, with secrets masked."""
    with _one_sentence_errors():
        from api.cli.commands.config import config as run

        run(is_describing=is_describing)


keys = typer.Typer(help="Creates, lists and revokes API keys.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(keys, name="keys")


@keys.command("create")
def create_key(
    principal: Annotated[str, typer.Argument(help="whose key it is: the caller of its queries and ingests")],
    roles: Annotated[list[str], typer.Option("--role", help="admin: may manage keys; may be repeated")] = [],  # noqa: B006
    description: Annotated[str, typer.Option(help="what it is for")] = "",
    expires_in_days: Annotated[int, typer.Option(help="0: it does not expire", min=0)] = 90,
) -> None:
    """Creates a key, and prints it as the only line on standard output. It is shown only once."""
    with _one_sentence_errors():
        from api.cli.commands.api_keys import create as run

        run(principal, roles, description, expires_in_days or None)


@keys.command("list")
def list_keys(
    is_json: Annotated[bool, typer.Option("--json", help="one JSON document instead of a table")] = False,
) -> None:
    """Prints all keys with their last use, without their secrets."""
    with _one_sentence_errors():
        from api.cli.commands.api_keys import list_keys as run

        run(is_json=is_json)


@keys.command("revoke")
def revoke_key(key_id: Annotated[str, typer.Argument(help="as `sluice keys list` shows it")]) -> None:
    """Revokes a key. Every gateway refuses it within seconds."""
    with _one_sentence_errors():
        from api.cli.commands.api_keys import revoke as run

        run(key_id)


audit = typer.Typer(help="Exports the audit log.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(audit, name="audit")


@audit.command("export")
def export_audit_log(
    since: Annotated[
        str | None,
        typer.Option(help="only events stored at this time or later, such as 2026-01-31T12:00:00Z"),
    ] = None,
    until: Annotated[str | None, typer.Option(help="only events stored before this time")] = None,
    after: Annotated[int, typer.Option(help="only events after this position", min=0)] = 0,
) -> None:
    """Prints audit events as NDJSON, in the order in which they were stored."""
    with _one_sentence_errors():
        from api.cli.commands.audit import export as run

        run(since, until, after)


policy = typer.Typer(
    help="Shows, exports, imports and tries policies.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(policy, name="policy")
AsRoles = Annotated[
    list[str], typer.Option("--as", help="a role; may be repeated, for a caller with several")
]


@policy.command("show")
def show_policies() -> None:
    """Prints all policies as a table."""
    with _one_sentence_errors():
        from api.cli.commands.policies import show as run

        run()


@policy.command("export")
def export_policies(
    path: Annotated[Path | None, typer.Argument(help="a file; without it, standard output")] = None,
) -> None:
    """Writes all policies as YAML."""
    with _one_sentence_errors():
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
    with _one_sentence_errors():
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
    with _one_sentence_errors():
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
    with _one_sentence_errors():
        from api.cli.commands.policies import explain as run

        run(roles, sql, catalog, schema)


def main() -> None:
    """Runs the console script."""
    if "_SLUICE_COMPLETE" in os.environ:
        # A shell asks for completions, as the client's `sluice completion` has set up.
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    app()


@contextmanager
def _one_sentence_errors() -> Iterator[None]:
    from service.errors.gateway_error import GatewayError

    try:
        yield
    except GatewayError as error:
        typer.echo(f"sluice: {error.detail}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("sluice: interrupted", err=True)
        raise typer.Exit(130) from None
