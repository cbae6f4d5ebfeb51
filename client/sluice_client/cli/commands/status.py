"""`sluice status`."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from sluice_client.cli.connection_options import ConnectionOptions, with_connection
from sluice_client.cli.list_options import IsJson

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@with_connection
def status(
    options: ConnectionOptions,
    identifier: Annotated[
        UUID | None, typer.Argument(metavar="[ID]", help="of a query or an ingest; none: the gateway")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="until the query or the ingest has ended")] = False,
    is_json: IsJson = False,
) -> None:
    """Prints the state of a query, of an ingest, or of the gateway's parts.

    Exits with 1 if the query or the ingest failed, and with 4 if the gateway is not ready.
    """
    from sluice_client.cli.work.status import run

    run(options, identifier, is_waiting=wait, is_json=is_json)
