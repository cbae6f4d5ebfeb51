"""`sluice advise`."""

from __future__ import annotations

from typing import Annotated

import typer

from sluice_client.cli.connection_options import ConnectionOptions, with_connection
from sluice_client.cli.list_options import IsJson, ListFormat

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@with_connection
def advise(
    options: ConnectionOptions,
    table: Annotated[str, typer.Argument(help="catalog.schema.table")],
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="only for queries of so many days")
    ] = None,
    output_format: ListFormat = None,
    is_json: IsJson = False,
) -> None:
    """Says which layout of a table would save recorded queries most. Changes nothing."""
    from sluice_client.cli.work.advise import run

    run(options, table, days, asked=output_format, is_json=is_json)
