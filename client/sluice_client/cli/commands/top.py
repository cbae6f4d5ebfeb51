"""`sluice top`."""

from __future__ import annotations

from typing import Annotated

import typer

from sluice_client.cli.connection_options import ConnectionOptions, with_connection

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@with_connection
def top(
    options: ConnectionOptions,
    is_for_all: Annotated[
        bool, typer.Option("--all", help="the queries of all callers, for administrators by policies")
    ] = False,
    is_once: Annotated[bool, typer.Option("--once", help="print the list once")] = False,
    interval: Annotated[float, typer.Option("--interval", min=0.1, help="seconds between two looks")] = 2.0,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, help="queries of each state at most")
    ] = 50,
) -> None:
    """Shows queries that run or wait, until Ctrl-C."""
    from sluice_client.cli.work.top import run

    run(options, is_for_all=is_for_all, is_once=is_once, interval_s=interval, limit=limit)
