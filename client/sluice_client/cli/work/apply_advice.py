"""The work of `sluice advise --apply`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from sluice_client.cli.command_session import Session, open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.exits import Failed
from sluice_client.cli.formats.choose_format import chosen_format
from sluice_client.cli.output import output_to
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.cli.terminal.screen import note, style_of
from sluice_client.cli.work.query import format_of
from sluice_client.cli.work.write_list import write_list
from sluice_client.explaining.sizes import size
from sluice_client.listing.advice import advise
from sluice_client.listing.layout_trial import (
    LayoutTrial,
    TrialReport,
    TriedBytes,
    awaited_trial,
    begin_trial,
    cancel_trial,
)

LOOK_S = 1.0
_NOT_TRIED = frozenset({"BLOOM_FILTER"})
"""The gateway refuses trials of these."""
_ALL, _NONE = "all scans", "no filter"
_COLUMNS = {
    "filter": "STRING",
    "scans": "BIGINT",
    "bytes_now": "BIGINT",
    "predicted": "BIGINT",
    "seen": "BIGINT",
    "difference": "STRING",
}
_DOES = {
    "ADVISING": "finds the advice",
    "REWRITING": "rewrites the files of a copy",
    "MEASURING": "counts the recorded scans on the copy",
}


def run(
    options: ConnectionOptions,
    table: str,
    kind: str | None,
    days: int | None,
    *,
    asked: str | None,
    is_json: bool,
) -> None:
    """Has advice tried on a copy, and prints predicted against seen; the progress goes to standard error.

    Ctrl-C cancels the trial.

    Raises:
        NotFound: there is no such table.
        Failed: there is no advice, or the trial has failed.
    """
    with open_session(options) as session, output_to(None) as output:
        ended = _ended(session, table, kind or _best(session, table, days), days)
        if is_json:
            output.text([json.dumps(ended.raw, indent=2) + "\n"])
        if ended.report is None:
            raise Failed(f"The trial has ended as {ended.state}: {safe_text(ended.error_detail or '')}")
        if not is_json:
            chosen = chosen_format(format_of(asked), None, is_screen=output.is_screen)
            write_list(_COLUMNS, list(_rows(ended.report)), chosen, output)
            output.stream.flush()
            _explain(ended.report)


def _best(session: Session, table: str, days: int | None) -> str:
    found = session.run(advise(table, session.context, days))
    best = next((advice.kind for advice in found.advice if advice.kind not in _NOT_TRIED), None)
    if best is None:
        raise Failed(f"There is no advice for {table} that a trial can compare, so nothing is tried.")
    return best


def _ended(session: Session, table: str, kind: str, days: int | None) -> LayoutTrial:
    trial = session.run(begin_trial(table, kind, session.context, days))
    note(f"trial {trial.trial_id} of {kind}")
    try:
        while not trial.is_ended:
            note(f"  {_DOES.get(trial.state, safe_text(trial.state))} …")
            trial = session.run(awaited_trial(trial, trial.state, session.context, LOOK_S))
    except KeyboardInterrupt:
        session.run(cancel_trial(table, trial.trial_id, session.context))
        note(f"trial {trial.trial_id}: asked to end")
        raise
    return trial


def _rows(report: TrialReport) -> Iterator[tuple[object, ...]]:
    yield _row(_ALL, report.scan_count, report.bytes)
    for found in report.filters:
        yield _row(", ".join(found.columns) or _NONE, found.scan_count, found.bytes)


def _row(name: str, scans: int, found: TriedBytes) -> tuple[object, ...]:
    difference = found.difference
    shown = None if difference is None else f"{difference:+.1%}"
    return (name, scans, found.now, found.predicted, found.seen, shown)


def _explain(report: TrialReport) -> None:
    style = style_of(sys.stderr)
    whole = f"{size(report.table_bytes_now)} now, {size(report.table_bytes_seen)} in the copy"
    at_size = report.difference_at_size
    if not report.is_size_predicted:
        note(style.dim("The size of files was not predicted: rows were taken to need as much space as now."))
    if at_size is not None:
        note(style.dim(f"Had the size of the copy been known, the difference would be {at_size:+.1%}."))
    note(style.dim(f"The table has {whole}. The copy is dropped, and the table is as it was."))
