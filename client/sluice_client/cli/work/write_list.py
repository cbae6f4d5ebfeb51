"""Writes a list of the command's own, such as tables or queries, in any format of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sluice_client.cli.formats.choose_format import text_format
from sluice_client.cli.formats.row_format import Format, Shown
from sluice_client.cli.output import Output
from sluice_client.query.query_answer import Column


def write_list(
    columns: Mapping[str, str], rows: Sequence[Sequence[Any]], asked: Format, output: Output
) -> None:
    """Writes rows.

    Args:
        columns: the SQL type of each name.
        rows: values of JSON.
        asked: a format of text.
        output: takes the text.
    """
    described = [Column(name, kind, True) for name, kind in columns.items()]
    writer = text_format(asked, described, output.style, output.width)
    output.text(_safe(writer.begin(), asked, output))
    for start in range(0, len(rows), 1000):
        output.text(_safe(writer.page(rows[start : start + 1000]), asked, output))
    output.text(_safe(writer.end(Shown(len(rows), len(rows))), asked, output))


def _safe(pieces: Any, asked: Format, output: Output) -> Any:
    if asked is not Format.CSV or not output.is_screen:
        return pieces
    from sluice_client.cli.terminal.safe_text import safe_lines

    return (safe_lines(piece.replace("\r\n", "\n")) for piece in pieces)
