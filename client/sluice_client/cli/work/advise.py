"""The work of `sluice advise`."""

from __future__ import annotations

import json
import sys

from sluice_client.cli.command_session import open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.formats.choose_format import chosen_format
from sluice_client.cli.output import output_to
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.cli.terminal.screen import note, style_of
from sluice_client.cli.work.query import format_of
from sluice_client.cli.work.write_list import write_list
from sluice_client.explaining.sizes import size
from sluice_client.listing.advice import LayoutAdvice, TableAdvice, advise

_COLUMNS = {
    "kind": "STRING",
    "columns": "STRING",
    "bytes_before": "BIGINT",
    "bytes_after": "BIGINT",
    "saved": "STRING",
    "files_before": "BIGINT",
    "files_after": "BIGINT",
}


def run(
    options: ConnectionOptions, table: str, days: int | None, *, asked: str | None, is_json: bool
) -> None:
    """Prints advice; how to follow it goes to standard error.

    Raises:
        NotFound: there is no such table.
    """
    with open_session(options) as session, output_to(None) as output:
        found = session.run(advise(table, session.context, days))
        if is_json:
            output.text([json.dumps(found.raw, indent=2) + "\n"])
            return
        chosen = chosen_format(format_of(asked), None, is_screen=output.is_screen)
        write_list(_COLUMNS, [_row(advice) for advice in found.advice], chosen, output)
        output.stream.flush()
    _explain(found)


def _row(advice: LayoutAdvice) -> tuple[object, ...]:
    return (
        advice.kind,
        ", ".join(advice.columns),
        advice.bytes_before,
        advice.bytes_after,
        f"{advice.saved_share:.0%}",
        advice.files_before,
        advice.files_after,
    )


def _explain(found: TableAdvice) -> None:
    style = style_of(sys.stderr)
    for advice in found.advice:
        note(f"{advice.kind}: {safe_text(advice.reason)}")
        for statement in advice.statements:
            note(f"  {safe_text(statement)};")
    for text in found.notes:
        note(safe_text(text))
    note(style.dim(f"{found.scan_count:,} recorded scans, which read {size(found.recorded_bytes)}"))
