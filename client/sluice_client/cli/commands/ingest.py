"""`sluice ingest`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from sluice_client.cli.connection_options import ConnectionOptions, with_connection
from sluice_client.cli.list_options import IsJson

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@with_connection
def ingest(
    options: ConnectionOptions,
    table: Annotated[str, typer.Argument(help="catalog.schema.table")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="each is an ingest of its own; - or none: standard input"),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-F",
            metavar="FORMAT",
            help="ndjson, csv, arrow or parquet, if the file's name does not say it",
        ),
    ] = None,
    compression: Annotated[
        str | None, typer.Option("--compression", help="gzip or zstd, if the file's name does not say it")
    ] = None,
    write_schema: Annotated[
        str | None,
        typer.Option("--write-schema", help="the columns of the files: a,b,c, or `infer`, or JSON"),
    ] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="append, upsert or delete")] = None,
    equality_fields: Annotated[
        str | None,
        typer.Option("--equality-fields", help="for an upsert or a delete: a,b: what identifies a row"),
    ] = None,
    delete_when: Annotated[
        str | None,
        typer.Option(
            "--delete-when",
            metavar="FIELD=VALUE",
            help="for an upsert: records with this value (or one of these: a,b) delete the row of their key",
        ),
    ] = None,
    envelope: Annotated[
        str | None, typer.Option("--envelope", help="for an upsert: debezium, if the records are its events")
    ] = None,
    order_by: Annotated[
        str | None,
        typer.Option(
            "--order-by", metavar="COLUMN", help="for an upsert: the column by which late records lose"
        ),
    ] = None,
    rest: Annotated[
        str | None,
        typer.Option(
            "--rest", metavar="COLUMN", help="the column that takes the fields without a column, as JSON"
        ),
    ] = None,
    branch: Annotated[str | None, typer.Option("--branch", help="of the table")] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="a file with an Iceberg schema that the table shall have")
    ] = None,
    is_creating: Annotated[
        bool, typer.Option("--create", help="create the table from --schema if it is missing")
    ] = False,
    is_evolving: Annotated[bool, typer.Option("--evolve", help="change the table to match --schema")] = False,
    on_error: Annotated[
        str | None, typer.Option("--on-error", help="reject (the request), or dead-letter (the records)")
    ] = None,
    wait: Annotated[
        str, typer.Option("--wait", help="committed: in the table; accepted: durable, committed later")
    ] = "committed",
    request_id: Annotated[
        UUID | None, typer.Option("--request-id", help="to send one file again: it is written once")
    ] = None,
    is_json: IsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    """Writes records of files to a table, exactly once. Files are sent one by one, until one fails."""
    from sluice_client.cli.work.ingest import IngestArguments, run

    run(
        options,
        IngestArguments(
            table=table,
            files=files or (),
            format=file_format,
            compression=compression,
            write_schema=write_schema,
            mode=mode,
            equality_fields=equality_fields,
            delete_when=delete_when,
            envelope=envelope,
            order_by=order_by,
            rest=rest,
            branch=branch,
            schema=schema,
            is_creating=is_creating,
            is_evolving=is_evolving,
            on_error=on_error,
            wait=wait,
            request_id=request_id,
            is_json=is_json,
            is_quiet=quiet,
        ),
    )
