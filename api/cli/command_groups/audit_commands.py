"""The commands of `sluice audit`."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.one_sentence_errors import one_sentence_errors

audit = typer.Typer(help="Exports the audit log.", no_args_is_help=True, rich_markup_mode=None)


@audit.command("export")
def export_audit_log(
    since: Annotated[
        str | None,
        typer.Option(help="only events stored at this time or later, such as 2026-01-31T12:00:00Z"),
    ] = None,
    until: Annotated[str | None, typer.Option(help="only events stored before this time")] = None,
    after: Annotated[int, typer.Option(help="only events after this position", min=0)] = 0,
) -> None:
    """Prints audit events as NDJSON, in the order in which they were stored."""
    with one_sentence_errors():
        from api.cli.commands.audit import export as run

        run(since, until, after)
