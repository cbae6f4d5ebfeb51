"""The work of `sluice query`, once its arguments are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sluice_client.cli.command_session import Session, open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.exits import WrongUsage
from sluice_client.cli.formats.row_format import Format
from sluice_client.cli.query_options import ON_THE_WIRE, Priority, row_limit_of, seconds_of, tags_of
from sluice_client.cli.query_parameters import query_parameters
from sluice_client.cli.work.run_sql import run_sql, sql_text
from sluice_client.cli.work.run_statement import Manner
from sluice_client.options import QueryOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryArguments:
    """The arguments, as they were typed."""

    sql: str | None
    file: Path | None
    parameters: Sequence[str] = ()
    catalog: str | None = None
    schema: str | None = None
    row_limit: str | None = None
    timeout: str | None = None
    tags: Sequence[str] = ()
    priority: Priority | None = None
    format: str | None = None
    output: Path | None = None
    max_rows: int = 1000
    is_cut_allowed: bool = False
    is_quiet: bool = False


def run(
    options: ConnectionOptions, arguments: QueryArguments, run_shell: Callable[[Session, Manner], None]
) -> None:
    """Runs the SQL, or the interactive mode by `run_shell`.

    Raises:
        WrongUsage: the arguments do not fit together.
    """
    asked = format_of(arguments.format)
    manner = Manner(
        format=asked or Format.TABLE,
        parameters=query_parameters(arguments.parameters),
        options=query_options(arguments),
        max_rows=arguments.max_rows,
        is_quiet=arguments.is_quiet,
        is_cut_allowed=arguments.is_cut_allowed,
    )
    text = sql_text(arguments.sql, arguments.file)
    with open_session(options) as session:
        if text is not None:
            run_sql(session, text, manner, asked, arguments.output)
            return
        if arguments.output is not None or manner.parameters:
            raise WrongUsage(
                "--output and --parameter are for SQL that is given, not for the interactive mode"
            )
        run_shell(session, manner)


def format_of(text: str | None) -> Format | None:
    """Returns a format by its name.

    Raises:
        WrongUsage: there is no such format.
    """
    if text is None:
        return None
    try:
        return Format(text.lower())
    except ValueError:
        known = ", ".join(known.value for known in Format)
        raise WrongUsage(f"--format is one of {known}, not {text!r}") from None


def query_options(arguments: QueryArguments) -> QueryOptions:
    """Returns the options of a query; those that are not given are the profile's or the gateway's.

    Raises:
        WrongUsage: a value is not valid.
    """
    found: QueryOptions = {}
    if arguments.catalog is not None:
        found["catalog"] = arguments.catalog
    if arguments.schema is not None:
        found["schema"] = arguments.schema
    try:
        if arguments.row_limit is not None:
            found["row_limit"] = row_limit_of(arguments.row_limit)
        if arguments.timeout is not None:
            found["timeout_s"] = seconds_of(arguments.timeout)
        if arguments.priority is not None:
            found["priority"] = ON_THE_WIRE[arguments.priority]
        if arguments.tags:
            found["tags"] = tags_of(arguments.tags)
    except ValueError as error:
        raise WrongUsage(str(error)) from None
    return found
