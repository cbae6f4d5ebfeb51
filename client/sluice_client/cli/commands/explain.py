"""`sluice explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sluice_client.cli.connection_options import ConnectionOptions, with_connection
from sluice_client.cli.query_options import Catalog, Parameters, Schema, SqlFile

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@with_connection
def explain(
    options: ConnectionOptions,
    query: Annotated[
        str | None,
        typer.Argument(metavar="[ID|SQL]", help="a query that was sent, or SQL that is only planned"),
    ] = None,
    file: SqlFile = None,
    parameter: Parameters = None,
    catalog: Catalog = None,
    schema: Schema = None,
    output_format: Annotated[
        str, typer.Option("--format", "-F", metavar="FORMAT", help="text, json or html")
    ] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="a file for it")] = None,
    is_opened: Annotated[bool, typer.Option("--open", help="show the page in a browser")] = False,
) -> None:
    """Shows what a query read and why, or what SQL would read now, without running it."""
    from sluice_client.cli.work.explain import ExplainArguments, run

    run(
        options,
        ExplainArguments(
            query=query,
            file=file,
            parameters=parameter or (),
            catalog=catalog,
            schema=schema,
            format=output_format,
            output=output,
            is_opened=is_opened,
        ),
    )
