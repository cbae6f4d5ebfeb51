"""`sluice query`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sluice_client.cli.connection_options import ConnectionOptions, with_connection
from sluice_client.cli.query_options import (
    Catalog,
    Parameters,
    PriorityOption,
    RowLimit,
    Schema,
    SqlFile,
    Tags,
    TimeoutOption,
)

if TYPE_CHECKING:
    from sluice_client.cli.command_session import Session
    from sluice_client.cli.work.run_statement import Manner

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_FORMATS = "table, vertical, csv, json, jsonl, arrow, parquet or markdown"


@app.command()
@with_connection
def query(
    options: ConnectionOptions,
    sql: Annotated[
        str | None, typer.Argument(help="the SQL; - for standard input; none: the interactive mode")
    ] = None,
    file: SqlFile = None,
    parameter: Parameters = None,
    catalog: Catalog = None,
    schema: Schema = None,
    row_limit: RowLimit = None,
    timeout: TimeoutOption = None,
    priority: PriorityOption = None,
    tag: Tags = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-F",
            help=f"{_FORMATS} [default: table on a terminal, csv otherwise]",
            metavar="FORMAT",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="a file for the rows; its name may say the format")
    ] = None,
    max_rows: Annotated[
        int,
        typer.Option("--max-rows", min=0, help="of tables for people; 0: all rows"),
    ] = 1000,
    allow_truncated: Annotated[
        bool, typer.Option("--allow-truncated", help="accept a result that the gateway cut at its own limit")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress and no summary")] = False,
) -> None:
    """Runs SQL and prints the rows. Several statements are run one by one.

    Without SQL and on a terminal, it is interactive.
    """
    from sluice_client.cli.work.query import QueryArguments, run

    run(
        options,
        QueryArguments(
            sql=sql,
            file=file,
            parameters=parameter or (),
            catalog=catalog,
            schema=schema,
            row_limit=row_limit,
            timeout=timeout,
            priority=priority,
            tags=tag or (),
            format=output_format,
            output=output,
            max_rows=max_rows,
            is_cut_allowed=allow_truncated,
            is_quiet=quiet,
        ),
        _run_shell,
    )


def _run_shell(session: Session, manner: Manner) -> None:
    from sluice_client.cli.interactive.shell import run_shell

    run_shell(session, manner)
