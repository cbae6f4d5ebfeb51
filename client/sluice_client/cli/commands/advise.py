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
    is_applied: Annotated[
        bool,
        typer.Option("--apply", help="try it on a copy of the table, and compare predicted with seen bytes"),
    ] = False,
    kind: Annotated[
        str | None, typer.Option("--kind", help="with --apply: the advice to try, such as SORT")
    ] = None,
    output_format: ListFormat = None,
    is_json: IsJson = False,
) -> None:
    """Says which layout of a table would save recorded queries most. The table stays as it is."""
    if is_applied:
        from sluice_client.cli.work import apply_advice

        apply_advice.run(options, table, kind and kind.upper(), days, asked=output_format, is_json=is_json)
        return
    from sluice_client.cli.work.advise import run

    run(options, table, days, asked=output_format, is_json=is_json)
