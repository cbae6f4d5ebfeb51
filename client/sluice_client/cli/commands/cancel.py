"""`sluice cancel`."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from sluice_client.cli.connection_options import ConnectionOptions, with_connection

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@with_connection
def cancel(
    options: ConnectionOptions,
    query_ids: Annotated[list[UUID], typer.Argument(metavar="ID...", help="of queries")],
) -> None:
    """Cancels queries. A query that has ended stays as it is."""
    from sluice_client.cli.work.cancel import run

    run(options, query_ids)
