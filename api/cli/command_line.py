"""The `sluice` command. The modules of a command are imported when it runs, so that `--help` is quick."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from api.cli.command_groups.audit_commands import audit
from api.cli.command_groups.key_commands import keys
from api.cli.command_groups.policy_commands import policy
from api.cli.one_sentence_errors import one_sentence_errors
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
    with one_sentence_errors():
        from api.bootstrap.memory import share_allocator_with_arrow

        share_allocator_with_arrow()
        from api.cli.commands.serve import serve as run

        run()


@app.command()
def check() -> None:
    """Tries each part that `serve` needs, within seconds, and prints what it found. Starts nothing."""
    with one_sentence_errors():
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
    with one_sentence_errors():
        from api.cli.commands.doctor import doctor as run

        run(is_json=is_json, has_engine=not is_without_engine)


@app.command()
def demo() -> None:
    """Creates the demo lakehouse once, runs one query and one ingest over HTTP, and shows both."""
    with one_sentence_errors():
        from api.cli.commands.demo import demo as run

        run()


@app.command("demo-data")
def demo_data(
    scale: Annotated[float, typer.Option(help="TPC-DS scale factor; 1 is about 1 GB of text")] = 0.1,
    schema: Annotated[str, typer.Option(help="schema of the default catalog that gets the tables")] = "tpcds",
    is_all: Annotated[bool, typer.Option("--all", help="all 24 tables, not just the first six")] = False,
) -> None:
    """Loads real TPC-DS data and creates the log table. Keeps existing data; resumes an interrupted load."""
    with one_sentence_errors():
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
    with one_sentence_errors():
        from api.cli.commands.migrate import migrate as run

        run(revision)


@app.command()
def jars(
    is_all: Annotated[
        bool, typer.Option("--all", help="also those for tables in S3, for Kafka, and for the demo's data")
    ] = False,
) -> None:
    """Fetches what `serve` would fetch at its first start, into SLUICE_JARS_DIR. Can be run again."""
    with one_sentence_errors():
        from api.cli.commands.jars import jars as run

        run(is_all=is_all)


@app.command()
def config(
    is_describing: Annotated[bool, typer.Option("--describe", help="every setting with its meaning")] = False,
) -> None:
    """Prints the settings of this environment, with secrets masked."""
    with one_sentence_errors():
        from api.cli.commands.config import config as run

        run(is_describing=is_describing)


app.add_typer(keys, name="keys")
app.add_typer(audit, name="audit")
app.add_typer(policy, name="policy")


def main() -> None:
    """Runs the console script."""
    if "_SLUICE_COMPLETE" in os.environ:
        # A shell asks for completions, as the client's `sluice completion` has set up.
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    app()
