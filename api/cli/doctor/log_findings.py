"""Findings about an ingest log and tables that are from different times."""

from __future__ import annotations

from collections.abc import Sequence

from api.cli.part_checks import Found, State
from service.model.operations.log_comparison import LogComparison

_NAMED = 5
_PAGE = "docs/operations/backup.md"


def ingest_log(comparison: LogComparison) -> Found:
    """Whether a restored backup, or a standby that lacked commits, would lose or duplicate rows."""
    if not comparison.has_log:
        return Found("There is no log yet.", State.SKIPPED)
    if comparison.doubtful:
        named = _named(comparison.doubtful)
        text = f"{named}: has rounds that the log does not know, and ingests wait for it"
        cure = (
            "Set the waiting ingests aside before a gateway starts, or rows are written twice:"
            f" {_PAGE}, After a restore."
        )
        return Found(text, State.FAILED, cure)
    if comparison.behind:
        text = f"{_named(comparison.behind)}: lacks rounds that the log has as committed"
        return Found(text, State.FAILED, f"Rows of acknowledged ingests are gone: {_PAGE}, After a restore.")
    if comparison.unknown:
        text = f"{_named(comparison.unknown)}: has rounds that the log does not know; no ingest waits for it"
        cure = f"An older log was restored, or another log writes to the table too: {_PAGE}, After a restore."
        return Found(text, State.WARNING, cure)
    return Found(f"agrees with the {comparison.compared} tables and branches that were committed to last")


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
