"""Chooses a format, and what writes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from sluice_client.cli.exits import WrongUsage
from sluice_client.cli.formats.row_format import BINARY, Format, TextFormat
from sluice_client.cli.terminal.screen import Style
from sluice_client.query.query_answer import Column

_BY_SUFFIX = {
    ".csv": Format.CSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
    ".parquet": Format.PARQUET,
    ".md": Format.MARKDOWN,
}


def chosen_format(asked: Format | None, path: Path | None, *, is_screen: bool) -> Format:
    """Returns the format: as asked for, by the file's name, a table on a terminal, CSV elsewhere.

    >>> chosen_format(None, Path("days.parquet"), is_screen=True).value
    'parquet'

    Raises:
        WrongUsage: it would write bytes to a terminal.
    """
    suffix = None if path is None else _BY_SUFFIX.get(path.suffix.lower())
    default = Format.TABLE if is_screen and path is None else Format.CSV
    found = asked or suffix or default
    if found in BINARY and is_screen and path is None:
        raise WrongUsage(f"{found.value} is not for terminals: pass --output FILE, or a pipe")
    return found


def text_format(
    asked: Format, columns: Sequence[Column], style: Style, screen_width: int | None
) -> TextFormat:
    """Returns what writes a format from JSON values."""
    # Each module is imported where it is used: a command needs one of them.
    match asked:
        case Format.TABLE:
            from sluice_client.cli.formats.table import TableFormat

            return TableFormat(columns, style, screen_width)
        case Format.VERTICAL:
            from sluice_client.cli.formats.vertical import VerticalFormat

            return VerticalFormat(columns, style)
        case Format.MARKDOWN:
            from sluice_client.cli.formats.markdown import MarkdownFormat

            return MarkdownFormat(columns)
        case Format.JSON:
            from sluice_client.cli.formats.json_rows import JsonFormat

            return JsonFormat(columns)
        case Format.JSONL:
            from sluice_client.cli.formats.json_rows import JsonLinesFormat

            return JsonLinesFormat(columns)
        case Format.CSV:
            from sluice_client.cli.formats.csv_rows import CsvFormat

            return CsvFormat(columns)
        case Format.ARROW | Format.PARQUET:
            raise WrongUsage(f"{asked.value} is for the rows of a query")
        case _:
            assert_never(asked)
