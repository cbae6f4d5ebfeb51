"""The work of `sluice tables`."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase

from sluice_client.cli.command_session import Session, open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.formats.choose_format import chosen_format
from sluice_client.cli.formats.row_format import Format
from sluice_client.cli.output import Output, output_to
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.cli.terminal.screen import note, style_of
from sluice_client.cli.work.query import format_of
from sluice_client.cli.work.write_list import write_list
from sluice_client.explaining.sizes import size
from sluice_client.listing.tables import TableDescription, describe_table, list_tables


def run(
    options: ConnectionOptions,
    pattern: str | None,
    *,
    catalog: str | None,
    schema: str | None,
    asked: str | None,
) -> None:
    """Prints tables or columns.

    Raises:
        NotFound: there is no such table.
    """
    with open_session(options) as session, output_to(None) as output:
        chosen = chosen_format(format_of(asked), None, is_screen=output.is_screen)
        if pattern is not None and is_full_name(pattern):
            show_table(session, pattern, chosen, output)
        else:
            show_tables(session, pattern, chosen, output, catalog=catalog, schema=schema)


def is_full_name(pattern: str) -> bool:
    """Whether it names one table.

    >>> is_full_name("lake.tpcds.item"), is_full_name("lake.*.item"), is_full_name("item")
    (True, False, False)
    """
    return pattern.count(".") >= 2 and not any(mark in pattern for mark in "*?[")


def show_tables(
    session: Session,
    pattern: str | None,
    chosen: Format,
    output: Output,
    *,
    catalog: str | None = None,
    schema: str | None = None,
) -> None:
    """Prints the tables whose full name or own name has the pattern."""
    found = session.run(list_tables(session.context, catalog, schema))
    rows = [
        (entry.catalog, entry.schema, entry.table)
        for entry in found.tables
        if pattern is None or _fits(entry.name, pattern) or _fits(entry.table, pattern)
    ]
    write_list({"catalog": "STRING", "schema": "STRING", "table": "STRING"}, rows, chosen, output)
    output.stream.flush()
    style = style_of(sys.stderr)
    note(style.dim(f"{len(rows):,} of {len(found.tables):,} tables"))
    for missing in found.missing_catalogs:
        note(style.red(f"the catalog {safe_text(missing)} does not answer: its tables are missing"))


def show_table(session: Session, name: str, chosen: Format, output: Output) -> None:
    """Prints the columns of one table.

    Raises:
        NotFound: there is no such table.
    """
    table = session.run(describe_table(name, session.context))
    rows = [(column.name, column.type, not column.is_required, column.doc) for column in table.columns]
    names = {"column": "STRING", "type": "STRING", "nullable": "BOOLEAN", "comment": "STRING"}
    write_list(names, rows, chosen, output)
    output.stream.flush()
    note(style_of(sys.stderr).dim(_facts(table)))


def _fits(name: str, pattern: str) -> bool:
    lowered, asked = name.lower(), pattern.lower()
    return fnmatchcase(lowered, asked) if any(mark in asked for mark in "*?[") else asked in lowered


def _facts(table: TableDescription) -> str:
    parts = [safe_text(table.name)]
    if table.partitions:
        parts.append(f"partitioned by {safe_text(', '.join(table.partitions))}")
    if table.record_count is not None:
        parts.append(f"{table.record_count:,} rows")
    if table.data_file_count is not None and table.total_bytes is not None:
        parts.append(f"{table.data_file_count:,} files of {size(table.total_bytes)}")
    return ", ".join(parts)
