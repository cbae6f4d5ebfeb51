"""`sluice tables`."""

from __future__ import annotations

from typing import Annotated

import typer

from sluice_client.cli.connection_options import ConnectionOptions, with_connection
from sluice_client.cli.list_options import ListFormat
from sluice_client.cli.query_options import Catalog, Schema

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@with_connection
def tables(
    options: ConnectionOptions,
    pattern: Annotated[
        str | None,
        typer.Argument(
            help="a part of the names, or a pattern with * and ?; catalog.schema.table: its columns"
        ),
    ] = None,
    catalog: Catalog = None,
    schema: Schema = None,
    output_format: ListFormat = None,
) -> None:
    """Lists tables, or the columns of one table."""
    from sluice_client.cli.work.tables import run

    run(options, pattern, catalog=catalog, schema=schema, asked=output_format)
