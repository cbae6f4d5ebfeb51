"""The console script `sluice-client`, and `python -m sluice_client`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sluice_client.cli.commands import advise, cancel, completion, explain, ingest, query, status, tables, top

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
)
for module in (query, ingest, explain, tables, advise, status, cancel, top, completion):
    app.add_typer(module.app)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"sluice-client {version('sluice-client')}")
        except PackageNotFoundError:
            typer.echo("sluice-client, from its source")
        raise typer.Exit


@app.callback()
def sluice_client(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """The client of Sluice, a query gateway for lakehouses."""


def main() -> None:
    """Runs the command line."""
    from sluice_client.cli.shell_completion import answer_completions

    program = "sluice-client"
    answer_completions(program)
    app(prog_name=program if sys.argv[0].endswith("__main__.py") else None)
