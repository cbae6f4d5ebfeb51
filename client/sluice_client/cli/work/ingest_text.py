"""An ingest for people, and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sluice_client.cli.terminal.safe_text import counted, safe_text
from sluice_client.ingest.ingest_answer import Commit, IngestResult
from sluice_client.reported_problem import Fault

_SHOWN_FAULTS = 5


def ingest_lines(ingest: IngestResult, name: str) -> Iterator[str]:
    """Yields the state, a line for each table, and the first rejected records."""
    yield f"{safe_text(name)}: {ingest.state.lower()}, ingest {ingest.ingest_id}"
    for commit in ingest.commits:
        yield f"  {_commit_text(commit)}"
    if ingest.rejected_count:
        yield f"  {counted(ingest.rejected_count, 'record')} rejected, and among the dead letters"
        yield from (f"    {_place(fault)}" for fault in ingest.rejected[:_SHOWN_FAULTS])
    if ingest.note is not None:
        yield f"  {safe_text(ingest.note)}"


def ingest_document(ingest: IngestResult) -> dict[str, Any]:
    """Returns the ingest as JSON."""
    return {
        "ingestId": str(ingest.ingest_id),
        "requestId": None if ingest.request_id is None else str(ingest.request_id),
        "state": ingest.state,
        "commits": [
            {
                "table": commit.table,
                "branch": commit.branch,
                "snapshotId": commit.snapshot_id,
                "addedRecords": commit.added_records,
                "addedDataFiles": commit.added_data_files,
                "addedBytes": commit.added_bytes,
                "lateRecords": commit.late_records,
                "error": commit.error_code,
            }
            for commit in ingest.commits
        ],
        "rejectedCount": ingest.rejected_count,
    }


def _commit_text(commit: Commit) -> str:
    branch = "" if commit.branch == "main" else f", branch {commit.branch}"
    text = f"{commit.table}{branch}: {counted(commit.added_records, 'record')}"
    text += f" in {counted(commit.added_data_files, 'file')}"
    if commit.late_records:
        text += f", {commit.late_records} of them late"
    if commit.error_code is not None:
        text += f", failed: {commit.error_code}: {commit.error_detail}"
    elif commit.snapshot_id is not None:
        text += f", snapshot {commit.snapshot_id}"
    elif commit.postponed is not None:
        text += f", waits: {commit.postponed}"
    return safe_text(text)


def _place(fault: Fault) -> str:
    places = {"line": fault.line, "column": fault.column, "row": fault.row}
    known = [f"{name} {value}" for name, value in places.items() if value is not None]
    return safe_text(": ".join(part for part in (", ".join(known) or fault.pointer, fault.detail) if part))
